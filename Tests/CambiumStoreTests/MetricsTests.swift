import Cambium
import CambiumTesting
import Dispatch
import Synchronization
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog
@testable import CambiumStore

@Suite struct MetricsTests {
    private func add(_ store: Store, _ numbers: Range<Int>) throws {
        for number in numbers { try store.write { try $0.insert("Note", ["id": .int(Int64(number))]) } }
    }

    private func hold(_ store: Store, _ use: StoreMetrics.LockUse) -> Duration? {
        store.metrics.longestHolds.first { $0.use == use }?.duration
    }

    @Test func `commits, syncs and bytes of the log are counted`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        let before = store.metrics
        try add(store, 0..<10)
        try store.write { _ in }
        let metrics = store.metrics
        #expect(metrics.commitCount == before.commitCount + 10 && metrics.syncCount == before.syncCount + 10)
        #expect(metrics.waitingCommitCount == 0 && metrics.waitingWriterCount == 0)
        let log = volume.contents.filter { $0.key.hasPrefix(LogDirectory.name) }.reduce(0) { $0 + $1.value.count }
        #expect(metrics.loggedByteCount > before.loggedByteCount && metrics.loggedByteCount <= log)
    }

    @Test func `a file of ops counts as bytes of the log`() throws {
        var tuning = LogTuning.tiny
        tuning.largeByteCount = 1000
        let store = try Store.create(
            MemoryVolume(), schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        let before = store.metrics.loggedByteCount
        try store.write { transaction in
            for number in 0..<1000 { try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("\(number * 7919)")]) }
        }
        #expect(store.metrics.loggedByteCount > before + 4000)
    }

    @Test func `the longest hold excludes the closure of a write and includes the rest of the commit`() throws {
        let store = try Store.notes()
        let clock = ContinuousClock()
        let begin = clock.now
        try store.write { transaction in
            try transaction.insert("Note", ["id": .int(1)])
            let closureBegin = clock.now
            while clock.now - closureBegin < .milliseconds(100) {}
        }
        let whole = clock.now - begin
        let commit = try #require(hold(store, .commit))
        // However slow the machine is, 100 ms of the whole time belong to the closure.
        #expect(commit > .zero && commit <= whole - .milliseconds(99))
    }

    @Test func `a closure that throws is not counted`() throws {
        struct Withdrawn: Error {}
        let store = try Store.notes()
        let (before, ticks) = (store.metrics, store.writer.lock.longestTicks(.commit))
        #expect(throws: Withdrawn.self) { try store.write { _ in throw Withdrawn() } }
        #expect(store.metrics.commitCount == before.commitCount)
        #expect(store.writer.lock.longestTicks(.commit) == ticks)
    }

    @Test func `each use of the lock has its longest hold, and the longest of them comes first`() throws {
        let store = try Store.notes()
        try add(store, 0..<3)
        try store.checkpoint()
        try store.recordDigest()
        var definition = Notes.definition
        definition.entities[0].attributes.append(AttributeDefinition("done", .bool, .optional))
        try store.migrate(to: definition)
        _ = store.memory
        let holds = store.metrics.longestHolds
        #expect(Set(holds.map(\.use)).isSuperset(of: [.commit, .sync, .checkpoint, .reclaiming, .digest, .migration, .other]))
        #expect(zip(holds, holds.dropFirst()).allSatisfy { $0.duration >= $1.duration })
    }

    @Test func `checkpoints are counted unless they have nothing to store`() throws {
        let store = try Store.notes()
        try add(store, 0..<3)
        try store.checkpoint()
        try store.checkpoint()
        let metrics = store.metrics
        #expect(metrics.checkpointCount == 1 && metrics.failedCheckpointCount == 0)
        #expect(metrics.checkpointDuration > .zero && metrics.checkpointDuration == metrics.longestCheckpointDuration)
    }

    @Test func `a failed checkpoint is counted as failed`() throws {
        let disk = FaultyVolume()
        let store = try Store.create(disk, schema: Notes.schema, durability: .synced, environment: fixedEnvironment())
        try add(store, 0..<3)
        disk.fail(at: disk.operationCount + 3, with: 28)
        #expect(throws: CambiumError.self) { try store.checkpoint() }
        #expect(store.metrics.failedCheckpointCount == 1 && store.metrics.checkpointCount == 0)
    }

    @Test func `versions that a reader holds are pinned, with the pages that only they reach`() throws {
        let store = try Store.notes(durability: .buffered(every: .seconds(60)))
        try add(store, 0..<200)
        var graph: Graph? = store.graph
        try add(store, 200..<300)
        let metrics = store.metrics
        let sum = store.writer.timeline.pinnedVersions.reduce(0) { sum, version in
            version.dead.elements.reduce(sum) { $0 + version.space.chunks.granules($1) * PageLayout.granule }
        }
        #expect(metrics.pinnedVersionCount == 1 && metrics.pinnedByteCount == sum && sum > 0)
        #expect(graph?.objectCount == 200)
        graph = nil
        try add(store, 300..<310)
        #expect(store.metrics.pinnedVersionCount == 0 && store.metrics.pinnedByteCount == 0)
        #expect(store.metrics.pageByteCount == store.memory.pageByteCount && store.metrics.heapByteCount > 0)
    }

    @Test func `chunks of an opened checkpoint are counted as mapped bytes`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<100)
        #expect(store.metrics.mappedByteCount == 0)
        try store.checkpoint()
        try store.close()
        let again = try Store.open(volume, durability: nil, environment: fixedEnvironment())
        #expect(again.metrics.mappedByteCount >= 65_536 && again.metrics.pageByteCount > 0)
        try again.close()
    }

    @Test func `threads that wait for the lock are counted, but not the thread that holds it`() throws {
        let store = try Store.notes()
        let threads = TwoThreads()
        let errors = threads.run(
            {
                try store.write { _ in
                    threads.count.store(1, ordering: .releasing)
                    while store.metrics.waitingWriterCount == 0, !threads.isDone.load(ordering: .acquiring) {}
                }
            },
            {
                while threads.count.load(ordering: .acquiring) == 0, !threads.isDone.load(ordering: .acquiring) {}
                try store.write { _ in }
            })
        #expect(errors == [])
        #expect(store.metrics.waitingWriterCount == 0)
    }

    // MARK: Slow queries

    private func store(slowAfter limit: Duration) throws -> Store {
        var environment = fixedEnvironment()
        environment.slowQueryDuration = limit
        let store = try Store.inMemory(schema: Notes.schema, environment: environment)
        try add(store, 0..<10)
        return store
    }

    @Test func `a query that takes the stated time is counted, and the last one is kept`() throws {
        let store = try store(slowAfter: .zero)
        #expect(store.metrics.slowQueryCount == 0 && store.metrics.lastSlowQuery == nil)
        _ = try store.graph.find(Query("Note", where: "id > $least", ["least": 2], sort: "-id", limit: 3))
        let slow = try #require(store.metrics.lastSlowQuery)
        #expect(slow.text == "Note where id > $least sort -id limit 3")
        #expect(slow.duration >= .zero && slow.transaction == store.graph.transaction)
        _ = try store.graph.count(Query("Note"))
        _ = try store.graph.answer(Query("Note"))
        _ = try store.graph.aggregate(Query("Note"), Grouping([.count]))
        _ = try store.graph.first(Query("Note", sort: "title"))
        #expect(store.metrics.slowQueryCount == 5 && store.metrics.lastSlowQuery?.text == "Note sort title limit 1")
    }

    @Test func `a query of a transaction, and one that fails, count too`() throws {
        let store = try store(slowAfter: .zero)
        try store.write { transaction in _ = try transaction.find(Query("Note", where: "id == 3")) }
        #expect(throws: CambiumError.self) { try store.graph.find(Query("Note", where: "missing == 3")) }
        #expect(store.metrics.slowQueryCount == 2)
    }

    @Test func `a query that takes less time than stated is not counted`() throws {
        #expect(StoreEnvironment.system.slowQueryDuration == .milliseconds(100))
        let store = try store(slowAfter: .seconds(86_400))
        for _ in 0..<20 { _ = try store.graph.find(Query("Note", where: "id > 2")) }
        #expect(store.metrics.slowQueryCount == 0 && store.metrics.lastSlowQuery == nil)
    }

    @Test func `the text of a slow query has at most 1,000 characters`() throws {
        let store = try store(slowAfter: .zero)
        _ = try store.graph.find(Query("Note", where: "title in {" + (0..<500).map { "\"\($0)\"" }.joined(separator: ", ") + "}"))
        #expect(store.metrics.lastSlowQuery?.text.count == 1000)
    }
}
