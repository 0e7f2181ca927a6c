import Cambium
import TestFixtures
import Testing

/// Values of parameters that fit the relation, and values that do not.
@Suite struct QueryParameterTests {
    private let graph: Graph

    init() throws { graph = try .ofRankedNotes() }

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

    @Test func `a condition with a date that the calendar lacks states the range of the wrong part`() throws {
        let error = try #require(throws: CambiumError.self) { _ = try graph.find(Query("City", where: "born > \"2026-02-30\"")) }
        #expect(error.message.contains("Compare it with a date with a day from 01 to 28, not with"), "\(error.message)")
    }

    @Test(arguments: [
        ("born beginswith \"2026-01\"", "'born' is of type date, which 'beginswith' cannot compare."),
        ("any notes.rank like \"1*\"", "which 'like' cannot compare."),
    ])
    func `a relation that compares only texts is refused before its constant`(condition: String, message: String) throws {
        let error = try #require(throws: CambiumError.self) { _ = try graph.find(Query("City", where: condition)) }
        #expect(error.code == .invalidInput && error.message.contains(message), "\(error.message)")
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
        #expect(code(of: { _ = try graph.groups(by: "rank", having: "rank > 1", ["n": 1]) }) == .invalidInput)
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
}
