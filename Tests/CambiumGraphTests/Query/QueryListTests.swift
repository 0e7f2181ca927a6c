import Cambium
import TestFixtures
import Testing

/// Values in long lists, and in lists with paths or with elements of several types.
@Suite struct QueryListTests {
    private let graph: Graph

    init() throws { graph = try .ofRankedNotes() }

    @Test func `a condition on groups tests a long list of constants for many groups`() throws {
        let store = try Store.inMemory(schema: Schema { EntityDefinition("Note") { AttributeDefinition("rank", .int64) } })
        try store.write { transaction in for rank in 1...3_000 { try transaction.insert("Note", ["rank": .int(Int64(rank))]) } }
        let ranks = Operand.values((0..<30_000).map { .int(2 * $0) })
        let rank = try Operand(parsing: "rank")
        let grouping = Grouping(by: [rank], [.count, Aggregate(.avg, of: rank)], having: try Condition(parsing: "not rank in $ranks"))
        let rows = try store.graph.aggregate(Query("Note", where: "rank > 0", ["ranks": ranks], limit: 2), grouping)
        #expect(rows.map(\.group) == [[.value(.int(1))], [.value(.int(3))]])
    }

    @Test func `a condition on groups reads a long list once, even if it has a path`() throws {
        let store = try Store.inMemory(schema: Schema { EntityDefinition("Note") { AttributeDefinition("rank", .int64) } })
        try store.write { transaction in for rank in 1...3_000 { try transaction.insert("Note", ["rank": .int(Int64(rank))]) } }
        let rank = try Operand(parsing: "rank")
        let list = [try Operand(parsing: "count")] + (Int64(0)..<30_000).map { Operand.value(.int(2 * $0)) }
        let isListed = Condition.comparison(Comparison(rank, .isIn, Operand(.list(list))))
        let rows = try store.graph.aggregate(Query("Note", limit: 2), Grouping(by: [rank], [.count], having: .not(isListed)))
        #expect(rows.map(\.group) == [[.value(.int(3))], [.value(.int(5))]])
    }

