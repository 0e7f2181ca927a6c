import Cambium
import CambiumBytes
import CambiumTesting
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog

/// Pages for which the budget has no memory are in files.
@Suite struct MemoryBudgetTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-memory-\(UUID().uuidString)").path
    private let budget = MemoryBudget(byteCount: 256 << 10)

    private func volume() throws -> SystemVolume {
        let volume = SystemVolume(root: directory)
        try volume.createDirectory("")
        return volume
    }

    private func create(_ volume: any Volume, _ memory: MemoryBudget, tuning: LogTuning = .standard) throws -> Store {
        try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(seed: 1), tuning: tuning, memory: memory)
    }

    private func open(_ volume: any Volume, tuning: LogTuning = .standard) throws -> Store {
        try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 2), tuning: tuning, memory: budget)
    }

    /// Adds notes. 10,000 notes take about 0.9 MB of pages.
    private func add(_ store: Store, _ numbers: Range<Int>, _ atEnd: () -> Void = {}) throws {
        try store.write { transaction in
            for number in numbers {
                let note = try transaction.insert(
                    "Note", ["id": .int(Int64(number * 7919 % 1_000_003)), "title": .string("the note with number \(number)")])
                try transaction.link(note, "memos", transaction.insert("Memo", ["text": .string("memo \(number)")]))
            }
            atEnd()
        }
    }

    /// Returns the same graph, made in memory without a budget.
    private func expected(_ ranges: Range<Int>...) throws -> Graph {
        let store = try Store.inMemory(schema: Notes.schema, environment: fixedEnvironment(seed: 1))
        for range in ranges { try add(store, range) }
        return store.graph
    }

    private func clean() { try? FileManager.default.removeItem(atPath: directory) }

    private func check(_ store: Store, _ expected: Graph) {
        #expect(store.graph.digest() == expected.digest())
        #expect(store.graph.invariantFindings() == [] && store.pageFindings == [])
        // Each store has one chunk in memory, whatever the budget is.
        #expect(budget.usedByteCount <= budget.byteCount + 65_536)
        #expect(store.memory.pageByteCount > 2 * budget.byteCount)
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `one transaction of several times the budget stays within the budget and survives reopening`() throws {
        defer { clean() }
        let store = try create(try volume(), budget)
        try add(store, 0..<10_000)
        let graph = try expected(0..<10_000)
        check(store, graph)
        try store.close()
        let again = try open(try volume())
        check(again, graph)
        #expect(try Verification(try volume()).isSound)
        try again.close()
    }

    @Test func `stored pages release their memory when it is short, and later transactions use it`() throws {
        defer { clean() }
        let store = try create(try volume(), budget)
        for round in 0..<10 {
            try add(store, round * 750..<(round + 1) * 750)
            try store.checkpoint()
            #expect(budget.usedByteCount <= budget.byteCount / 4 * 3)
        }
        check(store, try expected(0..<750, 750..<7500))
        try store.close()
    }

    @Test func `a shortage of memory triggers a checkpoint`() throws {
        defer { clean() }
        var tuning = LogTuning.standard
        (tuning.checkpointByteCount, tuning.closingCheckpointByteCount) = (.max, .max)
        // Another budget pays for the pages while the store is created. A background thread may keep these pages a little longer than their
        // store. In the same budget, they would count as pages of the opened store.
        try create(try volume(), .standard, tuning: tuning).close()
        let store = try open(try volume(), tuning: tuning)
        for number in 0..<200 { try add(store, number * 40..<(number + 1) * 40) }
        while store.checkpointFailure == nil, store.metrics.checkpointCount == 0 {}
        #expect(try !CheckpointRecord.list(try volume()).isEmpty)
        try store.close()
        #expect(budget.usedByteCount <= budget.byteCount)
    }

    @Test func `readers see unchanged graphs while files replace memory`() throws {
        defer { clean() }
        let store = try create(try volume(), budget)
        try add(store, 0..<1200)
        let graph = store.graph
        let (digest, export) = (graph.digest(), graph.export)
        for round in 1..<8 {
            try add(store, round * 1200..<(round + 1) * 1200)
            try store.write {
                try $0.delete($0.find(Notes.schema.required("Note"), identity: [.int(Int64(round * 7919))]).map { [$0] } ?? [])
            }
            try store.checkpoint()
            #expect(graph.digest() == digest)
        }
        #expect(graph.export == export)
        try store.close()
    }

    @Test(.enabled(if: LongTests.areWanted), arguments: [0, 256 << 10, 1 << 30])
    func `the graph of a closed store stays unchanged while later processes write`(byteCount: Int) throws {
        defer { clean() }
        let memory = MemoryBudget(byteCount: byteCount)
        let graph: Graph
        do {
            try create(try volume(), memory).close()
            let store = try Store.open(try volume(), durability: nil, memory: memory)
            try add(store, 0..<2000)
            try store.checkpoint()
            try add(store, 2000..<4000)
            graph = store.graph
            try store.close()
        }
        let (digest, export) = (graph.digest(), graph.export)
        for round in 0..<3 {
            let next = try Store.open(try volume(), durability: nil, memory: memory)
            try next.setCheckpointPolicy(CheckpointPolicy(countMax: 1))
            for part in 0..<3 {
                try add(next, (round * 3 + part + 4) * 1000..<(round * 3 + part + 5) * 1000)
                try next.write { transaction in
                    for id in graph.objects(of: try graph.schema.required("Memo")).prefix((round + 1) * 500) {
                        try transaction.set(id, "text", to: .string("round \(round), part \(part)"))
                    }
                }
                try next.checkpoint()
            }
            try next.close()
        }
        #expect(graph.digest() == digest && graph.export == export && graph.invariantFindings() == [])
    }

    @Test func `a failed transaction leaves nothing, however many of its pages were in files`() throws {
        defer { clean() }
        struct Refusal: Error {}
        let store = try create(try volume(), budget)
        try add(store, 0..<100)
        let pageByteCount = store.memory.pageByteCount
        for _ in 0..<2 {
            #expect(throws: Refusal.self) {
                try store.write { transaction in
                    for number in 0..<10_000 { try transaction.insert("Note", ["id": .int(Int64(1_000_000 + number))]) }
                    throw Refusal()
                }
            }
        }
        #expect(store.memory.pageByteCount == pageByteCount && store.pageFindings == [])
        #expect(try PageFile.byteCount(try volume()) < 12 << 20)
        try add(store, 100..<7500)
        check(store, try expected(0..<100, 100..<7500))
        try store.close()
    }

    @Test func `a replay of a whole log and a view of an earlier moment stay within the budget`() throws {
        defer { clean() }
        var tuning = LogTuning.standard
        tuning.checkpointByteCount = .max
        tuning.closingCheckpointByteCount = .max
        let store = try create(try volume(), .standard, tuning: tuning)
        try add(store, 0..<3750)
        let earlier = store.graph.digest()
        try add(store, 3750..<7500)
        // This process has all pages in memory, so its graph is the expected one.
        let expected = store.graph
        try store.close()
        let past = try ReadOnlyStore(try volume(), point: .transaction(TransactionNumber(rawValue: 2)), memory: budget)
        #expect(past.graph.digest() == earlier)
        #expect(budget.usedByteCount <= budget.byteCount)
        let again = try open(try volume(), tuning: tuning)
        check(again, expected)
        try again.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count { $0.hasPrefix("pages-") } == 1)
    }

    @Test func `a store on a full disk keeps its pages in memory beyond the budget`() throws {
        defer { clean() }
        var calls = SystemCalls.system
        calls.posix_fallocate = { _, _, _ in ENOSPC }
        _ = try volume()
        let store = try create(SystemVolume(root: directory, calls: calls), budget)
        try add(store, 0..<5000) { #expect(budget.usedByteCount > budget.byteCount) }
        #expect(try store.graph.digest() == expected(0..<5000).digest())
        try store.checkpoint()
        #expect(budget.usedByteCount <= budget.byteCount / 2)
        try store.close()
    }

    /// Adds notes that take about 3 KB of pages each.
    private func addLong(_ store: Store, _ numbers: Range<Int>) throws {
        let title = String(repeating: "a long title ", count: 200)
        try store.write {
            for number in numbers { try $0.insert("Note", ["id": .int(Int64(number)), "title": .string(title + "\(number)")]) }
        }
    }

    @Test func `the next checkpoint writes again the pages that a disk refused`() throws {
        // Other users take the whole budget, so pages are in files. The store's own pages are not the cause of the shortage.
        let budget = MemoryBudget(byteCount: 1 << 40)
        budget.take(1 << 40)
        var (operation, openedCount) = (0, 0)
        while true {
            let volume = FaultyVolume()
            let store = try create(volume, budget)
            try addLong(store, 0..<60)
            #expect(!store.writer.timeline.mappedChunks.ofStorage.isEmpty)
            volume.fail(at: volume.operationCount + operation, with: EIO)
            _ = try? store.checkpoint()
            if !volume.hasFailed { break }
            operation += 1
            volume.recover()
            // After a failed sync of the log or of the file of pages, the store accepts no more writes.
            guard (try? addLong(store, 60..<70)) != nil else { continue }
            try store.checkpoint()
            for seed in 0..<4 as Range<UInt64> {
                let again = try open(MemoryVolume(contents: volume.image(seed: seed)))
                #expect(again.recovery.checkpoint.rawValue == 3, "operation \(operation), seed \(seed): \(again.recovery)")
                #expect(again.graph.digest() == store.graph.digest())
                openedCount += 1
            }
        }
        #expect(operation > 8 && openedCount > 20, "\(operation) operations, opened \(openedCount) times")
    }

    @Test(arguments: [EIO, ENOSPC])
    func `a store accepts no more writes after the disk has refused pages that only the file of pages has`(code: Int32) throws {
        defer { clean() }
        let isRefusing = Guarded(false)
        var calls = SystemCalls.system
        calls.fdatasync = { descriptor in
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            guard isRefusing.withLock({ $0 }), path?.contains("/pages-") == true else { return SystemCalls.system.fdatasync(descriptor) }
            errno = code
            return -1
        }
        var tuning = LogTuning.standard
        (tuning.checkpointsInBackground, tuning.closingCheckpointByteCount) = (false, .max)
        _ = try volume()
        let store = try create(SystemVolume(root: directory, calls: calls), MemoryBudget(byteCount: 0), tuning: tuning)
        try add(store, 0..<2000)
        isRefusing.withLock { $0 = true }
        #expect(throws: CambiumError.self) { try store.checkpoint() }
        isRefusing.withLock { $0 = false }
        if code == ENOSPC {
            try add(store, 2000..<2001)
            try store.checkpoint()
        } else {
            #expect(throws: CambiumError.self) { try add(store, 2000..<2001) }
            #expect(throws: CambiumError.self) { try store.checkpoint() }
        }
        let digest = store.graph.digest()
        try store.close()
        let again = try open(try volume(), tuning: tuning)
        #expect(again.recovery.checkpoint.rawValue == (code == ENOSPC ? 3 : 0) && again.graph.digest() == digest)
        try add(again, 2001..<2002)
        try again.close()
    }

    @Test func `a preview of a migration and the comparison of a compaction count against the budget of the store`() throws {
        // Other users take the whole budget, so new pages belong in a file without a name.
        let budget = MemoryBudget(byteCount: 1 << 40)
        budget.take(1 << 40)
        let works: [(Store) throws -> Void] = [
            { store in _ = try store.previewMigration(to: .notes { $0["Note"].remove("rating") }) },
            { store in
                let end = try store.compact(.checkpoints(1)).retiredEnd
                #expect(end.rawValue == 2)
            },
        ]
        for (place, work) in works.enumerated() {
            let volume = NamelessVolume()
            let store = try create(volume, budget)
            try addLong(store, 0..<60)
            try store.checkpoint()
            let count = volume.namelessCount.load(ordering: .relaxed)
            try work(store)
            #expect(volume.namelessCount.load(ordering: .relaxed) > count, "work \(place)")
            try store.close()
        }
    }

    @Test func `the search for a label counts against the budget of the reader`() throws {
        // Other users take the whole budget, so new pages belong in a file without a name.
        let budget = MemoryBudget(byteCount: 1 << 40)
        budget.take(1 << 40)
        let (volume, first) = (NamelessVolume(), TransactionNumber(rawValue: 1))
        let store = try create(volume, .standard)
        try addLong(store, 0..<60)
        try store.label("first", first)
        func namelessCount(_ point: Point) throws -> Int {
            let before = volume.namelessCount.load(ordering: .relaxed)
            #expect(try ReadOnlyStore(volume, point: point, memory: budget).graph.objectCount == 0)
            return volume.namelessCount.load(ordering: .relaxed) - before
        }
        let count = try namelessCount(.transaction(first))
        #expect(try namelessCount(.label("first")) > count)
        try store.close()
    }

    @Test func `a closed store returns its memory to the budget`() async throws {
        defer { clean() }
        do {
            let store = try create(try volume(), budget)
            try add(store, 0..<2000) { #expect(budget.usedByteCount > 0) }
            try store.close()
        }
        // A thread that supplies memory may have a reference to the pages until its step ends.
        for _ in 0..<1_000_000 where budget.usedByteCount > 0 { await Task.yield() }
        #expect(budget.usedByteCount == 0)
    }
}

/// Files in memory that count the requests for files without a name.
private final class NamelessVolume: OverMemory {
    let memory = MemoryVolume()
    let namelessCount = Atomic(0)

    var name: String { "nameless" }
    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile { try memory.open(path, mode) }
    func openNameless() throws(CambiumError) -> (any VolumeFile)? {
        namelessCount.wrappingAdd(1, ordering: .relaxed)
        return nil
    }
}
