import CambiumModel
import Testing

@Suite struct QueryLimitTests {
    private static func nested(_ opening: String, _ closing: String, _ count: Int) -> String {
        String(repeating: opening, count: count) + "a == 1" + String(repeating: closing, count: count)
    }

    private static func error(_ text: String) -> CambiumError? { QueryFixture.refusal { _ = try Condition(parsing: text) } }

    @Test(arguments: [("(", ")"), ("not ", ""), ("!", ""), ("any a where (", ")"), ("b == 1 or (", ")")])
    func `a condition nests up to 200 levels`(opening: String, closing: String) throws {
        let text = Self.nested(opening, closing, 200)
        let condition = try Condition(parsing: text)
        #expect(try Condition(parsing: condition.description) == condition)
        try condition.check()
        let error = try #require(Self.error(Self.nested(opening, closing, 201)))
        #expect(error.code == .limitExceeded)
    }

    @Test func `a list at the deepest level is printed and read back`() throws {
        let condition = try Condition(parsing: String(repeating: "not ", count: 200) + "a in {1, 2}")
        #expect(condition.description.hasSuffix("a in {1, 2}"))
        #expect(try Condition(parsing: condition.description) == condition)
    }

    @Test func `levels without parentheses count too`() throws {
        let opening = "(b == 1 or c == 1 and "
        let condition = try Condition(parsing: Self.nested(opening, ")", 100))
        #expect(try Condition(parsing: condition.description) == condition)
        #expect(Self.error(Self.nested(opening, ")", 101))?.code == .limitExceeded)
        #expect(Self.error(Self.nested("not (b == 1 or ", ")", 101))?.code == .limitExceeded)
    }

    @Test func `each name of a path before where is a level`() throws {
        let path = QueryPath([String](repeating: "a", count: 50))
        let opening = "any \(path.names.joined(separator: ".")) where ("
        let condition = try Condition(parsing: Self.nested(opening, ")", 4))
        try condition.check()
        #expect(Self.error(Self.nested(opening, ")", 5))?.code == .limitExceeded)
        let deeper = Condition.related(.any, path, condition)
        #expect(QueryFixture.refusal { try deeper.check() }?.code == .limitExceeded)
    }

    @Test func `a chain of connectives has one level, however long it is`() throws {
        let text = Array(repeating: "a == 1", count: 20_000).joined(separator: " and ")
        guard case .and(let parts) = try Condition(parsing: text).form else {
            Issue.record("The text has another tree.")
            return
        }
        #expect(parts.count == 20_000)
    }

    @Test(arguments: ["(", "not ", "!", "any a where (", "a in {", "a == 'x' and (", "-", "#a.", "\u{1F600}", "\\", "[", "a.@sum."])
    func `a mebibyte of the same token is refused`(token: String) throws {
        let text = String(repeating: token, count: (1 << 20) / token.utf8.count)
        let error = try #require(Self.error(text))
        let column = try #require(error.place?.column)
        #expect(column <= 20_000)
        #expect(error.message.utf8.count < 300)
    }

    @Test func `a text may have a mebibyte`() throws {
        let filler = String(repeating: " ", count: (1 << 20) - 6)
        #expect(try Condition(parsing: filler + "a == 1") == QueryFixture.one("a"))
        #expect(Self.error(filler + "a == 10")?.code == .limitExceeded)
        let string = String(repeating: "x", count: (1 << 20) - 7)
        #expect(
            try Condition(parsing: "a == '\(string)'") == QueryFixture.compare(QueryFixture.path("a"), .equal, QueryFixture.string(string)))
    }

    @Test func `a list may have 65,536 elements`() throws {
        let elements = Array(repeating: "1", count: 65_536).joined(separator: ",")
        let condition = try Condition(parsing: "a in {\(elements)}")
        try condition.check()
        let error = try #require(Self.error("a in {\(elements),1}"))
        #expect(error.code == .limitExceeded)
        #expect(error.place?.column == 7 + 2 * 65_536)
    }

    @Test(arguments: ["like", "matches", "like[c]"]) func `a condition may have 100 patterns`(relation: String) throws {
        let comparison = "a \(relation) 'x*y'"
        let patterns = Array(repeating: comparison, count: 100).joined(separator: " or ")
        let condition = try Condition(parsing: patterns)
        try condition.check()
        let error = try #require(Self.error(patterns + " or not " + comparison))
        #expect(error.code == .limitExceeded)
        #expect(error.place?.column == patterns.utf8.count + 11)
        let more = try Condition(parsing: comparison)
        let all = Condition.or([condition, .related(.any, QueryPath(["b"]), more)])
        #expect(QueryFixture.refusal { try all.check() }?.code == .limitExceeded)
    }

    @Test func `a path may have 64 names`() throws {
        let path = Array(repeating: "a", count: 64).joined(separator: ".")
        #expect(try QueryPath(parsing: path).names.count == 64)
        let error = try #require(QueryFixture.refusal { _ = try QueryPath(parsing: path + ".a") })
        #expect(error.code == .limitExceeded)
        #expect(error.place?.column == 129)
    }
}
