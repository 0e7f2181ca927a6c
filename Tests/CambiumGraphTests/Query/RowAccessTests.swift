import CambiumModel
import Testing

@testable import CambiumGraph

/// Finding rows without a scan.
@Suite struct RowAccessTests {
    private static let itemCount = 3000

    /// A graph with one box, which has all items.
    private static func graph() throws -> Graph {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Item", indexes: [["size"]]) {
                    AttributeDefinition("size", .int64, .optional)
                    RelationshipDefinition("box", to: "Box", inverse: "items")
                }
                EntityDefinition("Box") { RelationshipDefinition("items", to: "Item", .toMany, inverse: "box") }
            })
        let (item, box) = (try schema.required("Item"), try schema.required("Box"))
        let link = try #require(item.relationship("box")).number
        let boxID = ObjectID(root: box.root, serial: 1)
        var ops: [Op] = [.schema(schema.catalog), .insert(boxID, entity: box.number, [])]
        for serial in 1...UInt64(itemCount) {
            let id = ObjectID(root: item.root, serial: serial)
            ops += [.insert(id, entity: item.number, []), .link(id, link, target: boxID, index: nil)]
        }
        let timeline = Timeline()
        try ProgramRun.commit(ops, to: timeline)
        return timeline.head
    }

    /// Returns the number of rows that an index of the items finds, and the number of rows that the items of the box have.
    private static func readCounts(_ graph: Graph) throws -> [Int] {
        let (item, box) = (try graph.schema.required("Item"), try graph.schema.required("Box"))
        let index = try #require(graph.orderedIndexes(of: item).first)
        let row = try #require(graph.place(of: ObjectID(root: box.root, serial: 1))).row
        let step = LinkStep(try #require(item.relationship("box")), graph.layout)
        return [RowAccess.index(index, [index.all, index.all]), .inverse(step, ConstantNode(true), .identity([row]))].map { access in
            var count = 0
            access.forEach(QueryContext(graph.reader, graph.layout), AccessCounts()) { _ in count += 1 }
            return count
        }
    }

    @Test func `reading candidates ends soon after the task was cancelled`() async throws {
        let graph = try Self.graph()
        #expect(try Self.readCounts(graph) == [2 * Self.itemCount, Self.itemCount])
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try Self.readCounts(graph)
        }
        let counts = try await task.value
        #expect(counts.allSatisfy { $0 <= 1024 }, "\(counts)")
    }
}
