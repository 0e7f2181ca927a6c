import Cambium
import CambiumModel
import CambiumTesting
import Foundation
import TestFixtures
import Testing

@testable import CambiumLog

@Suite struct LongChainTests {
    /// The number of objects: `chain` of `CAMBIUM_TEST`, or 100,000, or 20,000 in a fast test. The default numbers would
    /// overflow a stack, too, if any code followed the chain recursively.
    private static let count = TestSettings.number("chain") ?? (LongTests.areWanted ? 100_000 : 20_000)

    private static let schema = try? Schema(
        SchemaDefinition {
            EntityDefinition("Link") {
                RelationshipDefinition("next", to: "Link", inverse: "previous", onDelete: .cascade)
                RelationshipDefinition("previous", to: "Link", inverse: "next")
            }
        })

    /// Makes a chain of links that each own the next one, by ops of two kinds.
    private func made(_ volume: MemoryVolume) throws -> (store: Store, first: ObjectID) {
        let store = try Store.create(
            volume, schema: try #require(Self.schema), durability: .buffered(every: .seconds(3600)), environment: fixedEnvironment())
        let link = try store.schema.required("Link")
        let next = try #require(link.relationship("next"))
        func blocks(_ count: Int) -> [(serials: SerialRuns, targets: [UInt64])] {
            stride(from: 1, through: count, by: 10_000).map { first in
                var serials = SerialRuns()
                serials.append(from: UInt64(first), count: min(10_000, count - first + 1))
                return (serials, (0..<UInt64(serials.count)).map { UInt64(first) + $0 + 1 })
            }
        }
        let inserts = blocks(Self.count).map { block in
            Op.upsert(UpsertBlock(entity: link.number, kind: .insert, serials: block.serials, identity: [], columns: []))
        }
        let links = blocks(Self.count - 1).map { block in
            Op.relink(LinkBlock(root: link.root, property: next.number, serials: block.serials, content: .toOne(block.targets)))
        }
        _ = try store.transact(Author()) { transaction in
            for op in inserts + links {
                try transaction.draft.apply(op)
                transaction.ops.append(op)
            }
        }
        return (store, ObjectID(root: link.root, serial: 1))
    }

    @Test func `a chain of very many objects is made, exported, verified, deleted by one cascade and replayed`() throws {
        let volume = MemoryVolume()
        let (store, first) = try made(volume)
        #expect(store.graph.objectCount == Self.count && store.graph.linkCount == Self.count - 1)
        #expect(store.graph.invariantFindings().isEmpty)
        #expect(store.graph.export.utf8.count(where: { $0 == UInt8(ascii: "\n") }) == Self.count)
        try store.write { try $0.delete(first) }
        #expect(store.graph.objectCount == 0 && store.graph.linkCount == 0)
        try store.close()
        let verification = try Verification(volume)
        #expect(verification.isSound && verification.digest == store.graph.digest() && verification.transactionCount == 3)
        let past = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: 2))).graph
        #expect(past.objectCount == Self.count && past.contains(first))
    }
}
