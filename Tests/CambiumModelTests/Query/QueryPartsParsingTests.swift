import CambiumModel
import Testing

@Suite struct QueryPartsParsingTests {
    private typealias Q = QueryFixture

    @Test(arguments: [
        ("name", SortKey(Q.path("name"))),
        ("-born", SortKey(Q.path("born"), .descending)),
        ("- owner.name[c]", SortKey(Q.path("owner", "name"), .descending, folding: .caseInsensitive)),
        ("tags.@count", SortKey(Q.aggregate(.count, ["tags"]))),
        ("price NULLS Last", SortKey(Q.path("price"), nulls: .last)),
        ("price nulls first", SortKey(Q.path("price"))),
        (
            "-price[cd] nulls first",
            SortKey(Q.path("price"), .descending, nulls: .first, folding: [.caseInsensitive, .diacriticInsensitive])
        ),
        ("nulls nulls last", SortKey(Q.path("nulls"), nulls: .last)), ("#in", SortKey(Q.path("in"))),
        ("-_id", SortKey(Q.path("_id"), .descending)),
    ])
    func `a sort key is read, printed and read back`(text: String, key: SortKey) throws {
        #expect(try SortKey(parsing: text) == key)
        #expect(try SortKey(parsing: key.description) == key)
        #expect(try SortKey.list(parsing: "a, \(text) ,b") == [SortKey(Q.path("a")), key, SortKey(Q.path("b"))])
    }

    @Test func `objects without a key come first in an ascending order and last in a descending order`() throws {
        #expect(try SortKey(parsing: "a").nulls == .first)
        #expect(try SortKey(parsing: "-a").nulls == .last)
    }

    @Test func `the text of a key omits the default place of nulls`() {
        #expect(SortKey(Q.path("a"), .descending, nulls: .last).description == "-a")
        #expect(SortKey(Q.path("a"), .descending, nulls: .first, folding: .caseInsensitive).description == "-a[c] nulls first")
        #expect(SortKey(Q.path("a"), nulls: .last).description == "a nulls last")
    }

    @Test(arguments: [
        ("self", QueryPath([])), ("self.a", QueryPath(["a"])), ("a.b.c", QueryPath(["a", "b", "c"])), (" a . b ", QueryPath(["a", "b"])),
        ("#self", QueryPath(["self"])), ("a.where", QueryPath(["a", "where"])), ("owner._id", QueryPath(["owner", "_id"])),
    ])
    func `a path is read, printed and read back`(text: String, path: QueryPath) throws {
        #expect(try QueryPath(parsing: text) == path)
        #expect(try QueryPath(parsing: path.description) == path)
    }

    @Test(arguments: [
        ("a.b", Q.path("a", "b")), ("a.@avg.b.c", Q.aggregate(.avg, ["a"], of: ["b", "c"])),
        ("a.b.@count", Q.aggregate(.count, ["a", "b"])),
    ])
    func `an operand is read, printed and read back`(text: String, operand: Operand) throws {
        #expect(try Operand(parsing: text) == operand)
        #expect(operand.description == text)
        #expect(try Operand.list(parsing: "\(text),x") == [operand, Q.path("x")])
    }

    @Test(arguments: [
        (QueryLiteral.value(.null), "null"), (.value(.bool(true)), "true"), (.value(.int(-5)), "-5"), (.value(.double(1e300)), "1e+300"),
        (.value(.double(2)), "2"), (.value(.float(0.5)), "0.5"), (.value(.double(.infinity)), "\"inf\""), (.value(.float(.nan)), "\"nan\""),
        (.value(.string("a\"b\n")), #""a\"b\n""#), (.value(.data([1, 2, 3])), "\"AQID\""), (.value(.uri("x:y")), "\"x:y\""),
        (.value(.json("{\"a\":1}")), #""{\"a\":1}""#),
        (.value(.date(.init(timeIntervalSinceReferenceDate: 0))), "\"2001-01-01T00:00:00Z\""),
        (.text("42"), "\"42\""), (.string("\u{202E}\u{1B}"), #""\u202e\u001b""#), (.object(entity: "Note", serial: 7), "Note/7"),
        (.id(ObjectID(root: EntityNumber(rawValue: 3), serial: 42)), "3/42"), (.number("1e5"), "1e5"), (.bool(false), "false"),
    ])
    func `a literal has the text that denotes it`(literal: QueryLiteral, text: String) throws {
        #expect(literal.description == text)
        _ = try Condition(parsing: "a == \(literal)")
    }

    @Test func `a text is a number if it has the syntax of a JSON number, with or without leading zeros`() {
        for text in ["0", "-5", "05", "1.50", "1e999", "-1E-999"] { #expect(QueryLiteral.text(text).numberText == text) }
        for text in ["", "0x10", "+5", "5.", ".5", " 5", "5 ", "inf", "nan", "1e"] {
            #expect(QueryLiteral.text(text).numberText == nil, "\(text)")
        }
    }

    @Test func `the names of the parameters of a condition are found in lists and in nested conditions`() throws {
        let condition = try Condition(parsing: "a == $a and not (b in {1, $b} or $c < c) and any d where (e between $e and f = $a)")
        #expect(condition.parameterNames == ["a", "b", "c", "e"])
        #expect(try Condition(parsing: "a == '$a'").parameterNames.isEmpty)
    }
}
