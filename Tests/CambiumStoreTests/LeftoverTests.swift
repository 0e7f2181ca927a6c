import Cambium
import CambiumTesting
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// The files that a checkpoint, a compaction or new settings leave if a disk operation fails or the process ends, and the removal of these
/// files.
@Suite struct LeftoverTests {
    private func made() throws -> [String: [UInt8]] {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        for number in 0..<20 { try store.write { try $0.insert("Note", ["id": .int(Int64(number))]) } }
        try store.close()
        return volume.contents
    }

    private func open(_ volume: any Volume, _ round: Int) throws -> Store {
        try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: UInt64(round)))
    }

    private func pageFiles(_ contents: [String: [UInt8]]) -> [String] { contents.keys.filter { $0.hasPrefix("pages-") } }

    /// Returns the operations of `body`, such as a checkpoint.
    private func operations(_ contents: [String: [UInt8]], _ body: (Store) throws -> Void) throws -> Range<Int> {
        let volume = FaultyVolume(contents: contents)
        let store = try open(volume, 0)
        let first = volume.operationCount
        try body(store)
        let end = volume.operationCount
        try store.close()
        return first..<end
    }

    @Test func `processes whose checkpoints fail one after another leave at most one file of pages`() throws {
        var contents = try made()
        let checkpoint = try operations(contents) { _ = try $0.checkpoint() }
        for (round, operation) in checkpoint.enumerated() {
            let volume = FaultyVolume(contents: contents)
            let store = try open(volume, round)
            volume.fail(at: volume.operationCount + operation - checkpoint.lowerBound, with: 28)
            let receipt = try? store.checkpoint()  // The last operations may fail after the checkpoint was made.
            store.abandon()
            if receipt != nil { continue }
            contents = volume.contents.filter { !$0.key.hasPrefix("roots/") }
            #expect(pageFiles(contents).count <= 1, "operation \(operation)")
        }
        let volume = MemoryVolume(contents: contents)
        let store = try open(volume, 99)
        try store.checkpoint()
        try store.close()
        #expect(pageFiles(volume.contents).count == 1)
        #expect(try Verification(volume).findings == [])
    }

    @Test(arguments: [false, true])
    func `a checkpoint for which the disk is too small releases the disk space of its pages`(fitsPages: Bool) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-leftover-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }  // A failure is harmless: the directory is temporary.
        let isFull = Mutex(false)
        let hasPages = Mutex(false)
        var calls = SystemCalls()
        calls.pwrite = { descriptor, bytes, count, offset in
            // Only a checkpoint writes whole chunks. The full disk takes the first of them, or all of them and no record.
            let isOfPages = count >= PageFile.chunkByteCount
            let isRefused = isFull.withLock { $0 } && (fitsPages ? !isOfPages && hasPages.withLock { $0 } : isOfPages)
            if isOfPages, isFull.withLock({ $0 }) { hasPages.withLock { $0 = true } }
            let written = SystemCalls.system.pwrite(descriptor, bytes, isRefused ? min(count, PageFile.chunkByteCount) : count, offset)
            if isRefused { errno = ENOSPC }
            return isRefused ? -1 : written
        }
        let volume = SystemVolume(root: directory, calls: calls)
        try volume.createDirectory("")
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment())
        for number in 0..<8 {
            let title = String(repeating: "long ", count: 20_000)
            try store.write { try $0.insert("Note", ["id": .int(Int64(number)), "title": .string(title)]) }
        }
        isFull.withLock { $0 = true }
        #expect(code { try store.checkpoint() } == .ioFailure)
        #expect(hasPages.withLock { $0 })
        #expect(try PageFile.byteCount(volume) == 0)
        isFull.withLock { $0 = false }
        try store.checkpoint()
        try store.close()
        #expect(try PageFile.byteCount(volume) > 0 && Verification(volume).findings == [])
    }

    @Test func `a power failure after a compaction loses nothing, whenever the process that made its checkpoint was killed`() throws {
        let contents = try made()
        let checkpoint = try operations(contents) { _ = try $0.checkpoint() }
        #expect(!checkpoint.isEmpty)
        for operation in checkpoint {
            let volume = FaultyVolume(contents: contents)
            let killed = try open(volume, 0)
            volume.crash(at: operation)
            _ = try? killed.checkpoint()  // The process is killed during the checkpoint.
            killed.abandon()
            volume.recover()
            let store = try open(volume, 1)
            try store.compact(.checkpoints(1))
            for seed in 0..<UInt64(6) {
                let found = try? open(MemoryVolume(contents: volume.image(seed: seed)), 2)
                #expect(found?.graph.export == store.graph.export, "operation \(operation), seed \(seed)")
            }
            store.abandon()
        }
    }

    @Test func `settings that a full disk refuses leave no file`() throws {
        let contents = try made()
        let change = { (store: Store) in try store.setCheckpointPolicy(CheckpointPolicy(compression: .lz4)) }
        var failedCount = 0
        for operation in try operations(contents, change) {
            let volume = FaultyVolume(contents: contents)
            let store = try open(volume, 1)
            volume.fail(at: operation, with: 28)
            if (try? change(store)) == nil { failedCount += 1 }  // The last operations may fail after the settings have their name.
            #expect(volume.contents["store.json.new"] == nil, "operation \(operation)")
            store.abandon()
        }
        #expect(failedCount >= 3)
    }

    @Test func `a checkpoint removes the temporary files of dead processes`() throws {
        var contents = try made()
        for path in ["store.json.new", "ARCHIVE.new", "roots/00000000000000000003.root.new", "roots/DAMAGED.new"] {
            contents[path] = [1, 2, 3]
        }
        let volume = MemoryVolume(contents: contents)
        let store = try open(volume, 1)
        try store.checkpoint()
        try store.close()
        #expect(volume.contents.keys.filter { $0.hasSuffix(".new") } == [])
        #expect(try Verification(volume).findings == [])
    }

    @Test func `files with names that no process gives stay next to the checkpoint records`() throws {
        let names = ["quarterly-budget.lease", "0123456789ABCDEF.lease", "old.root.new", "3.root.new", "notes"]
        let files = Dictionary(uniqueKeysWithValues: names.map { ("roots/" + $0, [UInt8]($0.utf8)) })
        let volume = MemoryVolume(contents: try made().merging(files) { first, _ in first })
        let store = try open(volume, 1)
        try store.checkpoint()
        try store.close()
        #expect(volume.contents.filter { files.keys.contains($0.key) } == files)
        #expect(try Verification(volume).findings == [])
    }
}
