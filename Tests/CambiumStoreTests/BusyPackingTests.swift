import Cambium
import CambiumBytes
import CambiumGraph
import CambiumTesting
import Dispatch
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog
@testable import CambiumStore

/// Packing while writers commit all the time, and while transactions are not durable yet.
@Suite struct BusyPackingTests {
    private static let count = 4000

    /// Makes a store whose pages are stored and of whose notes one in 41 remains.
    private func thinned(_ volume: any Volume, _ durability: Durability) throws -> Store {
        var tuning = LogTuning.standard
        tuning.checkpointsInBackground = false
        let store = try Store.create(
            volume, schema: Notes.schema, durability: durability, environment: fixedEnvironment(), tuning: tuning)
        try store.write { transaction in
            for number in 0..<Self.count {
                let note = try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("the note with number \(number)")])
                try transaction.link(note, "items", transaction.insert("Item", ["key": .string("item \(number)")]))
            }
        }
        try store.checkpoint()
        let note = try store.schema.required("Note")
        let doomed = store.graph.objects(of: note).filter { $0.serial % 41 != 0 }
        try store.write { try $0.delete(doomed) }
        return store
    }

    private func limits() -> PackingLimits {
        var limits = PackingLimits.thorough
        (limits.wasteByteCountMin, limits.rowCountMax, limits.byteCountMax) = (0, 8, 4096)
        return limits
    }

    /// Returns the number of row groups that the notes take.
    private func groupCount(_ store: Store) -> Int {
        let reader = store.writer.timeline.head.version.reader
        return reader.groupCount(0) - reader.freeGroupCount(0)
    }

    /// Returns the number of chunks that were stored before packing and still have a page in use.
    private func usedChunkCount(_ store: Store) -> Int {
        let space = store.writer.timeline.space
        let open = Set(space.openChunks.map(Int.init))
        return (0..<space.chunkCount).count { space.live[$0] > 0 && !open.contains($0) }
    }

    private static func touch(_ store: Store, _ round: Int) throws {
        let graph = store.graph
        let note = graph.id(of: try #require(graph.place(try graph.schema.required("Note"), identity: [.int(Int64(round % 97 * 41 + 40))])))
        try store.write { try $0.set(note, "title", to: .string("round \(round)")) }
    }

    @Test(.enabled(if: LongTests.areWanted), arguments: [Durability.synced, .buffered(every: .seconds(60))])
    func `packing during constant commits reduces the pages about as far as packing an idle store`(
        durability: Durability
    ) throws {
        let idle = try thinned(MemoryVolume(), durability)
        let before = idle.memory.pageByteCount
        #expect(try idle.upkeep.pack(limits(), stepCountMax: .max))
        let volume = MemoryVolume()
        let busy = try thinned(volume, durability)
        let threads = TwoThreads()
        let limits = limits()
        let errors = threads.run(
            {
                while threads.count.load(ordering: .relaxed) < 5, !threads.isDone.load(ordering: .acquiring) {}
                if try !busy.upkeep.pack(limits, stepCountMax: .max) { throw CambiumError(.notFound, "There was nothing to pack.") }
                threads.isDone.store(true, ordering: .releasing)
            },
            {
                while !threads.isDone.load(ordering: .acquiring) {
                    try Self.touch(busy, threads.count.add(1, ordering: .relaxed).newValue)
                }
            })
        #expect(errors == [])
        let (least, found) = (idle.memory.pageByteCount, busy.memory.pageByteCount)
        #expect(8 * least < 7 * before && found < least + least / 4 + 65_536, "\(before), \(least), \(found)")
        #expect(usedChunkCount(busy) <= usedChunkCount(idle) + 4)
        #expect(busy.pageFindings == [] && busy.graph.invariantFindings() == [])
        #expect(try Store.reopened(volume).graph.digest() == busy.graph.digest())
        #expect(busy.metrics.packingStepCount > 20 && busy.metrics.packedRowCount > 50)
    }

    @Test func `tables whose rows cannot be gathered do not keep sparse chunks from being emptied`() throws {
        var tuning = LogTuning.standard
        tuning.checkpointsInBackground = false
        let names = ["A", "B", "C", "D", "E"]
        let text = EntityDefinition("Text") { AttributeDefinition("text", .string) }
        let others = names.map { EntityDefinition($0) { AttributeDefinition("number", .int64) } }
        let store = try Store.create(
            MemoryVolume(), schema: try Schema(SchemaDefinition(entities: [text] + others)), durability: .synced,
            environment: fixedEnvironment(), tuning: tuning)
        try store.write { transaction in
            for _ in 1..<768 { try transaction.insert("Text", ["text": .string(String(repeating: "x", count: 250))]) }
            for name in names { for number in 1..<640 { try transaction.insert(name, ["number": .int(Int64(number))]) } }
        }
        try store.checkpoint()
        // Every second group of texts stays. The objects of other entities that stay have the same places in all groups, so no two of these
        // groups fit together.
        let texts = try store.graph.objects(of: "Text").filter { $0.serial >> 7 & 1 == 0 }
        let doomed = try names.flatMap { name in try store.graph.objects(of: name).filter { $0.serial & 127 >= 32 } }
        try store.write { try $0.delete(texts + doomed) }
        #expect(try store.upkeep.pack(limits(), stepCountMax: .max))
        #expect(store.metrics.packedByteCount > 0 && store.pageFindings == [])
    }

    @Test func `an observer gets the version that readers see, and not a packed version that may be rolled back`() throws {
        let volume = GatedVolume()
        let store = try thinned(volume, .synced)
        let last = store.graph.transaction
        let changes = store.changes(.every)
        volume.isShut.store(true, ordering: .relaxed)
        _ = try store.enqueue { try $0.insert("Note", ["id": .int(100_000)]) }
        volume.arrivals.wait()
        #expect(try store.upkeep.pack(limits(), stepCountMax: .max))
        // The next transaction builds on the packed version, and its sync fails.
        let ticket = try store.enqueue { try $0.insert("Note", ["id": .int(100_001)]) }.ticket
        volume.gate.signal()
        volume.arrivals.wait()
        let seen = store.writer.recent.step(after: last)?.after
        let isSeen = seen?.version === store.graph.version
        volume.isBroken.store(true, ordering: .relaxed)
        volume.isShut.store(false, ordering: .relaxed)
        volume.gate.signal()
        let settled = DispatchSemaphore(value: 0)
        ticket.whenSettled { _ in settled.signal() }
        settled.wait()
        try #require(isSeen)
        #expect(store.graph.transaction == last.next && seen?.digest() == store.graph.digest())
        #expect(store.pageFindings == [])
        withExtendedLifetime(changes) {}
    }

    @Test(arguments: [false, true])
    func `packing continues during a sync, and a sync that fails rolls its work back`(isBroken: Bool) throws {
        let volume = GatedVolume()
        let store = try thinned(volume, .synced)
        let (before, digest) = (groupCount(store), store.graph.digest())
        volume.isShut.store(true, ordering: .relaxed)
        let ticket = try store.enqueue { try $0.insert("Note", ["id": .int(100_000)]) }.ticket
        volume.arrivals.wait()
        #expect(store.writer.timeline.isUnconfirmed)
        #expect(try store.upkeep.pack(limits(), stepCountMax: .max))
        // A reader does not see the packing before the transaction is durable.
        #expect(store.graph.digest() == digest && store.writer.timeline.isUnconfirmed)
        volume.isBroken.store(isBroken, ordering: .relaxed)
        volume.isShut.store(false, ordering: .relaxed)
        volume.gate.signal()
        let settled = DispatchSemaphore(value: 0)
        ticket.whenSettled { _ in settled.signal() }
        settled.wait()
        #expect((store.graph.digest() == digest) == isBroken)
        #expect(store.pageFindings == [] && store.graph.invariantFindings() == [])
        #expect((groupCount(store) < before / 2) == !isBroken, "\(before), \(groupCount(store))")
    }
}
