import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Forged columns of links.
@Suite struct ForgedLinkTests {
    private static let count = 40

    private let timeline = Timeline()
    private let owner: Entity
    private let item: Entity

    /// Makes an owner whose lists have all items except the last one.
    init() throws {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Owner") {
                    RelationshipDefinition("items", to: "Item", .toMany, inverse: "owner")
                    RelationshipDefinition("steps", to: "Item", .orderedToMany, inverse: "stepOf")
                    RelationshipDefinition("likes", to: "Item", .toMany, inverse: "likedBy")
                }
                EntityDefinition("Item") {
                    RelationshipDefinition("owner", to: "Owner", inverse: "items")
                    RelationshipDefinition("stepOf", to: "Owner", inverse: "steps")
                    RelationshipDefinition("likedBy", to: "Owner", .toMany, inverse: "likes")
                }
            })
        owner = try #require(schema.entity("Owner"))
        item = try #require(schema.entity("Item"))
        try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
        let id = ObjectID(root: owner.number, serial: 1)
        var ops: [Op] = [.insert(id, entity: owner.number, [])]
        for serial in 1...UInt64(Self.count) {
            let other = ObjectID(root: item.number, serial: serial)
            ops.append(.insert(other, entity: item.number, []))
            if serial == UInt64(Self.count) { continue }
            for relationship in owner.relationships { ops.append(.link(id, relationship.number, target: other, index: nil)) }
        }
        try ProgramRun.commit(ops, to: timeline)
    }

    /// Returns the columns that connect the members of a list, each with a number that it must not contain in the last item.
    private func columns(_ list: ListLayout) -> [(slot: Int, wrong: UInt32)] {
        let row: UInt32 = 3
        return switch list.shape {
        case .chain(_, _, _, let previous, let next): [(previous, row), (next, row)]
        case .tree(_, let left, let right, let up, let size): [(left, row), (right, row), (up, row), (size, 1)]
        }
    }

    @Test func `the proof finds an object that is in no list but refers to members of one`() throws {
        let graph = timeline.head
        let stored = try StoredGraph(timeline)
        #expect(try stored.flaws() == [])
        var count = 0
        for link in graph.layout.links {
            guard case .list(let list, _) = link else { continue }
            let row = try #require(graph.reader.row(list.memberTable, serial: UInt64(Self.count)))
            for (slot, wrong) in columns(list) {
                let group = graph.reader.rows(list.memberTable).group(row)
                let leaf = group[slot]
                #expect(graph.reader.chunks.birth(leaf) > 0)
                let offset = LinkLeaf.valuesOffset + 4 * Int(row & PageLayout.rowMask)
                #expect(try !stored.flaws(leaf, offset, wrong).isEmpty, "column \(slot)")
                count += 1
            }
        }
        #expect(count == 6)
    }

    @Test func `the proof finds two links between the same objects`() throws {
        let likes = try #require(owner.relationship("likes"))
        var draft = timeline.draft()
        let (end, tables) = (draft.layout.end(likes), draft.layout.tables)
        guard case .edges(let table, let lists, let isSymmetric) = end.layout else { throw Finding("the links are not edges") }
        let row = try #require(draft.reader.row(lists[end.end].ownerTable, serial: 1))
        let target = try #require(draft.reader.row(lists[1 - end.end].ownerTable, serial: 1))
        draft.addEdge(end, tables[table], lists, isSymmetric, row, target, nil)
        try timeline.publish(draft)
        #expect(try !StoredGraph(timeline).flaws().isEmpty)
    }
}
