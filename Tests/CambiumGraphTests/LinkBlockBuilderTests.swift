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
        for list in [[5, 4, 3, 2, 1, 9, 8], [1, 2, 3, 10, 9, 11, 12, 13]] as [[UInt64]] {
            let before = try members(queue).filter { !list.contains($0) }
            builder.addLast(1, list[...])
            let blocks = builder.take()
            #expect(blocks.count == 3 && blocks.allSatisfy { longestList($0) <= 3 })
            try ProgramRun.commit(blocks.map { .relink($0) }, to: timeline)
            #expect(try members(queue) == before + list)
        }
    }

    @Test func `a replay of a long list in another order changes only the owner and the members that come or leave`() throws {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Box") { RelationshipDefinition("queue", to: "Item", .orderedToMany, inverse: "boxes") }
                EntityDefinition("Item") { RelationshipDefinition("boxes", to: "Box", .orderedToMany, inverse: "queue") }
            })
        let (box, item) = (try schema.required("Box"), try schema.required("Item"))
        let (owner, queue) = (ObjectID(root: box.number, serial: 1), try box.requiredRelationship("queue").number)
        let items = (1...9).map { ObjectID(root: item.number, serial: UInt64($0)) }
        var ops: [Op] = [.schema(schema.catalog), .insert(owner, entity: box.number, [])]
        for id in items { ops.append(.insert(id, entity: item.number, [])) }
        for id in items.dropLast() { ops.append(.link(owner, queue, target: id, index: nil)) }
        let (written, replayed) = (Timeline(), Timeline())
        for timeline in [written, replayed] { try ProgramRun.commit(ops, to: timeline) }
        var limits = HubLimits()
        limits.blockMemberCountMax = 2
        var draft = written.draft()
        draft.trackChanges(limits)
        for id in items.dropLast() { try draft.apply(.move(owner, queue, target: id, index: 0)) }
        try draft.apply(.unlink(owner, queue, target: items[0]))
        try draft.apply(.link(owner, queue, target: items[8], index: 3))
        var derived: [Op] = []
        try draft.deriveOps { derived.append($0) }
        try written.publish(draft)
        try ProgramRun.commit(derived, to: replayed)
        #expect(replayed.head.digest() == written.head.digest())
        var changed: [ObjectID] = []
        for id in [owner] + items {
            let (place, other) = (try #require(replayed.head.place(of: id)), try #require(written.head.place(of: id)))
            #expect(replayed.head.provenance(of: place) == written.head.provenance(of: other))
            if replayed.head.provenance(of: place).changed.rawValue == 2 { changed.append(id) }
        }
        #expect(changed == [owner, items[0], items[8]])
    }

    @Test func `many removed members fill a block`() throws {
        var builder = LinkBlockBuilder(relationship: try box.requiredRelationship("items"), kind: .unordered)
        builder.addUnordered(1, Array(1...70_000), [])
        #expect(builder.takeFull().count == 1)
        #expect(builder.take().isEmpty)
    }
}
