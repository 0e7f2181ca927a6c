import Cambium
import CambiumTesting
import Dispatch
import Synchronization
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// The requests that a store remembers.
@Suite struct RequestTests {
    private func made() throws -> (MemoryVolume, Store, ObjectID) {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        let id = try store.write { try $0.insert("Note", ["id": .int(1), "title": .string("A")]) }.result
        return (volume, store, id)
    }

    private func set(_ store: Store, _ id: ObjectID, _ title: String, _ author: Author = Author()) throws -> Receipt {
        try store.write(author) { try $0.set(id, "title", to: .string(title)) }.receipt
    }

    private func repetition(_ body: () throws -> Void) -> TransactionNumber? {
        do { try body() } catch { return ((error as? CambiumError)?.underlying as? RepeatedRequest)?.transaction }
        return nil
    }

    private func title(_ store: Store, _ id: ObjectID) throws -> Value? {
        store.graph.value(of: try store.schema.required("Note").requiredAttribute("title"), of: id)
    }

    @Test(arguments: [false, true])
    func `a request that changed nothing is remembered, even by later processes`(isStored: Bool) throws {
        let (volume, store, id) = try made()
        let first = try set(store, id, "A", Author(requestID: "q"))
        #expect(first.transaction?.rawValue == 3 && !first.hasChanges)
        _ = try set(store, id, "B")
        if isStored { try store.checkpoint() }
        try store.close()
        let again = try Store.reopened(volume)
        #expect(repetition { _ = try set(again, id, "A", Author(requestID: "q")) } == first.transaction)
        #expect(try title(again, id) == .string("B"))
        #expect(try Verification(volume).isSound)
    }

    @Test func `a write that changes nothing is a transaction without ops only if it has a request`() throws {
        let (volume, store, id) = try made()
        let digest = store.graph.digest()
        #expect(try set(store, id, "A").transaction == nil)
        _ = try set(store, id, "A", Author(actor: "jane", requestID: "q"))
        try store.close()
        var opCounts: [Int] = []
        try TransactionLog(volume).forEach { opCounts.append(try $0.ops().count) }
        #expect(opCounts == [1, 1, 0])
        #expect(store.graph.digest() == digest)
        #expect(try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: 3))).graph.digest() == digest)
    }

    @Test func `transactions without ops are sealed, compacted, applied and shown like others`() throws {
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: .tiny)
        for number in 0..<30 {
            try store.write { try $0.insert("Note", ["id": .int(Int64(number))]) }
            try store.write(Author(requestID: "q\(number)", requestParts: ["\(number)"])) { _ in }
        }
        let target = MemoryVolume()
        try store.close()
        _ = try Store.apply(from: volume, to: target, environment: fixedEnvironment(seed: 2), tuning: .tiny)
        let again = try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 3), tuning: .tiny)
        #expect(try again.compact(.since(.latest)).segmentCount > 3)
        for found in [again, try Store.open(target, durability: nil, environment: fixedEnvironment(seed: 4), tuning: .tiny)] {
            #expect(repetition { try found.write(Author(requestID: "q3")) { _ in } }?.rawValue == 9)
            let other = Author(requestID: "q3", requestParts: ["other"])
            #expect(code { try found.write(other) { _ in } } == .conflict)
        }
        #expect(try Verification(volume).isSound && Verification(target).isSound)
    }

    @Test func `a repeated request names its object after the log has retired the change`() throws {
        let (volume, store, id) = try made()
        let inserted = try store.write(Author(requestID: "q")) { try $0.insert("Note", ["id": .int(2)]) }.result
        _ = try set(store, id, "B", Author(requestID: "s"))
        try store.write(Author(requestID: "d")) { try $0.delete(id) }
        try store.write(Author(requestID: "n")) { _ in }
        func objects(_ store: Store) -> [ObjectID?] {
            ["q", "s", "d", "n"].map { (store.graph.refusal(of: Author(requestID: $0))?.underlying as? RepeatedRequest)?.object }
        }
        #expect(objects(store) == [inserted, id, id, nil])
        _ = try store.compact(.since(.latest))
        try store.close()
        #expect(objects(try Store.reopened(volume)) == [inserted, id, id, nil])
        #expect(try Verification(volume).isSound)
    }

    @Test(arguments: [false, true])
    func `repeating a request id with other content is a conflict`(isStored: Bool) throws {
        let (volume, store, id) = try made()
        func author(_ content: String?) -> Author {
            Author(requestID: "q", requestParts: content.map { ["set", $0] })
        }
        _ = try set(store, id, "B", author("B"))
        if isStored { try store.checkpoint() }
        try store.close()
        let again = try Store.reopened(volume)
        #expect(code { _ = try set(again, id, "C", author("C")) } == .conflict)
        // Without a digest, only the id of a request counts.
        for content in ["B", nil] { #expect(repetition { _ = try set(again, id, "C", author(content)) }?.rawValue == 3) }
        #expect(try title(again, id) == .string("B") && again.graph.transaction.rawValue == 3)
    }

    @Test func `an import that changes nothing records its request once, and nothing without a request`() throws {
        let (volume, store, _) = try made()
        let note = try store.schema.required("Note")
        func importing(_ request: String?, _ effect: ImportOptions.Effect = .commit) throws -> ImportReport {
            var options = ImportOptions()
            options.effect = effect
            let rows = ImportSource.bytes(Array(#"{"id":1,"title":"A"}"#.utf8))
            return try store.importRows(note, from: [rows], options, author: Author(requestID: request))
        }
        let before = volume.contents
        #expect(try importing(nil).transaction == nil && importing("q", .dryRun).transaction == nil && volume.contents == before)
        let first = try importing("q")
        #expect(first.transaction?.rawValue == 3 && first.logByteCount < 100 && first.counts.unchanged == 1)
        let noted = volume.contents
        #expect(repetition { _ = try importing("q") } == first.transaction && volume.contents == noted)
    }

    @Test func `the digest of a request depends on where its parts end`() {
        let digests = [["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["c", "ab"]].map { RequestDigest(of: $0) }
        #expect(Set(digests).count == digests.count && digests[0] == RequestDigest(of: ["ab", "c"]))
        #expect(digests.allSatisfy { RequestDigest($0.bytes) == $0 } && RequestDigest([1, 2, 3]) == nil)
        #expect(code { try Author(requestParts: ["a"]).check() } == .invalidInput)
    }

    @Test func `a caller that repeats a request during a sync is woken when the sync has ended`() throws {
        let volume = GatedVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        let author = Author(requestID: "q")
        volume.isShut.store(true, ordering: .relaxed)
        _ = try store.enqueue(author) { try $0.insert("Note", ["id": .int(1)]) }
        volume.arrivals.wait()
        let pending = try store.pipeline.commit(author, nil, waiter: .ticket, for: "enqueue") { _ in }
        // A group wakes only as many threads as it counts.
        let threadCount = pending.group?.threadCount
        volume.isShut.store(false, ordering: .relaxed)
        volume.gate.signal()
        try #require(threadCount == 1)
        #expect(code { _ = try store.commits.settle(pending) } == .repeated)
        try store.close()
        #expect(store.graph.objectCount == 1)
    }
}
