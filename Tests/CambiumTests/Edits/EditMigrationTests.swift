import Cambium
import Testing

/// Edits whose base has an earlier schema than the store.
@Suite struct EditMigrationTests {
    private func prepare(_ change: (inout Edit, ObjectID) throws -> Void) throws -> (store: Store, id: ObjectID, edit: Edit) {
        let old = SchemaDefinition {
            EntityDefinition("A") {
                AttributeDefinition("name", .string, default: "")
                AttributeDefinition("size", .int32, .optional)
            }
        }
        let store = try Store.inMemory(schema: try Schema(old))
        let id = try store.write { try $0.insert("A") }.result
        var edit = store.edit()
        try change(&edit, id)
        return (store, id, edit)
    }

    @Test func `an edit follows renamed and widened attributes`() throws {
        var (store, id, edit) = try prepare { edit, id in
            try edit.set(id, "name", to: "a")
            try edit.set(id, "size", to: 3)
            _ = try edit.insert("A", ["name": "b"])
        }
        try store.migrate(
            to: SchemaDefinition {
                EntityDefinition("A") {
                    AttributeDefinition("title", .string, default: "", renamedFrom: "name")
                    AttributeDefinition("size", .int64, .optional)
                }
            })
        try store.commit(&edit)
        #expect(try store.graph[id, "title"] == "a")
        #expect(try store.graph[id, "size"] == 3)
        #expect(try store.graph.count(of: "A") == 2)
    }

    @Test func `an attribute that a migration removed is a conflict`() throws {
        var (store, id, edit) = try prepare { edit, id in
            try edit.set(id, "size", to: 3)
            try edit.set(id, "name", to: "a")
        }
        try store.migrate(to: SchemaDefinition { EntityDefinition("A") { AttributeDefinition("size", .int32, .optional) } })
        #expect(code { try store.commit(&edit) } == .conflict)
        #expect(try edit[id, "name"] == "a")
        edit.undo()
        try store.commit(&edit)
        #expect(try store.graph[id, "size"] == 3)
    }

    @Test func `a value that the new schema forbids is refused`() throws {
        var (store, id, edit) = try prepare { edit, id in try edit.set(id, "size", to: 30) }
        try store.migrate(
            to: SchemaDefinition {
                EntityDefinition("A") {
                    AttributeDefinition("name", .string, default: "")
                    AttributeDefinition("size", .int32, .optional, max: 10)
                }
            })
        #expect(code { try store.commit(&edit) } == .ruleViolated)
        #expect(try store.graph[id, "size"] == .null)
    }
}
