import Cambium
import TestFixtures
import Testing

/// Conditions on groups, and the sort keys of groups.
@Suite struct GroupConditionTests {
    private let graph: Graph

    init() throws { graph = try .ofRankedNotes() }

    @Test func `a condition on groups has parameters of its own, also lists`() throws {
        #expect(try graph.groups(by: "city", having: "count > $n", where: "rank > $m", ["n": 1, "m": 0]).count == 3)
        #expect(try graph.groups(by: "rank", having: "rank in $n", ["n": [2, 5]]) == [.value(.int(2)), .value(.int(5))])
        #expect(try graph.groups(by: "rank", having: "rank between $n", where: "rank > 0", ["n": [5, 9]]).count == 2)
        #expect(code(of: { _ = try graph.groups(by: "rank", having: "rank == $n", ["n": [1]]) }) == .invalidInput)
        #expect(code(of: { _ = try graph.groups(by: "rank", having: "rank == $n") }) == .invalidInput)
        #expect(code(of: { _ = try graph.groups(by: "rank", having: "rank > 1", where: "rank > 0", ["n": 1]) }) == .invalidInput)
    }

    @Test func `a condition on groups compares objects, and dates on either side`() throws {
        let city = try #require(try graph.first(Query("City")))
        #expect(try graph.groups(by: "city", having: "city == City/1") == [.object(city)])
        #expect(try graph.groups(by: "city", having: "city == \"City/1\"") == [.object(city)])
        #expect(try graph.groups(by: "city", having: "\"2020-06-01T00:00:00Z\" < max.city.born").count == 1)
        #expect(try graph.groups(by: "city", having: "max.city.born < \"2020-06-01T00:00:00Z\"") == [.object(city)])
        let (date, id) = (Operand.value(.string("2020-06-01T00:00:00Z")), Operand.value(.string("City/1")))
        #expect(try graph.groups(by: "city", having: "max.city.born < $date", ["date": date]) == [.object(city)])
        #expect(try graph.groups(by: "city", having: "city in $ids", ["ids": Operand(.list([id]))]) == [.object(city)])
    }

    @Test func `a condition on groups compares texts with patterns`() throws {
        let titles = ["n2", "n3", "n4"].map { QueryValue.value(.string($0)) }
        #expect(try graph.groups(by: "title", having: "title matches \"n[2-4]\"") == titles)
        #expect(try graph.groups(by: "title", having: "title like \"*\" and not title like \"?1\"").count == 5)
        #expect(try graph.groups(by: "title", having: "title like[c] $pattern", ["pattern": "N3*"]) == [titles[1]])
        #expect(code(of: { _ = try graph.groups(by: "title", having: "title matches \"(\"") }) == .invalidInput)
        #expect(code(of: { _ = try graph.groups(by: "rank", having: "rank like \"1\"") }) == .invalidInput)
    }

    @Test(arguments: ["sum.like > 2", "sum.#like > 2"])
    func `a condition on groups names a function of an attribute whose name is a word`(condition: String) throws {
        let store = try Store.inMemory(schema: Schema { EntityDefinition("Note") { AttributeDefinition("like", .int64) } })
        try store.write { transaction in for like in 1...3 { try transaction.insert("Note", ["like": .int(Int64(like))]) } }
        let like = try Operand(parsing: "#like")
        let grouping = Grouping(by: [like], [Aggregate(.sum, of: like)], having: try Condition(parsing: condition))
        let rows = try store.graph.aggregate(Query("Note", sort: "-sum.like"), grouping)
        #expect(rows.map(\.group) == [[.value(.int(3))]])
    }

