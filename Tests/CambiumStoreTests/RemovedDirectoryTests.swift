import Cambium
import CambiumModel
import CambiumTesting
import Foundation
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// A writer whose files are removed or replaced.
@Suite struct RemovedDirectoryTests {
    enum Removal: CaseIterable { case directory, log, movedAway, replaced }

    private let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-removed-\(UUID().uuidString)").path

    private func insert(_ store: Store, _ number: Int) throws { try store.write { try $0.insert("Note", ["id": .int(Int64(number))]) } }

    private func remove(_ removal: Removal) throws {
        let manager = FileManager.default
        switch removal {
        case .directory: try manager.removeItem(atPath: directory)
        case .log: try manager.removeItem(atPath: directory + "/log")
        case .movedAway: try manager.moveItem(atPath: directory, toPath: directory + "-moved")
        case .replaced:
            try manager.moveItem(atPath: directory, toPath: directory + "-moved")
            try Store.create(at: directory, schema: Notes.schema).close()
        }
    }

    @Test(arguments: Removal.allCases)
    func `a commit to a store whose directory was removed or replaced fails at its sync`(removal: Removal) throws {
        // The operating system removes leftovers.
        defer { for path in [directory, directory + "-moved"] { try? FileManager.default.removeItem(atPath: path) } }
        let store = try Store.create(at: directory, schema: Notes.schema)
        try insert(store, 1)
        let digest = store.graph.digest()
        try remove(removal)
        #expect(code { try insert(store, 2) } == .outcomeUnknown)
        #expect(store.graph.digest() == digest)
        #expect(code { try insert(store, 3) } == .notWritable)
        if removal == .replaced { #expect(try ReadOnlyStore(at: directory).graph.objectCount == 0) }
        #expect(code { try store.close() } == .outcomeUnknown)
    }

    @Test(arguments: [false, true])
    func `a writer whose lock file is removed or moved away writes nothing to the files of the next writer`(isMoved: Bool) throws {
        let moved = directory + "-lock"
        // The operating system removes leftovers.
        defer { for path in [directory, moved] { try? FileManager.default.removeItem(atPath: path) } }
        let store = try Store.create(at: directory, schema: Notes.schema)
        try insert(store, 1)
        let lock = directory + "/LOCK"
        if isMoved {
            try FileManager.default.moveItem(atPath: lock, toPath: moved)
        } else {
            try FileManager.default.removeItem(atPath: lock)
        }
        let next = try Store.open(at: directory)
        for number in 2...3 { try insert(next, number) }
        #expect(code { try insert(store, 4) } == .ioFailure)
        #expect(code { try store.checkpoint() } != nil)
        #expect(code { try insert(store, 4) } == .notWritable && store.graph.objectCount == 1)
        #expect(code { try store.close() } != nil)
        try insert(next, 5)
        try next.close()
        let verification = try Store.verify(at: directory)
        #expect(verification.isSound && verification.transactionCount == 5)
    }

    @Test func `a store whose directory was replaced changes no checkpoint or setting of the other store`() throws {
        // The operating system removes leftovers.
        defer { for path in [directory, directory + "-moved"] { try? FileManager.default.removeItem(atPath: path) } }
        let store = try Store.create(at: directory, schema: Notes.schema)
        try insert(store, 1)
        try store.checkpoint()
        try FileManager.default.moveItem(atPath: directory, toPath: directory + "-moved")
        let other = try Store.create(at: directory, schema: Notes.schema)
        try insert(other, 2)
        try other.checkpoint()
        try other.close()
        #expect(code { _ = try store.compact(.all) } == .ioFailure)
        #expect(code { try store.setCheckpointPolicy(CheckpointPolicy(countMax: 2)) } == .ioFailure)
        store.abandon()
        #expect(try Store.verify(at: directory).findings == [])
        #expect(try ReadOnlyStore(at: directory).recovery.checkpoint.rawValue == 2)
    }

    @Test func `a checkpoint writes no record if the directory is replaced while the checkpoint is written`() throws {
        let volume = DisplacedVolume()
        try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment()).close()
        let store = try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 2))
        try insert(store, 1)
        let records = try volume.list(CheckpointRecord.directory)
        volume.displace(.atNextCheckpoint)
        #expect(code { try store.checkpoint() } == .ioFailure)
        #expect(try volume.list(CheckpointRecord.directory) == records)
        store.abandon()
    }

    /// Creates a store that writes even short ops to a separate file.
    private func createdWithFilesOfOps() throws -> Store {
        let volume = SystemVolume(root: directory)
        return try volume.withDirectory { try Store.create(volume, schema: Notes.schema, durability: .synced, tuning: .tiny) }
    }

    @Test func `a large transaction of a store whose directory was replaced changes no file of the other store`() throws {
        // The operating system removes leftovers.
        defer { for path in [directory, directory + "-moved"] { try? FileManager.default.removeItem(atPath: path) } }
        let title = Value.string(String(repeating: "long ", count: 40))
        let store = try createdWithFilesOfOps()
        try remove(.movedAway)
        let other = try createdWithFilesOfOps()
        try other.write { try $0.insert("Note", ["id": .int(1), "title": title]) }
        try other.close()
        #expect(code { try store.write { try $0.insert("Note", ["id": .int(2), "title": title]) } } == .ioFailure)
        store.abandon()
        let verification = try Store.verify(at: directory)
        #expect(verification.findings == [] && verification.transactionCount == 2)
    }

    /// Opens a store with one note, whose graph maps the pages of a checkpoint.
    private func openedWithCheckpoint() throws -> Store {
        let first = try Store.create(at: directory, schema: Notes.schema)
        try insert(first, 1)
        try first.checkpoint()
        try first.close()
        return try Store.open(at: directory)
    }

    @Test(arguments: [Removal.directory, .movedAway])
    func `closing a store whose directory was removed or moved away does not create it again`(removal: Removal) throws {
        let moved = directory + "-moved"
        // The operating system removes leftovers.
        defer { for path in [directory, moved] { try? FileManager.default.removeItem(atPath: path) } }
        let store = try openedWithCheckpoint()
        try remove(removal)
        try store.close()
        #expect(!FileManager.default.fileExists(atPath: directory))
        // The graph still maps pages of the store, so no other writer may change them.
        if removal == .movedAway { #expect(code { _ = try Store.open(at: moved) } == .locked) }
        #expect(store.graph.objectCount == 1)
    }

    @Test func `closing a store whose directory was moved away keeps its lock if a copy has taken its place`() throws {
        let moved = directory + "-moved"
        // The operating system removes leftovers.
        defer { for path in [directory, moved] { try? FileManager.default.removeItem(atPath: path) } }
        let store = try openedWithCheckpoint()
        try remove(.movedAway)
        try FileManager.default.copyItem(atPath: moved, toPath: directory)
        try store.close()
        // The lease is in the copy, so only the lock keeps a writer from changing the pages that the graph maps.
        #expect(code { _ = try Store.open(at: moved) } == .locked)
        #expect(store.graph.objectCount == 1)
    }

    @Test func `a store whose directory was replaced shows no earlier moment of the other store`() throws {
        // The operating system removes leftovers.
        defer { for path in [directory, directory + "-moved"] { try? FileManager.default.removeItem(atPath: path) } }
        let store = try Store.create(at: directory, schema: Notes.schema)
        for number in 1...3 { try insert(store, number) }
        #expect(try store.graph(at: .transaction(TransactionNumber(rawValue: 2))).objectCount == 1)
        try remove(.replaced)
        let other = try Store.open(at: directory)
        for number in 11...13 { try insert(other, number) }
        try other.close()
        // The log of the other store has a transaction with this number, which does not fit the graph that the store has kept.
        #expect(code { _ = try store.graph(at: .transaction(TransactionNumber(rawValue: 3))) } == .notFound)
        store.abandon()
    }

    @Test func `an observer of a store whose directory was replaced receives no transaction of the other store`() async throws {
        // The operating system removes leftovers.
        defer { for path in [directory, directory + "-moved"] { try? FileManager.default.removeItem(atPath: path) } }
        let store = try Store.create(at: directory, schema: Notes.schema)
        for number in 1...3 { try insert(store, number) }
        try remove(.replaced)
        let other = try Store.open(at: directory)
        for number in 11...13 { try insert(other, number) }
        try other.close()
        for delivery in [ChangeDelivery.every, .coalesced] {
            var changes = store.changes(from: TransactionNumber(rawValue: 1), delivery).makeAsyncIterator()
            #expect(await errorCode { _ = try await changes.next() } == .expired)
        }
        store.abandon()
    }

    @Test func `closing a writer whose lock file was removed changes no file of the next writer`() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }  // The operating system removes leftovers.
        let store = try Store.create(at: directory, schema: Notes.schema)
        try insert(store, 1)
        try FileManager.default.removeItem(atPath: directory + "/LOCK")
        let next = try Store.open(at: directory)
        try insert(next, 2)
        #expect(code { try store.close() } == .ioFailure)
        try insert(next, 3)
        next.abandon()
        #expect(try ReadOnlyStore(at: directory).graph.objectCount == 3)
    }

    @Test(arguments: Removal.allCases)
    func `a follower of a store whose directory was removed or replaced throws`(removal: Removal) throws {
        // The operating system removes leftovers.
        defer { for path in [directory, directory + "-moved"] { try? FileManager.default.removeItem(atPath: path) } }
        let store = try Store.create(at: directory, schema: Notes.schema)
        try insert(store, 1)
        let follower = try StoreFollower(of: directory)
        #expect(try follower.advance() == 0)
        try remove(removal)
        for _ in 0..<2 { #expect(code { try follower.advance() } == (removal == .log ? .corrupted : .notFound)) }
        #expect(follower.graph.objectCount == 1)
        store.abandon()
    }

    @Test func `a follower does not continue with the checkpoints of another store`() throws {
        // The operating system removes leftovers.
        defer { for path in [directory, directory + "-moved"] { try? FileManager.default.removeItem(atPath: path) } }
        let store = try Store.create(at: directory, schema: Notes.schema)
        for number in 1...3 { try insert(store, number) }
        let follower = try StoreFollower(of: directory)
        try remove(.replaced)
        let other = try Store.open(at: directory)
        for number in 1...5 {
            try insert(other, number)
            try other.checkpoint()
        }
        for _ in 0..<2 { #expect(code { try follower.advance() } == .notFound) }
        #expect(follower.graph.objectCount == 3)
        store.abandon()
        try other.close()
    }

    @Test func `a follower continues with a copy that has replaced its store`() throws {
        let copy = directory + "-copy"
        // The operating system removes leftovers.
        defer { for path in [directory, directory + "-moved", copy] { try? FileManager.default.removeItem(atPath: path) } }
        let store = try Store.create(at: directory, schema: Notes.schema)
        try insert(store, 1)
        let follower = try StoreFollower(of: directory)
        try insert(store, 2)
        try store.close()
        try Store.backUp(at: directory, to: copy)
        #expect(try follower.advance() == 1)
        try remove(.movedAway)
        try FileManager.default.moveItem(atPath: copy, toPath: directory)
        let next = try Store.open(at: directory)
        try insert(next, 3)
        #expect(try follower.advance() == 1 && follower.graph.digest() == next.graph.digest())
        try next.close()
    }

    @Test func `a follower continues with an older copy once the copy has later transactions in other segments`() throws {
        let copy = directory + "-copy"
        // The operating system removes leftovers.
        defer { for path in [directory, directory + "-moved", copy] { try? FileManager.default.removeItem(atPath: path) } }
        let store = try Store.create(at: directory, schema: Notes.schema)
        try insert(store, 1)
        try Store.backUp(at: directory, to: copy)
        for number in 2...4 { try insert(store, number) }
        let follower = try StoreFollower(of: directory)
        try store.close()
        try remove(.movedAway)
        try FileManager.default.moveItem(atPath: copy, toPath: directory)
        let next = try Store.open(at: directory)
        // The next segment of the copy begins inside the segment that the follower has open.
        try next.writer.log?.endSegment(with: next.graph.transaction)
        try insert(next, 12)
        #expect(code { try follower.advance() } == .notFound && follower.graph.objectCount == 4)
        for number in 13...15 { try insert(next, number) }
        #expect(try follower.advance() == 1 && follower.graph.digest() == next.graph.digest())
        try next.close()
    }

    @Test func `a store that was opened by a relative path stays in its directory`() throws {
        let manager = FileManager.default
        let (here, other) = (manager.currentDirectoryPath, directory + "-other")
        for path in [directory, other] { try manager.createDirectory(atPath: path, withIntermediateDirectories: true) }
        defer {
            _ = manager.changeCurrentDirectoryPath(here)
            // The operating system removes leftovers.
            for path in [directory, other] { try? manager.removeItem(atPath: path) }
        }
        #expect(manager.changeCurrentDirectoryPath(directory))
        let store = try Store.create(at: "notes", schema: Notes.schema)
        let follower = try StoreFollower(of: "notes")
        let log = try TransactionLog(of: "notes")
        #expect(manager.changeCurrentDirectoryPath(other))
        try insert(store, 1)
        try store.checkpoint()
        #expect(try follower.advance() == 1)
        var numbers: [UInt64] = []
        try log.forEach { numbers.append($0.number.rawValue) }
        #expect(numbers == [1, 2])
        try store.close()
        #expect(try manager.contentsOfDirectory(atPath: other) == [])
        #expect(try ReadOnlyStore(at: directory + "/notes").recovery.checkpoint.rawValue == 2)
    }

    @Test func `an unsynced commit succeeds without its segment, and the next synced commit fails`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume, durability: .buffered(every: .seconds(36_000)))
        try insert(store, 1)
        try volume.remove("log/00000000000000000001.log")
        try insert(store, 2)
        #expect(code { try store.write(durability: .synced) { try $0.insert("Note", ["id": .int(3)]) } } == .outcomeUnknown)
        #expect(code { try insert(store, 4) } == .notWritable)
    }

    @Test func `a writer whose segment is removed or replaced fails at its next sync`() throws {
        for replacement in [nil, [1, 2, 3]] as [[UInt8]?] {
            let volume = FaultyVolume()
            let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
            let path = "log/00000000000000000001.log"
            if let replacement { try volume.replace(path, replacement) } else { try volume.remove(path) }
            #expect(code { try insert(store, 1) } == .outcomeUnknown)
        }
    }
}
