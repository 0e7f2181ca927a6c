import Cambium
import CambiumModel
import Dispatch
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

@Suite struct BackupTests {
    private let tuning: LogTuning = {
        var tuning = LogTuning.tiny
        tuning.largeByteCount = 2000
        return tuning
    }()

    private func made(_ volume: any Volume, count: Int = 30) throws -> Store {
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        for number in 0..<count { try add(store, number) }
        return store
    }

    private func add(_ store: Store, _ number: Int) throws {
        try store.write(Author(actor: "actor \(number % 3)")) { transaction in
            let title = String(repeating: "long title ", count: number % 10 == 3 ? 300 : 3)
            try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("\(title)\(number)")])
        }
    }

    @Test func `a backup has the same transactions, root and graph, and can be written to`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        try store.checkpoint()
        for number in 30..<40 { try add(store, number) }
        let copy = MemoryVolume()
        let backup = try Backup(volume, to: copy)
        #expect(backup.transaction.rawValue == 41 && backup.checkpointCount == 1 && backup.byteCount > 65_536)
        let (of, other) = (try Verification(volume), try Verification(copy))
        #expect(other.isSound && other.findings == [] && other.root == of.root && other.digest == of.digest)
        let again = try Store.open(copy, durability: nil)
        #expect(again.recovery.checkpoint.rawValue == 31 && again.graph.export == store.graph.export)
        try add(again, 99)
        try again.close()
        #expect(try Verification(copy).isSound)
    }

    @Test func `a backup of a store with a compacted log is complete`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        try store.compact(.since(.latest))
        for number in 30..<35 { try add(store, number) }
        let copy = MemoryVolume()
        _ = try Backup(volume, to: copy)
        #expect(try Verification(copy).root == Verification(volume).root)
        #expect(try Store.open(copy, durability: nil).graph.export == store.graph.export)
    }

    @Test(arguments: 0..<8)
    func `a checkpoint or a compaction at any moment of a backup leaves a sound copy or an error`(listing: Int) throws {
        for compacts in [false, true] {
            let volume = WatchedVolume()
            let store = try compacts ? made(volume.memory, count: 12) : Store.notes(volume.memory)
            try add(store, 50)
            try store.checkpoint()
            try add(store, 12)
            let digest = store.graph.digest()
            let body: @Sendable () throws -> Void = {
                if compacts { try store.compact(.checkpoints(1)) } else { try store.checkpoint() }
            }
            volume.beforeListing.withLock { $0 = Array(repeating: {}, count: listing) + [body] }
            let copy = MemoryVolume()
            do {
                _ = try Backup(volume, to: copy)
                #expect(try Verification(copy).findings == [] && ReadOnlyStore(copy).graph.digest() == digest)
            } catch let error as CambiumError where error.code == .ioFailure && compacts {
                #expect(try !copy.exists(StoreSettings.fileName))
            }
        }
    }

    @Test func `a backup is refused if it lacks a file of ops that was retired with a segment that was sealed during the copy`() throws {
        let volume = MemoryVolume()
        var tuning = tuning
        tuning.segmentByteCount = 20_000
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        try add(store, 0)
        let ops = LogFileName.path(store.graph.transaction.next, .ops)
        let target = CopyTarget { path in
            if path == LogDirectory.name {
                // The end of the log was determined. Now the segment receives a large transaction, and is sealed.
                try self.add(store, 3)
                try store.writer.log?.endSegment(with: store.graph.transaction)
                try self.add(store, 4)
            } else if path == LogFileName.path(store.graph.transaction, .segment) {
                // The sealed segment was copied. A compaction would replace it, and remove its file of ops.
                try volume.remove(ops)
            }
        }
        #expect(code { _ = try LogCopy(LogReader(volume), to: target) } == .ioFailure)
        #expect(try !volume.exists(ops) && !target.memory.exists(StoreSettings.fileName))
        store.abandon()
    }

    @Test(arguments: [0, 50])
    func `a backup of a store that ends with the beginning of a segment is sound`(byteCount: Int) throws {
        let volume = MemoryVolume()
        try made(volume).close()
        let segments = try LogDirectory.segments(volume)
        let (sealed, last) = (try #require(segments.dropLast().last), try #require(segments.last))
        let path = LogFileName.path(last, .segment)
        let beginning = try volume.open(path, .read).read(at: 0, count: byteCount)
        for name in [path, Head.fileName] { try volume.remove(name) }
        try volume.create(path, beginning)
        let copy = MemoryVolume()
        let backup = try Backup(volume, to: copy)
        #expect(sealed < last && backup.transaction == TransactionNumber(rawValue: last.rawValue - 1))
        #expect(try Verification(copy).isSound)
    }

    @Test func `a backup during many commits opens to one moment of the store`() throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 3)
        let isDone = Atomic(false)
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            do {
                if thread == 0 {
                    defer { isDone.store(true, ordering: .releasing) }
                    for number in 10..<250 {
                        try add(store, number)
                        if number % 40 == 0 { try store.checkpoint() }
                    }
                } else {
                    while !isDone.load(ordering: .acquiring) {
                        let copy = MemoryVolume()
                        let before = store.graph.transaction
                        let backup = try Backup(volume, to: copy)
                        let graph = try ReadOnlyStore(copy).graph
                        #expect(backup.transaction >= before && graph.transaction >= backup.transaction)
                        let past = try ReadOnlyStore(volume, point: .transaction(graph.transaction)).graph
                        #expect(graph.digest() == past.digest())
                    }
                }
            } catch { Issue.record("\(error)") }
        }
    }

    @Test func `a store is restored to an earlier moment and continues from there`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        let copy = MemoryVolume()
        let last = TransactionNumber(rawValue: 12)
        let backup = try Backup(volume, to: copy, last: last, environment: fixedEnvironment(seed: 5))
        #expect(backup.transaction == last)
        let past = try ReadOnlyStore(volume, point: .transaction(last)).graph
        let again = try Store.open(copy, durability: nil)
        #expect(again.graph.digest() == past.digest() && again.graph.export == past.export)
        try add(again, 500)
        #expect(again.graph.transaction.rawValue == 13)
        try again.close()
        #expect(try Verification(copy).isSound)
        #expect(store.graph.transaction.rawValue == 31)
    }

    @Test func `files at the target of a backup stay, and a backup that fails leaves no store`() throws {
        let volume = MemoryVolume()
        _ = try made(volume, count: 5)
        let taken = MemoryVolume(contents: ["notes.txt": [1]])
        #expect(code { _ = try Backup(volume, to: taken) } == .cannotCreate)
        #expect(taken.contents["notes.txt"] == [1] && taken.contents.count <= 2)
        var corrupted = volume.contents
        let path = try #require(corrupted.keys.filter { $0.hasSuffix(".log") }.sorted().first)
        corrupted[path]?[200] ^= 1
        let copy = MemoryVolume()
        #expect(code { _ = try Backup(MemoryVolume(contents: corrupted), to: copy) } == .corrupted)
        #expect(copy.contents[StoreSettings.fileName] == nil)
    }
}

/// The target of a copy. Calls a closure before a file or a directory is created.
private final class CopyTarget: OverMemory {
    let memory = MemoryVolume()
    private let beforeCreation: @Sendable (_ path: String) throws -> Void

    init(_ beforeCreation: @escaping @Sendable (_ path: String) throws -> Void) { self.beforeCreation = beforeCreation }

    var name: String { "target" }
    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        if mode == .create { try call(path) }
        return try memory.open(path, mode)
    }
    func createDirectory(_ path: String) throws(CambiumError) { try call(path) }

    private func call(_ path: String) throws(CambiumError) {
        do { try beforeCreation(path) } catch { throw CambiumError(.invalidInput, "\(error)") }
    }
}
