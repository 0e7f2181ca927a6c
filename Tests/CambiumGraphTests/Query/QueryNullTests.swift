import Cambium
import TestFixtures
import Testing

/// Conditions on values that are null, as Docs/Use/QUERIES.md defines them.
@Suite struct QueryNullTests {
    /// Note 1 has no rank and no items. Note 2 has the rank 7, and an item that has an owner with the rank 7. Note 3 has an item without
    /// an owner.
    private let graph: Graph

    init() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Note") {
                    AttributeDefinition("rank", .int64, .optional)
                    AttributeDefinition("other", .int64, .optional)
                    RelationshipDefinition("items", to: "Item", .toMany, inverse: "note")
                    RelationshipDefinition("owned", to: "Item", .toMany, inverse: "owner")
                }
                EntityDefinition("Item") {
                    RelationshipDefinition("note", to: "Note", inverse: "items")
                    RelationshipDefinition("owner", to: "Note", inverse: "owned")
                }
            })
        try store.write { transaction in
            try transaction.insert("Note")
            let second = try transaction.insert("Note", ["rank": 7])
            let third = try transaction.insert("Note", ["rank": 7, "other": 7])
            try transaction.insert("Item", links: ["note": [second], "owner": [second]])
            try transaction.insert("Item", links: ["note": [third]])
        }
        graph = store.graph
    }

    private func notes(_ condition: String) throws -> [UInt64] { try graph.find(Query("Note", where: condition)).map(\.serial) }

    @Test(arguments: [
        ("rank in {other, null}", [3]), ("rank in {other, 7}", [2, 3]), ("items.@max.owner.rank in {null, 7}", [2]),
        ("not rank in {other}", [1, 2]),
    ])
    func `null is not in a list that has paths`(condition: String, expected: [UInt64]) throws {
        #expect(try notes(condition) == expected)
    }

    @Test(arguments: [
        ("items.owner.rank contains null", []), ("null in items.owner.rank", []), ("items.owner contains null", []),
        ("items.owner.other contains other", []), ("other in items.owner.other", []), ("items.owner.rank contains rank", [2]),
        ("not items.owner.rank contains null", [1, 2, 3]), ("any items.owner.rank == null", [3]),
    ])
    func `a path over several objects does not contain null`(condition: String, expected: [UInt64]) throws {
        #expect(try notes(condition) == expected)
    }

    @Test(arguments: [
        ("all items.owner where (rank == 8)", [1, 3]), ("none items.owner where (not rank == 8)", [1, 3]),
        ("any items.owner where (not rank == 8)", [2]), ("all items.owner.rank == 8", [1]),
    ])
    func `a missing object is not among the objects of a quantifier`(condition: String, expected: [UInt64]) throws {
        #expect(try notes(condition) == expected)
    }
}
