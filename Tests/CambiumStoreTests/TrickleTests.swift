import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// A process that repeatedly writes a little, with the default settings of a store.
@Suite struct TrickleTests {
    private let clock = StillClock()

    private func made(_ volume: any Volume) throws -> Store {
        try Store.create(volume, schema: Notes.schema, durability: .synced, environment: clock.environment())
    }

    /// Returns the number of segments and the number of checkpoints.
    private func counts(_ volume: any Volume) throws -> (segments: Int, roots: Int) {
        (try LogDirectory.files(volume).segmentCount, try CheckpointRecord.list(volume).count)
    }

    @Test func `transactions of 30 bytes, five minutes apart, make no files`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        for number in 0..<60 {
            clock.advance(301)
            try store.write { try $0.insert("Tag", ["name": .string("tag \(number)")]) }
        }
        #expect(try counts(volume) == (1, 0))
        try store.close()
        #expect(try counts(volume) == (1, 0) && Verification(volume).findings == [])
    }

    @Test func `a process that is restarted often continues in the same segment`() throws {
        let volume = MemoryVolume()
        try made(volume).close()
        for round in 0..<60 {
            clock.advance(301)
            let store = try Store.open(volume, durability: nil, environment: clock.environment(seed: UInt64(round)))
            try store.write { try $0.insert("Tag", ["name": .string("tag \(round)")]) }
            if round % 3 == 0 { try store.checkpoint() }
            if round % 2 == 0 { try store.close() } else { store.abandon() }
        }
        let found = try counts(volume)
        #expect(found.segments == 1 && found.roots <= 20)
        #expect(try Verification(volume).findings == [] && ReadOnlyStore(volume).graph.objectCount == 60)
    }

    @Test func `checkpoints of a trickle of commits stay within the policy and make no segments`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        try store.setCheckpointPolicy(CheckpointPolicy(countMax: 8))
        let title = String(repeating: "a title of some length ", count: 50)
        for number in 0..<240 {
            clock.advance(301)
            try store.write { try $0.insert("Note", ["id": .int(Int64(number)), "title": .string("\(title)\(number)")]) }
            if number % 6 == 0 { try store.checkpoint() }
        }
        try store.close()
        let found = try counts(volume)
        #expect(found.segments == 1 && found.roots <= 8, "\(found)")
        let again = try Store.open(volume, durability: nil, environment: clock.environment(seed: 7))
        #expect(again.recovery.transactionCount < 8 && again.graph.export == store.graph.export)
        for number in stride(from: 10, through: 240, by: 23) {
            let moment = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: UInt64(number))))
            #expect(moment.graph.objectCount == number - 1)
        }
        try again.close()
        #expect(try Verification(volume).findings == [])
    }
}
