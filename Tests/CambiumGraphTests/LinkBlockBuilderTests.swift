import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Lists that are too long for one block of links.
@Suite struct LinkBlockBuilderTests {
    private let timeline = Timeline()
    private let box: Entity
    private let item: Entity

    /// A box, and twenty items.
    init() throws {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Box") {
                    RelationshipDefinition("items", to: "Item", .toMany, inverse: "boxes")
                    RelationshipDefinition("queue", to: "Item", .orderedToMany)
                }
                EntityDefinition("Item") { RelationshipDefinition("boxes", to: "Box", .toMany, inverse: "items") }
            })
        (box, item) = (try schema.required("Box"), try schema.required("Item"))
        var ops: [Op] = [.schema(schema.catalog), .insert(ObjectID(root: box.number, serial: 1), entity: box.number, [])]
        for serial in 1...20 { ops.append(.insert(ObjectID(root: item.number, serial: UInt64(serial)), entity: item.number, [])) }
        try ProgramRun.commit(ops, to: timeline)
    }

    private func members(_ relationship: Relationship) throws -> [UInt64] {
        try #require(timeline.head.members(relationship, of: ObjectID(root: box.number, serial: 1))).map(\.serial)
    }

    private func longestList(_ block: LinkBlock) -> Int {
        switch block.content {
        case .toOne(let targets): targets.count
        case .unordered(_, let removed, _, let added): max(removed.count, added.count)
        case .ordered(_, _, let suffixes): suffixes.count
        }
    }

    @Test func `a long list of unordered members is divided, and the blocks have the same members`() throws {
        let items = try box.requiredRelationship("items")
        var builder = LinkBlockBuilder(relationship: items, kind: .unordered, memberCountMax: 3)
        builder.addUnordered(1) { $0 += [10, 9, 8, 7, 6, 5, 4, 3, 2, 1] }
        var blocks = builder.take()
        #expect(blocks.count == 4 && blocks.allSatisfy { longestList($0) <= 3 })
        try ProgramRun.commit(blocks.map { .relink($0) }, to: timeline)
        #expect(try members(items) == Array(1...10))
        builder.addUnordered(1, Array(1...7), Array(11...15))
        blocks = builder.take()
        #expect(blocks.count == 5 && blocks.allSatisfy { longestList($0) <= 3 })
        try ProgramRun.commit(blocks.map { .relink($0) }, to: timeline)
        #expect(try members(items) == Array(8...15))
    }

    @Test func `a long list of ordered members is divided, and the blocks have the same order`() throws {
        let queue = try box.requiredRelationship("queue")
        var builder = LinkBlockBuilder(relationship: queue, kind: .ordered, memberCountMax: 3)
        for (kept, suffix) in [(0, [5, 4, 3, 2, 1, 9, 8]), (2, [1, 2, 3, 10, 9, 11, 12, 13])] as [(Int, [UInt64])] {
            let before = try Array(members(queue).prefix(kept))
            builder.addOrdered(1, kept: kept, suffix: suffix[...])
            let blocks = builder.take()
            #expect(blocks.count == 3 && blocks.allSatisfy { longestList($0) <= 3 })
            try ProgramRun.commit(blocks.map { .relink($0) }, to: timeline)
            #expect(try members(queue) == before + suffix)
        }
    }

    @Test func `many removed members fill a block`() throws {
        var builder = LinkBlockBuilder(relationship: try box.requiredRelationship("items"), kind: .unordered)
        builder.addUnordered(1, Array(1...70_000), [])
        #expect(builder.takeFull().count == 1)
        #expect(builder.take().isEmpty)
    }
}
