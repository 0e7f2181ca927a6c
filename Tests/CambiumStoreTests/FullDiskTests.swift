import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog

@Suite struct FullDiskTests {
    private func insert(_ store: Store, _ number: Int) throws {
        try store.write { try $0.insert("Note", ["id": .int(Int64(number)), "title": .string("note \(number)")]) }
    }

    /// Writes until a write fails, and closes the store then. Returns `nil` if creating or closing the store fails.
    private func closed(_ volume: FaultyVolume) -> Store? {
        guard
            let store = try? Store.create(
                volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: .tiny)
        else { return nil }
        for number in 0..<20 {
            do { try insert(store, number) } catch { break }  // The test closes the store instead of trying again.
        }
        return (try? store.close()) == nil ? nil : store
    }

    @Test func `a disk that is full when HEAD is synced fails one commit only`() throws {
        let created = FaultyVolume()
        try Store.create(created, schema: Notes.schema, durability: .synced, environment: fixedEnvironment()).close()
        let volume = FaultyVolume(contents: created.contents)
        let store = try Store.open(volume, durability: nil, environment: fixedEnvironment())
        // Before the first frame is written, both slots of HEAD are written, and then synced.
        volume.fail(at: volume.operationCount + 2, with: 28)
        #expect(code { try insert(store, 1) } == .ioFailure)
        #expect(volume.hasFailed)
        try insert(store, 2)
        for seed in 0..<UInt64(8) {
            let found = try Store.open(MemoryVolume(contents: volume.image(seed: seed)), durability: nil)
            #expect(found.graph.export == store.graph.export, "seed \(seed)")
        }
        try store.close()
        #expect(try Verification(MemoryVolume(contents: volume.contents)).isSound)
    }

    @Test(.enabled(if: LongTests.areWanted)) func `a store closed after the disk was full opens again after any power failure`() throws {
        let measured = FaultyVolume()
        _ = try #require(closed(measured))
        var closedCount = 0
        for operation in 0..<measured.operationCount {
            let volume = FaultyVolume()
            volume.fail(at: operation, with: 28)
            guard let store = closed(volume) else { continue }
            #expect(volume.hasFailed)
            closedCount += 1
            for seed in 0..<UInt64(16) {
                do {
                    let found = try Store.open(MemoryVolume(contents: volume.image(seed: seed)), durability: nil)
                    #expect(found.graph.export == store.graph.export, "operation \(operation), seed \(seed)")
                } catch { Issue.record("operation \(operation), seed \(seed): \(error)") }
            }
        }
        #expect(closedCount > 20)
    }
}
