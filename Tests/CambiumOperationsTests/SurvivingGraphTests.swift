import Cambium
import CambiumTesting
import Foundation
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog

/// Graphs that outlive their store while another store writes to its files.
@Suite struct SurvivingGraphTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-surviving-\(UUID().uuidString)").path

    private func volume() throws -> SystemVolume {
        let volume = SystemVolume(root: directory)
        try volume.createDirectory("")
        return volume
    }

    private func clean() { try? FileManager.default.removeItem(atPath: directory) }  // The operating system removes leftovers.

    private func open(_ volume: any Volume, _ memory: MemoryBudget = .standard) throws -> Store {
        var tuning = LogTuning.standard
        (tuning.newestCheckpointCount, tuning.checkpointsInBackground) = (1, false)
        let store = try Store.open(volume, durability: nil, tuning: tuning, memory: memory)
        try store.setCheckpointPolicy(CheckpointPolicy(countMax: 1, compression: try store.checkpointPolicy().compression))
        return store
    }

    /// Makes a closed store with a checkpoint in which some chunks have only titles.
    private func makeStore(_ volume: any Volume, _ memory: MemoryBudget = .standard) throws {
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, memory: memory)
        try store.write { transaction in
            for number in 0..<1000 { try transaction.insert("Note", ["id": .int(Int64(number))]) }
        }
        try rewrite(store, "the first title", rounds: 2)
        try store.close()
    }

    /// In each round, rewrites all titles and makes a checkpoint that replaces all older ones.
    private func rewrite(_ store: Store, _ word: String, rounds: Int = 3) throws {
        let note = try store.schema.required("Note")
        for round in 0..<rounds {
            try store.write { transaction in
                for id in store.graph.objects(of: note) {
                    try transaction.set(id, "title", to: .string("\(word) \(round) of the note with the number \(id.serial)"))
                }
            }
            try store.checkpoint()
        }
    }

    private func leases(_ volume: any Volume) throws -> [String] { try volume.list("roots").filter { $0.hasSuffix(".lease") } }

    @Test(.enabled(if: LongTests.areWanted), arguments: [0, 256 << 10, 1 << 30], [CheckpointPolicy.Compression.none, .lz4])
    func `a graph of a closed store does not change when another opening writes to the store`(
        byteCount: Int, compression: CheckpointPolicy.Compression
    ) throws {
        defer { clean() }
        let memory = MemoryBudget(byteCount: byteCount)
        try makeStore(try volume(), memory)
        var graphs: [(graph: Graph, digest: GraphDigest, export: String)] = []
        for round in 0..<4 {
            let store = try open(try volume(), memory)
            try store.setCheckpointPolicy(CheckpointPolicy(countMax: 1, compression: compression))
            graphs.append((store.graph, store.graph.digest(), store.graph.export))
            try rewrite(store, "round \(round)")
            graphs.append((store.graph, store.graph.digest(), store.graph.export))
            #expect(try CheckpointRecord.list(volume()).count == 1)
            try store.close()
            for (graph, digest, export) in graphs { #expect(graph.digest() == digest && graph.export == export, "round \(round)") }
        }
        #expect(try Verification(try volume()).isSound)
    }

    @Test func `a closed store can be opened while its graph is held, and an untouched graph can still be read`() throws {
        let volume = FaultyVolume()
        try makeStore(volume)
        let expected = try ReadOnlyStore(volume).graph.digest()
        let graph: Graph
        do {
            let store = try open(volume)
            graph = store.graph
            try rewrite(store, "first")
            try store.close()
        }
        let next = try open(volume)
        try rewrite(next, "second", rounds: 6)
        #expect(graph.digest() == expected && graph.invariantFindings() == [])
        try next.close()
    }

    @Test func `a lease ends with the last graph of its store, and its chunks are used again`() throws {
        let volume = MemoryVolume()
        try makeStore(volume)
        var graph: Graph?
        do {
            let store = try open(volume)
            graph = store.graph
            try rewrite(store, "held")
            try store.close()
        }
        #expect(try leases(volume).count == 1)
        let next = try open(volume)
        try rewrite(next, "beside", rounds: 4)
        let byteCount = try PageFile.byteCount(volume)
        #expect(graph?.objectCount == 1000)
        graph = nil
        #expect(try leases(volume) == [])
        try rewrite(next, "after", rounds: 8)
        #expect(try PageFile.byteCount(volume) == byteCount)
        try next.close()
    }

    @Test func `the lease of a dead process is removed, and its chunks are used again`() throws {
        let volume = MemoryVolume()
        try makeStore(volume)
        let store = try open(volume)
        try store.close()
        #expect(try leases(volume).count == 1 && store.graph.objectCount == 1000)
        let after = MemoryVolume(contents: volume.contents)
        let next = try open(after)
        #expect(try leases(after) == [] && next.recovery.notes == [])
    }

    @Test func `a closed store uses no chunk again and drops no checkpoint, even if a call was in progress`() throws {
        let volume = MemoryVolume()
        try makeStore(volume)
        let store = try open(volume)
        try rewrite(store, "closed")
        let checkpointer = try #require(store.checkpoints).checkpointer
        try store.close()
        #expect(code { try checkpointer.reclaimChunks() } == .notWritable)
        #expect(code { try checkpointer.whileNoneIsMade {} } == .notWritable)
        #expect(code { try store.checkpoint() } == .notWritable)
    }

    @Test func `stores with the same random numbers have separate leases, and do not stay locked`() throws {
        let volume = MemoryVolume()
        try makeStore(volume)
        var graphs: [Graph] = []
        for _ in 0..<3 {
            let store = try Store.open(volume, durability: nil, environment: .fixed())
            graphs.append(store.graph)
            try store.close()
        }
        #expect(try leases(volume).count == 3)
        withExtendedLifetime(graphs) {}
    }

    @Test func `a lease that does not verify protects every existing chunk`() throws {
        let volume = MemoryVolume()
        try makeStore(volume)
        let store = try open(volume)
        let (digest, pages) = (store.graph.digest(), try volume.list("").filter { $0.hasPrefix("pages-") })
        try store.close()
        let path = "roots/" + (try #require(leases(volume).first))
        try volume.open(path, .update).write([1], at: 20)
        let next = try open(volume)
        try rewrite(next, "new")
        #expect(try Set(volume.list("").filter { $0.hasPrefix("pages-") }).isDisjoint(with: pages))
        #expect(store.graph.digest() == digest)
        try next.close()
    }

    @Test func `a store whose lease cannot be written stays locked until its last graph is released`() throws {
        let volume = LeaselessVolume()
        try makeStore(volume)
        var graph: Graph?
        do {
            let store = try open(volume)
            graph = store.graph
            try store.close()
        }
        #expect(code { _ = try open(volume) } == .locked)
        #expect(graph?.objectCount == 1000)
        graph = nil
        try open(volume).close()
    }
}

/// Files in memory that refuse the creation of a lease.
private final class LeaselessVolume: OverMemory {
    let memory = MemoryVolume()
    var name: String { "leaseless" }

    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        if mode == .create, path.hasSuffix(".lease") { throw CambiumError(.ioFailure, "The disk refused.") }
        return try memory.open(path, mode)
    }
}
