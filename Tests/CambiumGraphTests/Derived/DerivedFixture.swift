import Cambium
import TestFixtures
import Testing

@testable import CambiumLog

/// Orders with items, whose counts and sums are derived.
struct DerivedOrders {
    let volume = MemoryVolume()
    let store: Store

    static let definition = SchemaDefinition {
        EntityDefinition("Order", identity: ["number"], indexes: [["total"], ["searchName"]]) {
            AttributeDefinition("number", .int64)
            AttributeDefinition("name", .string, .optional)
            AttributeDefinition("searchName", .string, .optional, derived: .folded("name"))
            AttributeDefinition("itemCount", .int32, derived: .count("items"))
            AttributeDefinition("total", .decimal, derived: .sum("items.price"))
            AttributeDefinition("pieces", .int64, derived: .sum("items.pieces"))
            AttributeDefinition("weight", .double, derived: .sum("items.weight"))
            AttributeDefinition("first", .date, .optional, derived: .min("items.made"))
            AttributeDefinition("last", .string, .optional, derived: .max("items.key"))
            RelationshipDefinition("items", to: "Item", .toMany, inverse: "order", onDelete: .cascade)
        }
        EntityDefinition("Item", identity: ["key"]) {
            AttributeDefinition("key", .string)
            AttributeDefinition("price", .decimal, .optional)
            AttributeDefinition("pieces", .int64, .optional)
            AttributeDefinition("weight", .float, .optional)
            AttributeDefinition("made", .date, .optional)
            RelationshipDefinition("order", to: "Order", inverse: "items")
            RelationshipDefinition("tags", to: "Tag", .toMany)
        }
        EntityDefinition("Tag", identity: ["name"]) {
            AttributeDefinition("name", .string)
        }
    }

    static let rows = #"""
        {"number":1,"name":"Ärger & Straße","items":[{"key":"a","price":1.10,"pieces":2,"weight":0.5,"made":"2021-01-02T00:00:00Z"},
         {"key":"b","price":2.25,"pieces":3,"weight":1.25,"made":"2020-01-02T00:00:00Z"}]}
        {"number":2,"items":[{"key":"c"}]}
        {"number":3,"name":"ABC"}
        """#

    init(_ definition: SchemaDefinition = Self.definition) throws {
        store = try Store.create(volume, schema: try Schema(definition), durability: .synced, environment: fixedEnvironment())
        try store.importing("Order", Self.rows)
    }

    /// Returns the values of an attribute, by ascending id.
    func values(_ attribute: String, _ entity: String = "Order") throws -> [String] {
        let graph = store.graph
        let entity = try graph.schema.required(entity)
        let found = try entity.requiredAttribute(attribute)
        return graph.objects(of: entity).map { (graph.value(of: found, of: $0) ?? .null).text }
    }

    func order(_ number: Int64) throws -> ObjectID { try #require(try store.graph.find("Order", identity: [.int(number)])) }
    func item(_ key: String) throws -> ObjectID { try #require(try store.graph.find("Item", identity: [.string(key)])) }

    /// Returns the ops in the log.
    func ops() throws -> [Op] {
        var ops: [Op] = []
        try TransactionLog(volume).forEach { ops += try $0.ops() }
        return ops
    }

    /// Expects that a replay of the log leads to the same graph.
    func check() throws {
        #expect(store.graph.invariantFindings() == [])
        let again = try Store.reopened(volume)
        #expect(again.graph.digest() == store.graph.digest())
        #expect(again.graph.invariantFindings() == [])
        #expect(again.graph.export == store.graph.export)
        #expect(again.graph.lastChanges == store.graph.lastChanges)
    }
}

extension Graph {
    /// The last transaction that changed each object.
    fileprivate var lastChanges: [ObjectID: TransactionNumber] {
        var changes: [ObjectID: TransactionNumber] = [:]
        for entity in schema.roots {
            for id in objects(of: entity) { changes[id] = place(of: id).map { provenance(of: $0).changed } }
        }
        return changes
    }
}
