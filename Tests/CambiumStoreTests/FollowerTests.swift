import Cambium
import CambiumBytes
import CambiumGraph
import CambiumTesting
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

@Suite struct FollowerTests {
    /// Creates a store that keeps two checkpoints, with one note and a checkpoint.
    func checkpointed(_ volume: MemoryVolume) throws -> Store {
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        try store.setCheckpointPolicy(CheckpointPolicy(countMax: 2))
        try insert(store, 0)
        try store.checkpoint()
        return store
    }

    func insert(_ store: Store, _ number: Int, copies: Int = 1) throws {
        try store.write { transaction in
            for copy in 0..<copies { try transaction.insert("Note", ["id": .int(Int64(number * 1000 + copy))]) }
        }
    }

    @Test(arguments: [Durability.synced, .buffered(every: .seconds(60))])
    func `a follower sees each transaction once, across segments, sealing and large transactions`(durability: Durability) throws {
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: durability, tuning: .tiny)
        let follower = try StoreFollower(volume)
        #expect(follower.graph.export == store.graph.export)
        for number in 0..<60 {
            try insert(store, number, copies: number % 9 == 0 ? 20 : 1)
            if number % 4 == 0 { try insert(store, 500 + number) }
            #expect(try follower.advance() == (number % 4 == 0 ? 2 : 1))
            #expect(follower.graph.digest() == store.graph.digest(), "transaction \(number)")
        }
        #expect(try follower.advance() == 0)
        // Another process continues the log.
        try store.close()
        #expect(try follower.advance() == 0)
        let next = try Store.open(volume, durability: nil, tuning: .tiny)
        try insert(next, 2000)
        #expect(try follower.advance() == 1)
        #expect(follower.graph.digest() == next.graph.digest())
        #expect(try volume.list("log").filter { $0.hasSuffix(".log") }.count > 1)
    }

    @Test func `a follower continues where a torn tail was cut`() throws {
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .buffered(every: .seconds(60)))
        try insert(store, 1)
        let follower = try StoreFollower(volume)
        let path = "log/00000000000000000001.log"
        store.abandon()
        try volume.open(path, .update).write([9, 9, 9], at: try #require(volume.contents[path]).count)
        #expect(try follower.advance() == 0)
        for round in 2...3 {
            let next = try Store.open(volume, durability: nil)
            // In the second round, the opening replaces a segment without frames by one of the same name.
            if round == 3 { try insert(next, 2) }
            let name = try #require(volume.contents.keys.filter { $0.hasPrefix("log/") }.max())
            #expect(try follower.advance() == (round == 3 ? 1 : 0))
            next.abandon()
            if round == 2 { try volume.open(name, .update).write([9, 9, 9], at: try #require(volume.contents[name]).count) }
            #expect(follower.graph.digest() == next.graph.digest())
        }
    }

    @Test func `a follower continues after the next opening removes an unfinished segment`() throws {
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .buffered(every: .seconds(60)))
        let follower = try StoreFollower(volume)
        try insert(store, 1)
        store.abandon()
        let path = LogFileName.path(store.graph.transaction.next, .segment)
        _ = try volume.open(path, .create)
        #expect(try follower.advance() == 1)
        #expect(try follower.advance() == 0)
        let next = try Store.open(volume, durability: nil)
        try insert(next, 2)
        #expect(try !volume.exists(path))
        #expect(try follower.advance() == 1)
        #expect(follower.graph.digest() == next.graph.digest())
    }

    @Test func `a follower misses no transaction that is written while it lists the log and a new segment begins`() throws {
        let volume = WatchedVolume()
        let store = try Store.create(
            volume.memory, schema: Notes.schema, durability: .buffered(every: .seconds(3600)), environment: fixedEnvironment())
        try insert(store, 0)
        let follower = try StoreFollower(volume)
        volume.beforeListing.withLock { bodies in
            bodies = [
                {
                    try self.insert(store, 1)
                    try store.writer.log?.endSegment(with: store.graph.transaction)
                    try self.insert(store, 2)
                }
            ]
        }
        #expect(try follower.advance() == 2 && follower.graph.digest() == store.graph.digest())
        try store.close()
    }

    @Test func `a follower refuses to begin with a corrupt log`() throws {
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        for number in 0..<5 { try insert(store, number) }
        try store.close()
        var files = volume.contents
        files["log/00000000000000000001.log"]?[700] ^= 1
        #expect(code { _ = try StoreFollower(MemoryVolume(contents: files)) } == .corrupted)
        #expect(code { try TransactionLog(MemoryVolume(contents: files)).follow { _ in true } } == .corrupted)
    }

    @Test func `every transaction that a follower shows is durable`() throws {
        let volume = FaultyVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .buffered(every: .seconds(3600)))
        let follower = try StoreFollower(volume)
        for number in 0..<20 {
            try insert(store, number)
            try follower.advance()
            let disk = MemoryVolume(contents: volume.image(seed: UInt64(number)))
            #expect(try ReadOnlyStore(disk).graph.digest() == follower.graph.digest(), "transaction \(number)")
        }
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `readers never mistake the work of a busy writer for corruption`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }  // The operating system removes leftovers.
        let volume = SystemVolume(root: directory.path)
        try volume.createDirectory("")
        var tuning = LogTuning.tiny
        tuning.segmentByteCount = 20_000
        tuning.sealsInBackground = true
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, tuning: tuning)
        let isDone = Atomic(false)
        let failure = Guarded<String?>(nil)
        let looks = Atomic(0)
        let writer = Thread {
            do {
                var number = 0
                while number < 3000 || looks.load(ordering: .relaxed) < 4 {
                    try self.insert(store, number, copies: number % 100 == 0 ? 30 : 1)
                    if number % 150 == 0 { try store.checkpoint() }
                    number += 1
                }
            } catch { failure.withLock { $0 = "writer: \(error)" } }
            isDone.store(true, ordering: .releasing)
        }
        writer.start()
        let follower = try StoreFollower(volume)
        var count = 0
        while !isDone.load(ordering: .acquiring) {
            count += try follower.advance()
            let seen = try ReadOnlyStore(volume)
            #expect(seen.graph.transaction >= follower.graph.transaction)
            if looks.add(1, ordering: .relaxed).oldValue % 5 == 0 {
                let verification = try Verification(volume)
                #expect(verification.isSound, "\(verification.findings)")
            }
        }
        #expect(failure.withLock { $0 } == nil)
        count += try follower.advance()
        #expect(follower.graph.digest() == store.graph.digest() && count > 0)
        try store.close()
    }

    @Test func `a follower waits at least a millisecond between two reads of the log`() {
        for interval in [Duration.zero, .seconds(-1), .nanoseconds(1), .milliseconds(1), .seconds(Int64.min)] {
            #expect(interval.microsecondsBetweenReads == 1000, "\(interval)")
        }
        #expect(Duration.milliseconds(50).microsecondsBetweenReads == 50_000)
        #expect(Duration.seconds(Int64.max).microsecondsBetweenReads == .max)
    }

    @Test func `a follower yields graphs as an asynchronous sequence until its task is cancelled`() async throws {
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        let follower = try StoreFollower(volume)
        let task = Task {
            var counts: [Int] = []
            for try await graph in follower.graphs(every: .milliseconds(1)) {
                counts.append(graph.objectCount)
                if counts.count < 4 { try insert(store, counts.count) } else { break }
            }
            return counts
        }
        #expect(try await task.value == [0, 1, 2, 3])
        let endless = Task {
            for try await _ in follower.graphs(every: .milliseconds(1)) {}
        }
        endless.cancel()
        try await endless.value
    }

    @Test(.timeLimit(.minutes(1)))
    func `each stream of a follower yields the newest graph, even if another call has read the transactions`() async throws {
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced)
        let follower = try StoreFollower(volume)
        var first = follower.graphs(every: .milliseconds(1)).makeAsyncIterator()
        var second = follower.graphs(every: .milliseconds(1)).makeAsyncIterator()
        #expect(try await first.next()?.objectCount == 0)
        #expect(try await second.next()?.objectCount == 0)
        try insert(store, 1)
        try follower.advance()
        #expect(try await first.next()?.objectCount == 1)
        #expect(try await second.next()?.objectCount == 1)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a dedicated thread follows the log and ends with the stream`() async throws {
        let volume = WatchedVolume()
        let store = try Store.create(volume.memory, schema: Notes.schema, durability: .synced)
        try insert(store, 0)
        let isTask = Guarded<Bool?>(nil)
        let look: @Sendable () -> Void = { isTask.withLock { $0 = withUnsafeCurrentTask { $0 != nil } } }
        weak var gone: StoreFollower?
        do {
            let follower = try StoreFollower(volume)
            gone = follower
            volume.beforeListing.withLock { $0 = [{ look() }] }
            for try await _ in follower.graphs(every: .milliseconds(1)) {
                while isTask.withLock({ $0 }) == nil { await Task.yield() }
                break
            }
        }
        #expect(isTask.withLock { $0 } == false)
        while gone != nil { await Task.yield() }
    }
}
