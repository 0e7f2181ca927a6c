import Cambium
import CambiumLog
import TestFixtures
import Testing

@Suite struct DeniedDeletionTests {
    /// Makes a store with a customer whose orders deny its deletion and must have a customer.
    private static func store(orders: Int) throws -> Store {
        var definition = SchemaDefinition {
            EntityDefinition("Customer", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                RelationshipDefinition("orders", to: "Order", .toMany, inverse: "customer", onDelete: .deny)
                RelationshipDefinition("notes", to: "Note", .toMany, inverse: "customer")
            }
            EntityDefinition("Order", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                RelationshipDefinition("customer", to: "Customer", inverse: "orders")
            }
            EntityDefinition("Note") {
                AttributeDefinition("text", .string)
                RelationshipDefinition("customer", to: "Customer", inverse: "notes")
            }
        }
        for entity in 1...2 { definition.entities[entity].relationships[0].minCount = 1 }
        let store = try Store.inMemory(schema: try Schema(definition))
        if orders > 0 { try store.importing("Order", (1...orders).map { "{\"id\":\($0),\"customer\":1}" }.joined(separator: "\n")) }
        try store.importing("Customer", "{\"id\":1}")
        return store
    }

    private func error(_ store: Store, _ body: (inout WriteTransaction) throws -> Void) -> CambiumError? {
        do {
            try store.write { try body(&$0) }
            return nil
        } catch { return error as? CambiumError }
    }

    private func id(_ text: String, _ store: Store) throws -> ObjectID { try #require(store.schema.id(text)).id }

    @Test func `a deletion without action leaves members without their mandatory object`() throws {
        let schema = try Schema {
            EntityDefinition("Customer") {
                AttributeDefinition("name", .string)
                RelationshipDefinition("notes", to: "Note", .toMany, inverse: "customer", onDelete: .noAction)
            }
            EntityDefinition("Note") {
                AttributeDefinition("text", .string)
                RelationshipDefinition("customer", to: "Customer", inverse: "notes", min: 1)
            }
        }
        let store = try Store.inMemory(schema: schema)
        let (customer, note) = try store.write { transaction in
            let customer = try transaction.insert("Customer", ["name": "Ada"])
            return (customer, try transaction.insert("Note", ["text": "x"], links: ["customer": [customer]]))
        }.result
        try store.write { try $0.delete(customer) }
        #expect(try store.graph.members("customer", of: note) == [])
        let other = try store.write { try $0.insert("Customer", ["name": "Bob"]) }.result
        try store.write { try $0.link(note, "customer", other) }
        #expect(throws: CambiumError.self) { try store.write { try $0.unlink(note, "customer", other) } }
    }

    @Test func `a denied deletion is reported first, and its consequences are counted`() throws {
        let store = try Self.store(orders: 1843)
        let customer = try id("Customer/1", store)
        let error = try #require(error(store) { try $0.delete(customer) })
        #expect(error.message == "Customer/1: cannot be deleted while 'orders' has Order/1. Delete or unlink Order/1 first.")
        #expect(error.details.count == 1 && error.details.first?.contains("1843 other rules") == true)
        let found = try #require(error.underlying as? RuleViolations)
        #expect(found.violations.count == 1844 && found.consequenceCount == 1843)
        #expect(found.violations[0].rule == .deleteDenied(relationship: "orders", by: "Order/1"))
    }

    @Test func `other mistakes of the same transaction are reported with a denied deletion`() throws {
        let store = try Self.store(orders: 3)
        let customer = try id("Customer/1", store)
        let error = try #require(
            error(store) { transaction in
                try transaction.delete(customer)
                try transaction.insert("Note")
            })
        let found = try #require(error.underlying as? RuleViolations)
        #expect(found.consequenceCount == 3 && found.violations.count == 6)
        #expect(error.details.count == 3)
        #expect(error.details.contains("Note/1: 'text' must have a value. Set 'text'."), "\(error.details)")
        #expect(found.violations.dropLast(3).contains { $0.rule == .mandatoryAttribute("text") })
    }

    @Test func `a deletion that no relationship denies is refused for the rules that it breaks`() throws {
        let store = try Self.store(orders: 0)
        let customer = try id("Customer/1", store)
        let note = try store.write { transaction in
            let note = try transaction.insert("Note", ["text": .string("a")])
            try transaction.link(note, "customer", customer)
            return note
        }.0
        let error = try #require(error(store) { try $0.delete(customer) })
        let found = try #require(error.underlying as? RuleViolations)
        #expect(found.consequenceCount == 0 && found.violations.map(\.object) == ["Note/\(note.serial)"])
        #expect(error.message.contains("'customer' must lead to at least one object. Link an object."))
    }
}