    @Test func `a function is computed once for all constants of a list`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Box") { RelationshipDefinition("items", to: "Item", .toMany, inverse: "box") }
                EntityDefinition("Item") {
                    AttributeDefinition("price", .int64)
                    RelationshipDefinition("box", to: "Box", inverse: "items")
                }
            })
        try store.write { transaction in
            for price in 1...1_000 {
                let box = try transaction.insert("Box")
                try transaction.insert("Item", ["price": .int(Int64(price))], links: ["box": [box]])
            }
        }
        let list = Operand(.list((Int64(0)..<30_000).map { .value(.int(2 * $0)) }))
        let isListed = Condition.comparison(Comparison(try Operand(parsing: "items.@sum.price"), .isIn, list))
        #expect(try store.graph.count(Query("Box", where: isListed)) == 500)
    }

    @Test(arguments: [
        ("notes.@count in {0, 1, 3, 4, 5, 6, 7, 8, 9, 2}", [1, 2]), ("notes.@count in {0, 1, 3, 4, 5, 6, 7, 8, 9, 2.5, null}", []),
        ("notes.@sum.rank in {4, 7.5, null}", [2]), ("notes.@sum.rank in {6.0, 1}", [1]), ("notes.@avg.rank in {3, 1e999}", [1]),
        ("notes.@max.title in[c] {\"N3\"}", [2]), ("notes.@max.title in {\"N3\"}", []), ("not notes.@min.rank in {1, 5}", [1]),
        ("notes.@sum.rank in {notes.@count, 4}", [2]), ("notes.@sum.rank in {}", []),
    ])
    func `the result of a function is found in a list, whatever the types of its elements`(condition: String, expected: [UInt64]) throws {
        #expect(try graph.find(Query("City", where: condition)).map(\.serial) == expected)
    }

    @Test(arguments: [
        ("rank in {2, 5.0, 7.5, null}", [2, 5]), ("rank in {3.0e0}", [3]), ("avg.rank in {4, 6.5}", [4]), ("avg.rank in {-0.0, 2.0}", [2]),
        ("title in[c] {\"N3\", \"N33\"}", [3]), ("title in {\"N3\"}", []), ("rank in {}", []), ("rank in {1, count}", [1]),
        ("not rank in {2, 3, 4}", [1, 5, 6]), ("2 in {2, 5} and rank < 2", [1]),
    ])
    func `a condition on groups finds a value in a list, whatever the types of its elements`(having: String, expected: [Int64]) throws {
        let (rank, title) = (try Operand(parsing: "rank"), try Operand(parsing: "title"))
        let grouping = Grouping(by: [rank, title], [.count, Aggregate(.avg, of: rank)], having: try Condition(parsing: having))
        let rows = try graph.aggregate(Query("Note"), grouping)
        #expect(rows.map { $0.group[0] } == expected.map { .value(.int($0)) })
    }

    @Test(arguments: [
        ("\"2020-06-01\" between {\"2019-01-01\", max.city.born}", 2), ("\"2021-01-01\" in {null, max.city.born}", 2),
        ("\"2021-01-01\" in {\"2019-01-01\", max.city.born}", 2), ("\"2020-06-01\" between {max.city.born, \"2022-01-01\"}", 2),
    ])
    func `a constant before a list in a condition on groups has the type of the list's path`(having: String, count: Int) throws {
        #expect(try graph.groups(by: "rank", having: having).count == count)
    }

    @Test(arguments: [
        ("\"2001-01-01\" in {\"2001-01-01T00:00:00Z\", max.at}", true), ("\"2001-01-01\" in {\"2001-01-02\", max.at}", false),
        ("\"AQI=\" in {max.bytes, \"AQI=\"}", true), ("max.at == null", true), ("\"2001-01-01\" == max.at", false),
        ("\"00112233-4455-6677-8899-aabbccddeeff\" in {\"00112233-4455-6677-8899-AABBCCDDEEFF\", max.key}", true),
    ])
    func `a constant in a condition on groups has the type of a function whose value is null`(having: String, isKept: Bool) throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Note") {
                    AttributeDefinition("at", .date, .optional)
                    AttributeDefinition("bytes", .data, .optional)
                    AttributeDefinition("key", .uuid, .optional)
                }
            })
        try store.write { _ = try $0.insert("Note") }
        let functions = try ["at", "bytes", "key"].map { Aggregate(.max, of: try Operand(parsing: $0)) }
        let grouping = Grouping(by: [try Operand(parsing: "at")], functions, having: try Condition(parsing: having))
        #expect(try store.graph.aggregate(Query("Note"), grouping).count == (isKept ? 1 : 0))
    }

    @Test func `an object before a list in a condition on groups is compared with the list's path`() throws {
        let city = try #require(try graph.first(Query("City")))
        #expect(try graph.groups(by: "city", having: "City/1 in {null, city}") == [.object(city)])
        #expect(try graph.groups(by: "city", having: "City/1 in {city, null}") == [.object(city)])
    }

    @Test(arguments: ["Place/1 in {near, far}", "Place/1 in {far, near}", "\"Place/1\" in {near, far}"])
    func `an object before a list in a condition on groups is found although another path of the list is null`(having: String) throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Place") {
                    RelationshipDefinition("near", to: "Place")
                    RelationshipDefinition("far", to: "Place")
                }
            })
        try store.write { transaction in
            let place = try transaction.insert("Place")
            try transaction.insert("Place", links: ["far": [place]])
        }
        let keys = [try Operand(parsing: "near"), try Operand(parsing: "far")]
        let grouping = Grouping(by: keys, [.count], having: try Condition(parsing: having))
        #expect(try store.graph.aggregate(Query("Place"), grouping).count == 1)
    }
}
