import Cambium
import CambiumLog
import TestFixtures
import Testing

/// Changes of a schema that concern derived attributes.
@Suite struct DerivedMigrationTests {
    private func migrate(_ orders: DerivedOrders, _ change: (inout SchemaDefinition) -> Void) throws {
        var definition = orders.store.schema.definition
        change(&definition)
        try orders.store.migrate(to: definition)
        try orders.check()
    }

    @Test func `a new derived attribute is computed for all objects`() throws {
        let orders = try DerivedOrders()
        try migrate(orders) {
            $0["Order"].attributes.append(AttributeDefinition("heaviest", .float, .optional, derived: .max("items.weight")))
        }
        #expect(try orders.values("heaviest") == ["1.25", Value.null.text, Value.null.text])
    }

    @Test func `another expression computes the values again`() throws {
        let orders = try DerivedOrders()
        try migrate(orders) { $0["Order"][attribute: "last"].derivation = .min("items.key") }
        #expect(try orders.values("last") == ["a", "c", Value.null.text])
    }

    @Test func `a derived attribute of another type is a new attribute`() throws {
        let orders = try DerivedOrders()
        try migrate(orders) { $0["Order"][attribute: "total"] = AttributeDefinition("total", .int64, derived: .count("items")) }
        #expect(try orders.values("total") == ["2", "1", "0"])
    }

    @Test func `renamed sources keep the expression`() throws {
        let orders = try DerivedOrders()
        try migrate(orders) {
            ($0["Item"][attribute: "price"].name, $0["Item"].attributes[1].formerName) = ("cost", "price")
            $0["Order"][attribute: "total"].derivation = .sum("items.cost")
        }
        #expect(try orders.values("total") == ["3.35", "0", "0"])
    }

    @Test func `a derived attribute that becomes an ordinary one keeps its values`() throws {
        let orders = try DerivedOrders()
        try migrate(orders) { $0["Order"][attribute: "pieces"].derivation = nil }
        let (first, a) = (try orders.order(1), try orders.item("a"))
        try orders.store.write { try $0.set(a, "pieces", to: 50) }
        #expect(try orders.values("pieces") == ["5", "0", "0"])
        try orders.store.write { try $0.set(first, "pieces", to: 6) }
        #expect(try orders.values("pieces") == ["6", "0", "0"])
    }

    @Test func `nulls of a derived attribute that becomes mandatory get its default, and the report counts them`() throws {
        var definition = DerivedOrders.definition
        definition["Order"][attribute: "last"].presence = .mandatory
        let orders = try DerivedOrders(definition)
        definition["Order"][attribute: "last"] = AttributeDefinition("last", .string, default: "unknown")
        let report = try orders.store.migrate(to: definition)
        try orders.check()
        #expect(try orders.values("last") == ["b", "c", "unknown"])
        #expect(report.entries.reduce(0) { $0 + $1.objectCount } == 1)
    }

    @Test func `an ordinary attribute cannot become a derived one by itself`() throws {
        var definition = DerivedOrders.definition
        definition["Order"][attribute: "pieces"].derivation = nil
        definition["Order"][attribute: "pieces"].presence = .optional
        let orders = try DerivedOrders(definition)
        let first = try orders.order(1)
        try orders.store.write { try $0.set(first, "pieces", to: 6) }
        #expect(throws: CambiumError.self) { try migrate(orders) { $0["Order"][attribute: "pieces"].derivation = .sum("items.pieces") } }
    }

    @Test func `removed members leave the sums`() throws {
        let orders = try DerivedOrders()
        try migrate(orders) { $0["Order"][relationship: "items"].cardinality = .orderedToMany }
        #expect(try orders.values("itemCount") == ["2", "1", "0"])
    }

    /// Tags that count their documents. A document of the entity `holder`, or of its sub-entities, can have tags.
    private static func documents(holder: String) -> SchemaDefinition {
        var definition = SchemaDefinition {
            EntityDefinition("Document")
            EntityDefinition("Page", parent: "Document")
            EntityDefinition("Tag") {
                AttributeDefinition("documentCount", .int64, derived: .count("documents"))
                RelationshipDefinition("documents", to: holder, .toMany, inverse: "tags")
            }
        }
        definition[holder].relationships = [RelationshipDefinition("tags", to: "Tag", .toMany, inverse: "documents")]
        return definition
    }

    @Test func `objects that lose a moved relationship leave the counts`() throws {
        let store = try Store.create(MemoryVolume(), schema: Schema(Self.documents(holder: "Document")), durability: .synced)
        let tag = try store.write { transaction in
            let tag = try transaction.insert("Tag")
            for entity in ["Document", "Page"] { try transaction.insert(entity, links: ["tags": [tag]]) }
            return tag
        }.result
        #expect(try store.graph[tag, "documentCount"] == .int(2))
        try store.migrate(to: Self.documents(holder: "Page"))
        #expect(try store.graph[tag, "documentCount"] == .int(1))
        #expect(store.graph.invariantFindings() == [])
    }
}
