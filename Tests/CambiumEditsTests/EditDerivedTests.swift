import Cambium
import Testing

/// Edits of objects whose derived attributes change in the store.
@Suite struct EditDerivedTests {
    private let store: Store
    private let order: ObjectID
    private let line: ObjectID

    init() throws {
        let definition = SchemaDefinition {
            EntityDefinition("Order") {
                AttributeDefinition("name", .string, default: "")
                AttributeDefinition("total", .int64, derived: .sum("lines.price"))
                RelationshipDefinition("lines", to: "Line", .toMany, inverse: "order")
            }
            EntityDefinition("Line") {
                AttributeDefinition("price", .int64, default: 1)
                RelationshipDefinition("order", to: "Order", inverse: "lines")
            }
        }
        store = try Store.inMemory(schema: try Schema(definition))
        (order, line) = try store.write { transaction in
            let order = try transaction.insert("Order")
            return (order, try transaction.insert("Line", links: ["order": [order]]))
        }.result
    }

    @Test func `deleting an object does not conflict with a change of its derived attributes`() throws {
        var edit = store.edit()
        try edit.delete(order)
        try store.write { try $0.set(line, "price", to: 5) }
        #expect(try store.graph[order, "total"] == 5)
        #expect(edit.conflicts(with: store.graph).isEmpty)
        try store.commit(&edit)
        #expect(!store.graph.contains(order))
        #expect(store.graph.contains(line))
    }

    @Test func `deleting an object conflicts with a new link, which also changes a derived attribute`() throws {
        var edit = store.edit()
        try edit.delete(order)
        try store.write { _ = try $0.insert("Line", links: ["order": [order]]) }
        #expect(edit.conflicts(with: store.graph).map(\.id) == [order])
    }

    @Test func `undo stays if the store changed only derived attributes of an object`() throws {
        var edit = store.edit()
        try edit.set(order, "name", to: "first")
        try store.write { try $0.set(line, "price", to: 5) }
        try edit.rebase(onto: store.graph)
        #expect(try edit[order, "total"] == 5)
        edit.undo()
        #expect(try edit[order, "name"] == "")
        #expect(edit.isEmpty)
    }

    @Test func `reading a derived attribute that changed is a conflict`() throws {
        var edit = store.edit(tracking: .writesAndReads)
        let total = try edit[order, "total"]
        try edit.set(order, "name", to: .string(total.text))
        try store.write { try $0.set(line, "price", to: 5) }
        #expect(edit.conflicts(with: store.graph).map(\.use) == [.read])
    }
}
