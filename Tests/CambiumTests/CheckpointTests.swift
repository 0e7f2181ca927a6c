import CambiumTesting
import Foundation
import Testing

@testable import Cambium
@testable import CambiumGraph
@testable import CambiumLog

@Suite struct CheckpointTests {
    private func add(_ store: Store, _ numbers: Range<Int>) throws {
        try store.write { transaction in
            for number in numbers {
                let note = try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("note \(number)")])
                try transaction.link(note, "memos", transaction.insert("Memo", ["text": .string("memo \(number)")]))
            }
        }
    }

    private func reopen(_ volume: any Volume) throws -> Store {
        try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 3))
    }

    private func roots(_ volume: any Volume) throws -> [UInt64] { try CheckpointRecord.list(volume).map(\.rawValue) }

    // MARK: Opening

    @Test func `a store opens with its newest checkpoint and replays only the transactions after it`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<300)
        let receipt = try store.checkpoint()
        #expect(receipt.transaction.rawValue == 2 && receipt.byteCount > 65_536)
        try add(store, 300..<310)
        try store.close()
        let again = try reopen(volume)
        #expect(again.recovery.checkpoint.rawValue == 2 && again.recovery.transactionCount == 1 && again.recovery.notes == [])
        #expect(again.graph.export == store.graph.export && again.graph.digest() == store.graph.digest())
        #expect(again.graph.transaction.rawValue == 3 && again.graph.invariantFindings() == [])
        try add(again, 310..<320)
        try again.close()
        #expect(try Verification(volume).isSound)
        #expect(try ReadOnlyStore(volume).graph.digest() == again.graph.digest())
    }

    @Test func `a checkpoint of an unchanged graph writes nothing`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<3)
        try store.checkpoint()
        let before = volume.contents
        #expect(try store.checkpoint().byteCount == 0 && volume.contents == before)
        try store.close()
        let again = try reopen(volume)
        #expect(try again.checkpoint().byteCount == 0)
    }

    @Test func `a checkpoint after a small change writes few bytes`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<5000)
        let whole = try store.checkpoint().byteCount
        try store.write { try $0.set(ObjectID(root: Notes.schema.required("Note").number, serial: 7), "title", to: .string("new")) }
        let part = try store.checkpoint().byteCount
        #expect(part < 2 * 65_536 + 10_000 && whole > 4 * part, "\(whole) and then \(part) bytes")
    }

    @Test func `surplus checkpoints are dropped, and their chunks are reused`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try store.setCheckpointPolicy(CheckpointPolicy(countMax: 2))
        for round in 0..<40 {
            try add(store, round * 10..<(round + 1) * 10)
            try store.checkpoint()
        }
        #expect(try roots(volume) == [41, 40])
        let pages = try #require(volume.contents.first { $0.key.hasPrefix("pages-") })
        #expect(pages.value.count <= 12 * 65_536, "\(pages.value.count / 65_536) chunks")
        try store.close()
        #expect(try reopen(volume).graph.export == store.graph.export)
    }

    @Test func `objects of a store that was opened from pages can be changed and deleted`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<400)
        try store.checkpoint()
        try store.close()
        let again = try reopen(volume)
        let note = try again.schema.required("Note")
        try again.write { transaction in
            for number in stride(from: 0, to: 400, by: 3) {
                let found = transaction.find(note, identity: [.int(Int64(number))])
                let id = try #require(found)
                if number % 2 == 0 { try transaction.delete(id) } else { try transaction.set(id, "title", to: .string("changed")) }
            }
        }
        #expect(try again.graph.invariantFindings() == [] && again.graph.count(of: "Note") == 333)
        try again.checkpoint()
        try again.close()
        let last = try reopen(volume)
        #expect(last.recovery.transactionCount == 0 && last.graph.digest() == again.graph.digest())
        #expect(last.graph.export == again.graph.export)
    }

    @Test func `requests from before a checkpoint are remembered`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try store.write(Author(requestID: "one")) { try $0.insert("Note", ["id": .int(1)]) }
        try store.checkpoint()
        try store.write(Author(requestID: "two")) { try $0.insert("Note", ["id": .int(2)]) }
        try store.close()
        let again = try reopen(volume)
        for request in ["one", "two"] {
            #expect(code { try again.write(Author(requestID: request)) { try $0.insert("Note", ["id": .int(3)]) } } == .repeated)
        }
        try again.write(Author(requestID: "three")) { try $0.insert("Note", ["id": .int(3)]) }
        try again.checkpoint()
        try again.close()
        let last = try reopen(volume)
        for request in ["one", "two", "three"] {
            #expect(code { try last.write(Author(requestID: request)) { _ in } } == .repeated)
        }
    }

    @Test func `the clock may be earlier than at the checkpoint`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<3)
        try store.checkpoint()
        try store.close()
        var environment = fixedEnvironment(seed: 4)
        environment.now = { Timestamp(microsecondsSince1970: 1_600_000_000_000_000) }
        let again = try Store.open(volume, durability: nil, environment: environment)
        try add(again, 3..<6)
        try again.close()
        let verification = try Verification(volume)
        #expect(verification.isSound && verification.findings == [])
    }

    // MARK: Corruption

    @Test(.enabled(if: LongTests.areWanted))
    func `a corrupt checkpoint record is skipped and reported`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<5)
        try store.checkpoint()
        try add(store, 5..<9)
        try store.checkpoint()
        try store.close()
        let path = CheckpointRecord.path(TransactionNumber(rawValue: 3))
        let record = try #require(volume.contents[path])
        for offset in record.indices {
            var contents = volume.contents
            contents[path]?[offset] ^= 0x10
            let graph = try ReadOnlyStore(MemoryVolume(contents: contents))
            #expect(graph.recovery.checkpoint.rawValue == 2 && graph.recovery.notes.count == 1)
            #expect(graph.graph.digest() == store.graph.digest(), "offset \(offset)")
        }
        for byteCount in 0..<record.count {
            var contents = volume.contents
            contents[path] = Array(record.prefix(byteCount))
            #expect(try ReadOnlyStore(MemoryVolume(contents: contents)).graph.digest() == store.graph.digest(), "\(byteCount) bytes")
        }
    }

    @Test(.enabled(if: LongTests.areWanted)) func `corrupt or missing pages are skipped, and a new file is begun`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<200)
        try store.checkpoint()
        try store.close()
        let path = try #require(volume.contents.keys.first { $0.hasPrefix("pages-") })
        let byteCount = try #require(volume.contents[path]?.count)
        for damage in 0..<60 {
            var contents = volume.contents
            if damage < 50 { contents[path]?[damage * byteCount / 50] ^= 1 } else { contents[path]?.removeLast((damage - 49) * 6000) }
            let damaged = MemoryVolume(contents: contents)
            #expect(try ReadOnlyStore(damaged).graph.digest() == store.graph.digest())
            let again = try reopen(damaged)
            #expect(again.recovery.checkpoint == .none && again.recovery.notes.count == 1 && again.recovery.transactionCount == 2)
            try add(again, 200..<210)
            try again.checkpoint()
            try again.close()
            let last = try reopen(damaged)
            #expect(last.recovery.checkpoint.rawValue == 3 && last.graph.digest() == again.graph.digest())
            #expect(damaged.contents[path] == nil)
        }
    }

    @Test func `a checkpoint of another log is reported as corruption`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<3)
        let before = volume.contents.filter { $0.key.hasPrefix("log/") || $0.key == "HEAD" }
        try add(store, 3..<6)
        try store.checkpoint()
        try add(store, 6..<9)
        try store.close()
        // The log was restored to a state before the checkpoint, but the files derived from the log were not.
        let older = volume.contents.filter { !$0.key.hasPrefix("log/") }.merging(before) { $1 }
        #expect(code { _ = try reopen(MemoryVolume(contents: older)) } == .damaged)
        // This log also continued differently afterwards.
        let other = MemoryVolume(contents: older.filter { !$0.key.hasPrefix("roots/") })
        let branch = try reopen(other)
        try add(branch, 100..<103)
        try branch.checkpoint()
        try add(branch, 103..<106)
        try branch.close()
        let mixed = other.contents.filter { !$0.key.hasPrefix("roots/") && !$0.key.hasPrefix("pages-") }
            .merging(volume.contents.filter { $0.key.hasPrefix("roots/") || $0.key.hasPrefix("pages-") }) { $1 }
        #expect(code { _ = try reopen(MemoryVolume(contents: mixed)) } == .damaged)
    }

    @Test func `the next opening checks all pages after a reader has found corruption`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<3)
        try store.checkpoint()
        try store.close()
        var contents = volume.contents
        contents[PageFile.damageMark] = Array("chunk 3 is damaged\n".utf8)
        let marked = MemoryVolume(contents: contents)
        let reader = try ReadOnlyStore(marked)
        #expect(reader.recovery.checkpoint.rawValue == 2)
        let note = "all pages of the checkpoints are checked, because a process found corruption: chunk 3 is damaged"
        #expect(reader.recovery.notes == [note])
        let again = try reopen(marked)
        try again.checkpoint()
        try again.close()
        let last = try reopen(marked)
        #expect(last.recovery.checkpoint.rawValue == 2 && last.recovery.notes == [] && last.graph.digest() == store.graph.digest())
    }

    @Test func `a writer keeps the mark of a reader that found corruption until the next opening`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<3)
        try store.checkpoint()
        // The next checkpoint shares chunks with this one, and does not check them.
        try volume.create(PageFile.damageMark, Array("chunk 3 is damaged\n".utf8))
        try add(store, 3..<6)
        try store.checkpoint()
        try store.close()
        #expect(try volume.exists(PageFile.damageMark))
        let again = try reopen(volume)
        #expect(again.recovery.notes.count == 1 && again.recovery.checkpoint.rawValue == 3)
        try again.checkpoint()
        #expect(try !volume.exists(PageFile.damageMark))
        try again.close()
    }

    @Test func `a retired moment is not reported as corrupt because a reader has found corruption`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<3)
        try store.compact(.checkpoints(1))
        try store.close()
        var contents = volume.contents
        contents[PageFile.damageMark] = Array("chunk 3 is damaged\n".utf8)
        let marked = MemoryVolume(contents: contents)
        #expect(code { _ = try ReadOnlyStore(marked, point: .transaction(TransactionNumber(rawValue: 1))) } == .notFound)
        #expect(try ReadOnlyStore(marked).graph.digest() == store.graph.digest())
    }

    @Test func `a read error of the disk is not reported as a corrupt checkpoint`() throws {
        let volume = FaultyVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment())
        try add(store, 0..<5)
        try store.checkpoint()
        try store.close()
        let measured = FaultyVolume(contents: volume.contents)
        _ = try ReadOnlyStore(measured)
        #expect(measured.readCount > 10)
        for read in 0..<measured.readCount {
            let failing = FaultyVolume(contents: volume.contents)
            failing.failRead(at: read, with: 5)
            #expect(code { _ = try ReadOnlyStore(failing) } == .ioFailure, "read \(read)")
        }
    }

    // MARK: Readers, writers and followers

    @Test func `a checkpoint that a reader uses is not dropped, and the reader's graph stays`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try store.setCheckpointPolicy(CheckpointPolicy(countMax: 2))
        try add(store, 0..<50)
        try store.checkpoint()
        let digest = store.graph.digest()
        do {
            let reader = try ReadOnlyStore(volume)
            for round in 1..<30 {
                try store.write {
                    try $0.set(ObjectID(root: Notes.schema.required("Note").number, serial: 7), "rating", to: .double(Double(round)))
                }
                try store.checkpoint()
            }
            #expect(try roots(volume).contains(2) && roots(volume).count == 3)
            #expect(reader.graph.digest() == digest)
        }
        try add(store, 50..<60)
        try store.checkpoint()
        #expect(try roots(volume).count == 2 && !roots(volume).contains(2))
    }

    @Test func `writers continue during a checkpoint`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<100)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for round in 0..<25 {
                do {
                    if thread == 0 {
                        try store.checkpoint()
                    } else {
                        try add(store, (thread * 1000 + round * 10)..<(thread * 1000 + round * 10 + 7))
                    }
                } catch { Issue.record("\(error)") }
            }
        }
        try store.checkpoint()
        try store.close()
        let again = try reopen(volume)
        #expect(again.recovery.transactionCount == 0 && again.graph.digest() == store.graph.digest())
        #expect(try Verification(volume).digest == store.graph.digest())
    }

    @Test func `an earlier moment is shown from the checkpoint before it`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        var digests = [store.graph.digest()]
        for round in 0..<6 {
            try add(store, round * 5..<round * 5 + 5)
            digests.append(store.graph.digest())
            if round == 1 || round == 3 { try store.checkpoint() }
        }
        for number in 1...7 {
            let past = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: UInt64(number))))
            #expect(past.graph.digest() == digests[number - 1])
            #expect(past.recovery.checkpoint.rawValue == (number >= 5 ? 5 : number >= 3 ? 3 : 0))
        }
    }

    @Test func `a follower begins with a checkpoint`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<20)
        try store.checkpoint()
        try add(store, 20..<25)
        let follower = try StoreFollower(volume)
        #expect(follower.graph.digest() == store.graph.digest())
        try add(store, 25..<30)
        try store.checkpoint()
        try add(store, 30..<35)
        #expect(try follower.advance() == 2 && follower.graph.digest() == store.graph.digest())
    }

    @Test func `a store on disk maps its pages`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "cambium-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }  // The operating system removes leftovers.
        let store = try Store.create(at: path, schema: Notes.schema)
        try add(store, 0..<3000)
        try store.checkpoint()
        try add(store, 3000..<3010)
        try store.close()
        let again = try Store.open(at: path)
        #expect(again.recovery.checkpoint.rawValue == 2 && again.graph.export == store.graph.export)
        let reader = try ReadOnlyStore(at: path)
        for round in 0..<5 {
            try add(again, 4000 + round * 10..<4010 + round * 10)
            try again.checkpoint()
        }
        #expect(reader.graph.export == store.graph.export)
        try again.close()
        #expect(try Store.verify(at: path).digest == ReadOnlyStore(at: path).graph.digest())
    }
}
