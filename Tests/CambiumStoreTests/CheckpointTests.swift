import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog

@Suite struct CheckpointTests {
    func add(_ store: Store, _ numbers: Range<Int>) throws {
        try store.write { transaction in
            for number in numbers {
                let note = try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("note \(number)")])
                try transaction.link(note, "memos", transaction.insert("Memo", ["text": .string("memo \(number)")]))
            }
        }
    }

    func reopen(_ volume: any Volume) throws -> Store {
        try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 3))
    }

    func roots(_ volume: any Volume) throws -> [UInt64] { try CheckpointRecord.list(volume).map(\.rawValue) }

    // MARK: Corruption

    @Test func `a corrupt checkpoint record is skipped and reported`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<5)
        try store.checkpoint()
        try add(store, 5..<9)
        try store.checkpoint()
        try store.close()
        let path = CheckpointRecord.path(TransactionNumber(rawValue: 3))
        let record = try #require(volume.contents[path])
        let step = LongTests.areWanted ? 1 : 41
        for offset in stride(from: 0, to: record.count, by: step) {
            var contents = volume.contents
            contents[path]?[offset] ^= 0x10
            let graph = try ReadOnlyStore(MemoryVolume(contents: contents))
            #expect(graph.recovery.checkpoint.rawValue == 2 && graph.recovery.notes.count == 1)
            #expect(graph.graph.digest() == store.graph.digest(), "offset \(offset)")
        }
        for byteCount in stride(from: 0, to: record.count, by: step) {
            var contents = volume.contents
            contents[path] = Array(record.prefix(byteCount))
            #expect(try ReadOnlyStore(MemoryVolume(contents: contents)).graph.digest() == store.graph.digest(), "\(byteCount) bytes")
        }
    }

    @Test func `corrupt or missing pages are skipped, and a new file is begun`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<200)
        try store.checkpoint()
        try store.close()
        let path = try #require(volume.contents.keys.first { $0.hasPrefix("pages-") })
        let byteCount = try #require(volume.contents[path]?.count)
        for damage in stride(from: 0, to: 60, by: LongTests.areWanted ? 1 : 9) {
            var contents = volume.contents
            if damage < 50 { contents[path]?[damage * byteCount / 50] ^= 1 } else { contents[path]?.removeLast((damage - 49) * 6000) }
            let corrupted = MemoryVolume(contents: contents)
            #expect(try ReadOnlyStore(corrupted).graph.digest() == store.graph.digest())
            let again = try reopen(corrupted)
            #expect(again.recovery.checkpoint == .none && again.recovery.notes.count == 1 && again.recovery.transactionCount == 2)
            try add(again, 200..<210)
            try again.checkpoint()
            try again.close()
            let last = try reopen(corrupted)
            #expect(last.recovery.checkpoint.rawValue == 3 && last.graph.digest() == again.graph.digest())
            #expect(corrupted.contents[path] == nil)
        }
    }

    /// Returns a store with a checkpoint after its last transaction. `before` has the files of the log before that transaction.
    private func withCheckpoint() throws -> (volume: MemoryVolume, store: Store, before: [String: [UInt8]]) {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<3)
        let before = volume.contents.filter { $0.key.hasPrefix("log/") || $0.key == "HEAD" }
        try add(store, 3..<6)
        try store.checkpoint()
        return (volume, store, before)
    }

    @Test func `a checkpoint of another log is reported as corruption`() throws {
        let (volume, store, before) = try withCheckpoint()
        try add(store, 6..<9)
        try store.close()
        // The log was restored to a state before the checkpoint, but the files derived from the log were not.
        let older = volume.contents.filter { !$0.key.hasPrefix("log/") }.merging(before) { $1 }
        #expect(code { _ = try reopen(MemoryVolume(contents: older)) } == .corrupted)
        // This log also continued differently afterwards.
        let other = MemoryVolume(contents: older.filter { !$0.key.hasPrefix("roots/") })
        let branch = try reopen(other)
        try add(branch, 100..<103)
        try branch.checkpoint()
        try add(branch, 103..<106)
        try branch.close()
        let mixed = other.contents.filter { !$0.key.hasPrefix("roots/") && !$0.key.hasPrefix("pages-") }
            .merging(volume.contents.filter { $0.key.hasPrefix("roots/") || $0.key.hasPrefix("pages-") }) { $1 }
        #expect(code { _ = try reopen(MemoryVolume(contents: mixed)) } == .corrupted)
    }

    /// Returns the files of a store whose log ends before its checkpoint. HEAD is as old as the log.
    private func withOlderLog() throws -> MemoryVolume {
        let (volume, store, before) = try withCheckpoint()
        try store.close()
        return MemoryVolume(contents: volume.contents.merging(before) { $1 })
    }

    @Test func `a verification reports a log that ends before a checkpoint`() throws {
        let volume = try withOlderLog()
        #expect(code { _ = try reopen(volume) } == .corrupted)
        let verification = try Verification(volume)
        #expect(!verification.isSound && verification.transactionCount == 2 && verification.findings.count == 1)
    }

    @Test func `a backup of a log that ends before a checkpoint is refused`() throws {
        let target = MemoryVolume()
        let source = try withOlderLog()
        #expect(code { _ = try Backup(source, to: target) } == .corrupted)
        #expect(target.contents.isEmpty)
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

    @Test func `a mark of corruption of any length only makes the next opening check all pages`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<3)
        try store.checkpoint()
        try store.close()
        for mark in [[], [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20 + 1)] {
            var contents = volume.contents
            contents[PageFile.damageMark] = mark
            let marked = MemoryVolume(contents: contents)
            let again = try reopen(marked)
            #expect(again.recovery.checkpoint.rawValue == 2 && again.recovery.notes.count == 1)
            #expect(again.recovery.notes.allSatisfy { $0.utf8.count < 5000 })
            try again.checkpoint()
            try again.close()
            #expect(try !marked.exists(PageFile.damageMark) && Verification(marked).findings == [])
        }
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
}