    @Test func `a condition on groups distinguishes patterns by their bytes`() throws {
        let store = try Store.inMemory(schema: Schema { EntityDefinition("Note") { AttributeDefinition("title", .string) } })
        try store.write { transaction in
            for title in ["\u{e9}x", "e\u{301}x", "z"] { try transaction.insert("Note", ["title": .string(title)]) }
        }
        let having = try Condition(parsing: #"title like "\u00e9?" or title like "e\u0301?""#)
        let grouping = Grouping(by: [try Operand(parsing: "title")], [.count], having: having)
        #expect(try store.graph.aggregate(Query("Note"), grouping).count == 2)
    }

    @Test(arguments: ["count contains 3", "rank beginswith \"1\"", "city < City/1", "max.city.born endswith \"Z\"", "3 contains count"])
    func `a condition on groups refuses a relation that does not fit the value`(condition: String) {
        #expect(code(of: { _ = try graph.groups(by: condition.hasPrefix("city") ? "city" : "rank", having: condition) }) == .invalidInput)
    }

    @Test(arguments: [
        "count < 0 and nosuch > 1", "count > 0 or nosuch > 1", "count > 0 or title > $n", "count > 0 or title matches \"(\"",
        "count > 0 or any title == \"\"", "count > 0 or any city where (true)", "count > 0 or count > \"x\"", "count > 0 or title == 3",
        "count > 0 or title < count", "count > 0 or \"a\" < 3", "count > 0 or 3 in {\"a\"}",
        "count > 0 or count contains 3", "count > 0 or max.city.born in {\"2020\"}",
    ])
    func `a mistake in a condition on groups is reported even if no group needs the part`(condition: String) {
        #expect(code(of: { _ = try graph.groups(by: "title", having: condition) }) == .invalidInput)
        #expect(code(of: { _ = try graph.groups(by: "title", having: condition, where: "rank > 99") }) == .invalidInput)
    }

    @Test(arguments: [("count > 0 or nosuch > 1", "count"), ("count > 0", "-nosuch"), ("count > 0", "count[c]")])
    func `a mistake about groups is reported before objects are read`(condition: String, sort: String) async throws {
        let (graph, having) = (graph, try Condition(parsing: condition))
        let task = Task {
            // In a cancelled task, reading objects throws `CancellationError`.
            withUnsafeCurrentTask { $0?.cancel() }
            let grouping = Grouping(by: [try Operand(parsing: "rank")], [.count], having: having)
            return code(of: { _ = try graph.aggregate(Query("Note", sort: sort), grouping) })
        }
        #expect(try await task.value == .invalidInput)
    }

    @Test(arguments: [nil, "rank > 99"]) func `a sort key of groups ignores the case of texts only`(condition: String?) throws {
        let grouping = Grouping(by: [try Operand(parsing: "title")], [.count])
        let query = try Query("Note", where: condition, sort: "count[c]")
        #expect(code(of: { _ = try graph.aggregate(query, grouping) }) == .invalidInput)
    }

    @Test(arguments: [
        ("near == Place/1", [1]), ("near == City/1", []), ("near == Place/2", [2]), ("near == \"City/2\"", [2]),
        ("near in {City/1, City/2, City/9}", [2]), ("near != City/1", [0, 1, 2]), ("near != Place/1", [0, 2]), ("City/1 == near", []),
    ])
    func `an object that the name of another entity precedes is in no group`(condition: String, expected: [UInt64]) throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Place") { RelationshipDefinition("near", to: "Place") }
                EntityDefinition("City", parent: "Place") { AttributeDefinition("size", .int64, .optional) }
            })
        try store.write { transaction in
            let place = try transaction.insert("Place")
            let city = try transaction.insert("City", links: ["near": [place]])
            try transaction.insert("City", links: ["near": [city]])
        }
        let grouping = Grouping(by: [try Operand(parsing: "near")], [.count], having: try Condition(parsing: condition))
        let serials = try store.graph.aggregate(Query("Place"), grouping).map { row -> UInt64 in
            if case .object(let id) = row.group[0] { id.serial } else { 0 }
        }
        #expect(serials == expected)
        // Each group has one object here, so the condition on objects finds as many objects.
        #expect(try store.graph.count(Query("Place", where: condition)) == expected.count)
    }

    @Test func `a key that has the name of a function is named after the word group`() throws {
        let store = try Store.inMemory(schema: Schema { EntityDefinition("Note") { AttributeDefinition("count", .int64) } })
        try store.write { transaction in for count: Int64 in [5, 5, 7] { try transaction.insert("Note", ["count": .int(count)]) } }
        func counts(_ sort: String, _ having: String, _ functions: [Aggregate] = [.count]) throws -> [QueryValue] {
            let grouping = Grouping(by: [try Operand(parsing: "count")], functions, having: try Condition(parsing: having))
            return try store.graph.aggregate(Query("Note", sort: sort), grouping).map { $0.group[0] }
        }
        let (five, seven) = (QueryValue.value(.int(5)), QueryValue.value(.int(7)))
        #expect(try counts("-group.count", "count > 0") == [seven, five])
        #expect(try counts("-count", "group.count > 0") == [five, seven])
        #expect(try counts("-count", "count == 2 and group.count == 5") == [five])
        let max = Aggregate(.max, of: try Operand(parsing: "count"))
        #expect(try counts("-count", "count > 5", [max]) == [seven])
        #expect(code(of: { _ = try counts("group.count", "count > 5", [max]) }) == .invalidInput)
    }

    @Test func `a condition on groups refuses a value of another kind`() throws {
        #expect(code(of: { _ = try graph.groups(by: "rank", having: "count == \"3\"") }) == .invalidInput)
        #expect(code(of: { _ = try graph.groups(by: "title", having: "title == 3") }) == .invalidInput)
        #expect(code(of: { _ = try graph.groups(by: "title", having: "title != count") }) == .invalidInput)
        #expect(code(of: { _ = try graph.groups(by: "title", having: "count in {1, title}") }) == .invalidInput)
    }
}
