import Cambium
import Testing

/// Values of parameters that fit the relation, and values that do not.
@Suite struct QueryParameterTests {
    private let graph: Graph

    init() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Note") {
                    AttributeDefinition("rank", .int64, .optional)
                    AttributeDefinition("title", .string, .optional)
                    RelationshipDefinition("city", to: "City", inverse: "notes")
                }
                EntityDefinition("City") {
                    AttributeDefinition("born", .date)
                    RelationshipDefinition("notes", to: "Note", .toMany, inverse: "city")
                }
            })
        try store.write { transaction in
            let dates = ["2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"]
            let cities = try dates.map { try transaction.insert("City", ["born": try #require(Value(date: $0))]) }
            for rank in 1...6 {
                let city = rank < 5 ? [cities[rank % 2]] : []
                try transaction.insert("Note", ["rank": .int(Int64(rank)), "title": .string("n\(rank)")], links: ["city": city])
            }
        }
        graph = store.graph
    }

    private func ranks(_ condition: String, _ value: Operand) throws -> [UInt64] {
        try graph.find(Query("Note", where: condition, ["x": value])).map(\.serial)
    }

    private static let misfits: [(String, Operand)] = [
        ("rank == $x", [1, 2]), ("rank < $x", [3, 1]), ("$x == rank", [1, 2]), ("title beginswith $x", ["n", "m"]),
        ("title like $x", ["n*"]), ("rank between $x", 5), ("rank between $x", [1, 2, 3]), ("title between $x", []),
        ("rank in $x", [[1, 2], 3]), ("rank in {1, $x}", [2, 3]),
    ]

    @Test(arguments: misfits)
    func `a list does not stand for one value, and one value does not stand for two bounds`(condition: String, value: Operand) throws {
        #expect(code(of: { _ = try ranks(condition, value) }) == .invalidInput)
    }

    @Test func `the text of a bool is a word that a condition has for it`() throws {
        let schema = try Schema(SchemaDefinition { EntityDefinition("Item") { AttributeDefinition("done", .bool) } })
        let store = try Store.inMemory(schema: schema)
        try store.write { transaction in
            for done in [true, false] { try transaction.insert("Item", ["done": .bool(done)]) }
        }
        func found(_ text: String) throws -> [UInt64] {
            try store.graph.find(Query("Item", where: "done == $x", ["x": Operand(.literal(.text(text)))])).map(\.serial)
        }
        for text in ["true", "yes", "YES"] { #expect(try found(text) == [1], "\(text)") }
        for text in ["false", "no", "False"] { #expect(try found(text) == [2], "\(text)") }
        for text in ["null", "1", "yes ", ""] { #expect(code(of: { _ = try found(text) }) == .invalidInput, "\(text)") }
    }

    @Test(arguments: ["rank in {1, \"wrong\", 2}", "rank between {1, \"wrong\"}", "city.born in {\"2020-01-01\", \"wrong\"}"])
    func `a message names the element of a list that has the wrong type`(condition: String) throws {
        let error = try #require(throws: CambiumError.self) { _ = try graph.find(Query("Note", where: condition)) }
        #expect(error.code == .invalidInput && error.message.hasSuffix("not with \"wrong\"."), "\(error.message)")
    }

    @Test(arguments: [
        ("title == $x and rank == \"n1\"", "not with \"n1\"."), ("title == $x and rank == $y", "not with \"n1\" (the value of $y)."),
        ("title == $x and rank in {1, $y}", "not with \"n1\" (the value of $y)."),
    ])
    func `a message names only a parameter that the comparison has`(condition: String, end: String) throws {
        var query = try Query("Note", where: condition, ["x": "n1"])
        if condition.contains("$y") { query.arguments["y"] = "n1" }
        let error = try #require(throws: CambiumError.self) { _ = try graph.find(query) }
        #expect(error.code == .invalidInput && error.message.hasSuffix(end), "\(error.message)")
    }

    @Test(arguments: ["notes.rank.@count > 0", "notes.rank.@count != 2", "notes._entity.@count > 0", "0 < notes.rank.@count"])
    func `a count of values is refused, also if a column has the number of their objects`(condition: String) throws {
        let error = try #require(throws: CambiumError.self) { _ = try graph.find(Query("City", where: condition)) }
        #expect(error.code == .invalidInput && error.message.contains("does not lead to objects"), "\(error.message)")
    }

    @Test func `a message about two objects names their entities`() throws {
        let error = try #require(throws: CambiumError.self) { _ = try graph.find(Query("Note", where: "self == city")) }
        #expect(error.message.contains("'self' is an object of 'Note', but 'city' is an object of 'City'"), "\(error.message)")
    }

    @Test(arguments: ["city.notes.@sum.rank in $x", "city.notes.@count in $x", "rank in {1, city.notes.@count} or rank in $x"])
    func `a message about an element of a parameter's list has the position of the parameter`(condition: String) throws {
        let error = try #require(throws: CambiumError.self) { _ = try ranks(condition, [1, "wrong"]) }
        #expect(error.place?.column == condition.utf8.count - 1, "\(error.message)")
    }

    @Test func `a message about a group names only a parameter that the comparison has`() throws {
        let condition = try Condition(parsing: "title == $x and count == \"n1\"")
        let groups = Grouping(by: [try Operand(parsing: "title")], [.count], having: condition)
        let all = Query("Note", where: .constant(true), ["x": "n1"])
        let error = try #require(throws: CambiumError.self) { _ = try graph.aggregate(all, groups) }
        #expect(error.code == .invalidInput && error.message.contains("found \"n1\"."), "\(error.message)")
    }

    @Test(arguments: ["rank == $x", "rank in {1, $x}", "city == $x", "city.born < $x", "not city.notes.@sum.rank == $x"])
    func `a message does not repeat a long value`(condition: String) throws {
        let long = String(repeating: "x", count: 100_000)
        let error = try #require(throws: CambiumError.self) { _ = try ranks(condition, .value(.string(long))) }
        #expect(error.code == .invalidInput && error.message.utf8.count < 300)
    }

    @Test func `a message does not repeat a long number`() throws {
        let digits = String(repeating: "7", count: 100_000)
        let store = try Store.inMemory(schema: Schema { EntityDefinition("Item") { AttributeDefinition("price", .decimal) } })
        let query = try Query("Item", where: "price == 1\(digits)")
        let error = try #require(throws: CambiumError.self) { _ = try store.graph.find(query) }
        #expect(error.code == .invalidInput && error.message.utf8.count < 300)
    }

    @Test func `a value that is no constant is refused`() throws {
        let path = try Operand(parsing: "rank")
        #expect(code(of: { _ = try ranks("rank == $x", path) }) == .invalidInput)
        #expect(code(of: { _ = try ranks("rank in $x", Operand(.list([path]))) }) == .invalidInput)
    }

    @Test func `a list follows in, two bounds follow between, and one value follows in as a list of one`() throws {
        #expect(try ranks("rank in $x", [2, 4]) == [2, 4])
        #expect(try ranks("rank between $x", [2, 4]) == [2, 3, 4])
        #expect(try ranks("rank between $x", [4, 2]) == [])
        #expect(try ranks("rank in $x", 3) == [3])
    }

    @Test func `no value is between null and a bound`() throws {
        #expect(try ranks("rank between $x", .values([.null, .int(5)])) == [])
        #expect(try ranks("rank between $x", .values([.int(5), .null])) == [])
        #expect(try ranks("city.born between $x", .values([.null, .null])) == [])
    }

    @Test func `a value without a parameter is refused, also if there is no condition`() throws {
        #expect(code(of: { _ = try graph.find(Query("Note", where: "rank > 0", ["n": 1])) }) == .invalidInput)
        #expect(code(of: { _ = try graph.find(Query("Note", ["n": 1])) }) == .invalidInput)
        #expect(code(of: { _ = try groups(by: "rank", having: "rank > 1", ["n": 1]) }) == .invalidInput)
    }

    @Test func `both conditions of a count of paths may have parameters`() throws {
        func count(_ condition: String?, _ arguments: [String: Operand], to end: String?) throws -> Value {
            try graph.pathCount(from: Query("Note", where: condition, arguments), along: ["city", "notes"], to: end)
        }
        #expect(try count(nil, ["n": 2], to: "rank > $n") == .int(4))
        #expect(try count("rank < $m", ["n": 2, "m": 2], to: "rank > $n") == .int(1))
        #expect(try count("rank < $n", ["n": 2], to: "rank > $n") == .int(1))
        #expect(code(of: { _ = try count("rank < $n", ["n": 2, "m": 2], to: "rank > $n") }) == .invalidInput)
        #expect(code(of: { _ = try count(nil, [:], to: "rank > $n") }) == .invalidInput)
    }

    // MARK: Groups

    private func groups(
        by key: String, having: String, where condition: String? = nil, _ arguments: [String: Operand] = [:]
    ) throws -> [QueryValue] {
        let aggregates = [Aggregate.count, Aggregate(.max, of: try Operand(parsing: "city.born"))]
        let grouping = Grouping(by: [try Operand(parsing: key)], aggregates, having: try Condition(parsing: having))
        return try graph.aggregate(Query("Note", where: condition, arguments), grouping).map { $0.group[0] }
    }

    @Test func `a condition on groups has parameters of its own, also lists`() throws {
        #expect(try groups(by: "city", having: "count > $n", where: "rank > $m", ["n": 1, "m": 0]).count == 3)
        #expect(try groups(by: "rank", having: "rank in $n", ["n": [2, 5]]) == [.value(.int(2)), .value(.int(5))])
        #expect(try groups(by: "rank", having: "rank between $n", where: "rank > 0", ["n": [5, 9]]).count == 2)
        #expect(code(of: { _ = try groups(by: "rank", having: "rank == $n", ["n": [1]]) }) == .invalidInput)
        #expect(code(of: { _ = try groups(by: "rank", having: "rank == $n") }) == .invalidInput)
        #expect(code(of: { _ = try groups(by: "rank", having: "rank > 1", where: "rank > 0", ["n": 1]) }) == .invalidInput)
    }

    @Test func `a condition on groups compares objects, and dates on either side`() throws {
        let city = try #require(try graph.first(Query("City")))
        #expect(try groups(by: "city", having: "city == City/1") == [.object(city)])
        #expect(try groups(by: "city", having: "city == \"City/1\"") == [.object(city)])
        #expect(try groups(by: "city", having: "\"2020-06-01T00:00:00Z\" < max.city.born").count == 1)
        #expect(try groups(by: "city", having: "max.city.born < \"2020-06-01T00:00:00Z\"") == [.object(city)])
        let (date, id) = (Operand.value(.string("2020-06-01T00:00:00Z")), Operand.value(.string("City/1")))
        #expect(try groups(by: "city", having: "max.city.born < $date", ["date": date]) == [.object(city)])
        #expect(try groups(by: "city", having: "city in $ids", ["ids": Operand(.list([id]))]) == [.object(city)])
    }

    @Test func `a condition on groups compares texts with patterns`() throws {
        let titles = ["n2", "n3", "n4"].map { QueryValue.value(.string($0)) }
        #expect(try groups(by: "title", having: "title matches \"n[2-4]\"") == titles)
        #expect(try groups(by: "title", having: "title like \"*\" and not title like \"?1\"").count == 5)
        #expect(try groups(by: "title", having: "title like[c] $pattern", ["pattern": "N3*"]) == [titles[1]])
        #expect(code(of: { _ = try groups(by: "title", having: "title matches \"(\"") }) == .invalidInput)
        #expect(code(of: { _ = try groups(by: "rank", having: "rank like \"1\"") }) == .invalidInput)
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
        #expect(code(of: { _ = try groups(by: condition.hasPrefix("city") ? "city" : "rank", having: condition) }) == .invalidInput)
    }

    @Test(arguments: [
        "count < 0 and nosuch > 1", "count > 0 or nosuch > 1", "count > 0 or title > $n", "count > 0 or title matches \"(\"",
        "count > 0 or any title == \"\"", "count > 0 or any city where (true)", "count > 0 or count > \"x\"", "count > 0 or title == 3",
        "count > 0 or title < count", "count > 0 or \"a\" < 3", "count > 0 or 3 in {\"a\"}",
        "count > 0 or count contains 3", "count > 0 or max.city.born in {\"2020\"}",
    ])
    func `a mistake in a condition on groups is reported even if no group needs the part`(condition: String) {
        #expect(code(of: { _ = try groups(by: "title", having: condition) }) == .invalidInput)
        #expect(code(of: { _ = try groups(by: "title", having: condition, where: "rank > 99") }) == .invalidInput)
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
        #expect(try groups(by: "rank", having: having).count == count)
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
        #expect(try groups(by: "city", having: "City/1 in {null, city}") == [.object(city)])
        #expect(try groups(by: "city", having: "City/1 in {city, null}") == [.object(city)])
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
        #expect(code(of: { _ = try groups(by: "rank", having: "count == \"3\"") }) == .invalidInput)
        #expect(code(of: { _ = try groups(by: "title", having: "title == 3") }) == .invalidInput)
        #expect(code(of: { _ = try groups(by: "title", having: "title != count") }) == .invalidInput)
        #expect(code(of: { _ = try groups(by: "title", having: "count in {1, title}") }) == .invalidInput)
    }
}

extension Value {
    fileprivate init?(date text: String) {
        guard let value = try? Value(text: text, type: .date) else { return nil }  // The caller reports the text.
        self = value
    }
}
