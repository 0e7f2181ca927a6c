import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog

@Suite struct OlderCopyTests {
    private func add(_ store: Store, _ number: Int) throws {
        try store.write(Author(requestID: "request \(number)")) { transaction in
            let note = try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("note \(number)")])
            try transaction.link(note, "memos", transaction.insert("Memo", ["text": .string("memo \(number)")]))
        }
    }

    /// Returns the files of a store after each of its steps, and the digests of its graph.
    private func history(compacts: Bool) throws -> (states: [[String: [UInt8]]], digests: Set<GraphDigest>, last: GraphDigest) {
        let volume = MemoryVolume()
        var tuning = LogTuning.tiny
        tuning.newestCheckpointCount = 1
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        var (states, digests): ([[String: [UInt8]]], Set<GraphDigest>) = ([volume.contents], [store.graph.digest()])
        for number in 0..<24 {
            try add(store, number)
            if number % 5 == 4 { try store.checkpoint() }
            if number == 12 { try store.setCheckpointPolicy(CheckpointPolicy(countMax: 3)) }
            if number == 17, compacts { try store.compact(.checkpoints(1)) }
            states.append(volume.contents)
            digests.insert(store.graph.digest())
        }
        try store.close()
        states.append(volume.contents)
        return (states, digests, store.graph.digest())
    }

    @Test(arguments: [false, true])
    func `a file replaced by an older copy of itself is skipped or reported, and no data is invented`(compacts: Bool) throws {
        let (states, _, last) = try history(compacts: compacts)
        let final = try #require(states.last)
        var (soundCount, reportedCount) = (0, 0)
        for path in final.keys.sorted() where path != "LOCK" {
            for older in Set(states.compactMap { $0[path] }) where older != final[path] {
                var contents = final
                contents[path] = older
                do {
                    let store = try Store.open(MemoryVolume(contents: contents), durability: nil, environment: fixedEnvironment(seed: 4))
                    #expect(store.graph.digest() == last && store.graph.invariantFindings() == [], "\(path) of \(older.count) bytes")
                    soundCount += 1
                } catch let error as CambiumError where error.code == .corrupted {
                    reportedCount += 1
                }
            }
        }
        #expect(soundCount > 0 && reportedCount > 0, "\(soundCount) and \(reportedCount)")
    }

    /// Returns the files of a closed store with the HEAD of an earlier closing.
    private func withOlderHead() throws -> (contents: [String: [UInt8]], last: GraphDigest) {
        let volume = MemoryVolume()
        var store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: .tiny)
        for number in 0..<5 { try add(store, number) }
        try store.close()
        let head = volume.contents["HEAD"]
        store = try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 1), tuning: .tiny)
        for number in 5..<20 { try add(store, number) }
        try store.close()
        return (volume.contents.merging(["HEAD": head ?? []]) { $1 }, store.graph.digest())
    }

    @Test func `a HEAD that is older than a valid log is reported, and nothing is lost`() throws {
        let (contents, last) = try withOlderHead()
        let volume = MemoryVolume(contents: contents)
        let read = try ReadOnlyStore(volume)
        #expect(read.graph.digest() == last && read.recovery.notes.count == 1 && read.recovery.notes[0].contains("HEAD is older"))
        #expect(try Verification(volume).isSound && Verification(volume).findings == read.recovery.notes)
        let store = try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 2), tuning: .tiny)
        #expect(store.graph.digest() == last && store.recovery.notes == read.recovery.notes)
        try add(store, 20)
        try store.close()
        #expect(try Store.reopened(volume).recovery.notes == [])
    }

    @Test func `a log that is truncated beyond an older HEAD is refused`() throws {
        let (contents, _) = try withOlderHead()
        let path = try #require(contents.keys.filter { $0.hasSuffix(".log") }.max())
        var cut = contents
        cut[path]?.removeLast(3)
        #expect(code { _ = try Store.reopened(MemoryVolume(contents: cut)) } == .corrupted)
    }

    @Test func `a log that ends before a corrupt checkpoint is refused, and the record of the checkpoint is kept`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        var files = volume.contents
        try add(store, 0)
        try store.checkpoint()
        try store.close()
        for (path, bytes) in volume.contents where path.hasPrefix("roots/") { files[path] = bytes }
        for (path, bytes) in volume.contents where path.hasPrefix("pages-") { files[path] = bytes.map { ~$0 } }
        let corrupt = MemoryVolume(contents: files)
        for _ in 0..<2 {
            #expect(code { _ = try Store.open(corrupt, durability: nil, environment: fixedEnvironment(seed: 1)) } == .corrupted)
        }
        #expect(try CheckpointRecord.list(corrupt).map(\.rawValue) == [2])
        #expect(code { _ = try ReadOnlyStore(corrupt) } == .corrupted)
        #expect(code { _ = try StoreFollower(corrupt) } == .corrupted)
        #expect(try ReadOnlyStore(corrupt, point: .transaction(TransactionNumber(rawValue: 1))).graph.objectCount == 0)
    }

    @Test func `the log alone restores the same graph, labels and requests`() throws {
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: .tiny)
        for number in 0..<20 {
            try add(store, number)
            if number % 6 == 5 { try store.checkpoint() }
            if number == 9 { try store.label("nine") }
        }
        let items = #"[{"key": "a", "note": 3, "tags": [{"name": "red"}]}, {"key": "b", "note": 3}]"#
        try store.importing("Item", items)
        let note = try store.schema.required("Note")
        let three = try store.graph.id(of: #require(store.graph.place(note, identity: [.int(3)])))
        try store.write { transaction in
            let (four, five) = (transaction.find(note, identity: [.int(4)]), transaction.find(note, identity: [.int(5)]))
            try transaction.link(three, "related", #require(four))
            try transaction.delete(#require(five))
        }
        try store.checkpoint()
        try store.close()
        let contents = volume.contents.filter { !$0.key.hasPrefix("roots/") && !$0.key.hasPrefix("pages-") }
        let again = try Store.open(
            MemoryVolume(contents: contents), durability: nil, environment: fixedEnvironment(seed: 4), tuning: .tiny)
        #expect(again.recovery.checkpoint == .none && again.recovery.notes == [])
        #expect(again.graph.digest() == store.graph.digest() && again.graph.export == store.graph.export)
        #expect(again.graph.labels == store.graph.labels && again.graph.labels.count == 1)
        #expect(code { try add(again, 7) } == .repeated)
    }
}
