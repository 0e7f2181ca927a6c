import CambiumModel
import Testing

@Suite struct ConditionCheckTests {
    private typealias Q = QueryFixture

    private static func code(_ condition: Condition) -> CambiumError.Code? { Q.refusal { try condition.check() }?.code }

    @Test(arguments: [
        Q.compare(Q.list(Q.number("1")), .equal, Q.path("a")), Q.compare(Q.path("a"), .equal, Q.list(Q.number("1"))),
        Q.compare(Q.path("a"), .isIn, Q.list(Q.list(Q.number("1")))), Q.compare(Q.path("a"), .isIn, Q.path("b")),
        Q.compare(Q.path("a"), .isIn, Q.number("1")), Q.compare(Q.path("a"), .isBetween, Q.list()),
        Q.compare(Q.path("a"), .isBetween, Q.list(Q.number("1"))), Q.compare(Q.path("a"), .isBetween, Q.string("x")),
        Q.compare(Q.path("a"), .isBetween, Q.list(Q.number("1"), Q.number("2"), Q.number("3"))),
        Q.compare(Q.aggregate(.count, ["a"], of: ["b"]), .equal, Q.number("1")), Q.compare(Q.aggregate(.sum, ["a"]), .equal, Q.number("1")),
        Q.compare(Q.number("1"), .equal, Q.aggregate(.countDistinct, ["a"])), Q.compare(Q.aggregate(.count, []), .equal, Q.number("1")),
        Q.compare(Q.path("a"), .equal, Q.number("1 or true")), Q.compare(Q.path("a"), .equal, Q.number("")),
        Q.compare(Q.path("a"), .isIn, Q.list(Q.number("01"))), Q.compare(Q.number("1"), .equal, Q.path("a"), .any),
        .not(.or([.constant(true), .related(.any, QueryPath(["a"]), Q.compare(Q.path("a"), .isIn, Q.number("1")))])),
    ])
    func `a part in the wrong place is refused`(condition: Condition) {
        #expect(Self.code(condition) == .invalidInput)
    }

    @Test func `a path or a list that is too long is refused`() {
        let names = [String](repeating: "a", count: 65)
        #expect(Self.code(Q.compare(Operand(.path(QueryPath(names))), .equal, Q.number("1"))) == .limitExceeded)
        #expect(Self.code(.related(.all, QueryPath(names), .constant(true))) == .limitExceeded)
        #expect(Self.code(Q.compare(Q.aggregate(.max, ["a"], of: names), .equal, Q.number("1"))) == .limitExceeded)
        let elements = [Operand](repeating: Q.number("1"), count: 65_537)
        #expect(Self.code(Q.compare(Q.path("a"), .isIn, Operand(.list(elements)))) == .limitExceeded)
    }

    @Test func `a condition with 200 levels is accepted, and a deeper condition is refused`() throws {
        var condition = Q.one("a")
        for _ in 0..<200 { condition = .not(condition) }
        try condition.check()
        #expect(try Condition(parsing: condition.description) == condition)
        #expect(Self.code(.and([condition])) == .limitExceeded)
    }

    @Test func `a tree of any depth can be checked, printed and searched for parameters`() {
        var condition = Q.compare(Q.path("a"), .equal, Q.parameter("p"))
        var list = Q.number("1")
        for _ in 0..<3000 {
            condition = .related(.any, QueryPath(["a"]), .and([.constant(true), condition]))
            list = Q.list(list)
        }
        #expect(Self.code(condition) == .limitExceeded)
        #expect(condition.description.contains("..."))
        #expect(condition.parameterNames == ["p"])
        #expect(list.description.contains("..."))
        #expect(Self.code(Q.compare(Q.path("a"), .isIn, list)) == .invalidInput)
    }

    @Test(arguments: [
        (Condition.and([]), "true"), (.or([]), "false"), (.and([Q.one("a")]), "a == 1"), (.not(.or([Q.one("a")])), "not (a == 1)"),
        (.and([.and([]), .or([])]), "true and false"),
    ])
    func `a connective of fewer than two conditions has a text that parses`(condition: Condition, text: String) throws {
        #expect(condition.description == text)
        try condition.check()
        _ = try Condition(parsing: text)
    }

    @Test func `the printed text of a name cannot control a terminal`() {
        #expect(Q.path("a\u{1B}[2J").description == "a\\u{1B}[2J")
        #expect(Q.parameter("a\n").description == "$a\\n")
    }
}
