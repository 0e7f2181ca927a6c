import CambiumModel
import Testing

@Suite struct ConditionParsingTests {
    private typealias Q = QueryFixture
    static let both: Folding = [.caseInsensitive, .diacriticInsensitive]

    static let relations: [ConditionSample] = [
        ConditionSample("a == 1", Q.compare(Q.path("a"), .equal, Q.number("1"))),
        ConditionSample("a = 1", Q.one("a")),
        ConditionSample("a=1", Q.one("a")),
        ConditionSample("\n a\t==\r\n1 ", Q.one("a")),
        ConditionSample("a != 1", Q.compare(Q.path("a"), .notEqual, Q.number("1"))),
        ConditionSample("a <> -1", Q.compare(Q.path("a"), .notEqual, Q.number("-1"))),
        ConditionSample("a<-1.5e+3", Q.compare(Q.path("a"), .less, Q.number("-1.5e+3"))),
        ConditionSample("a <= 0.5", Q.compare(Q.path("a"), .lessOrEqual, Q.number("0.5"))),
        ConditionSample("a =< 1", Q.compare(Q.path("a"), .lessOrEqual, Q.number("1"))),
        ConditionSample("a > 1E2", Q.compare(Q.path("a"), .greater, Q.number("1E2"))),
        ConditionSample("a >= 1", Q.compare(Q.path("a"), .greaterOrEqual, Q.number("1"))),
        ConditionSample("a => 1", Q.compare(Q.path("a"), .greaterOrEqual, Q.number("1"))),
        ConditionSample("3 < a", Q.compare(Q.number("3"), .less, Q.path("a"))),
        ConditionSample("a < b.c", Q.compare(Q.path("a"), .less, Q.path("b", "c"))),
        ConditionSample("a CONTAINS 'x'", Q.compare(Q.path("a"), .contains, Q.string("x"))),
        ConditionSample("a beginswith[c] \"Ma\"", Q.compare(Q.path("a"), .beginsWith, Q.string("Ma"), folding: .caseInsensitive)),
        ConditionSample("a endsWith [d] 'x'", Q.compare(Q.path("a"), .endsWith, Q.string("x"), folding: .diacriticInsensitive)),
        ConditionSample("a like[cd] 'A*'", Q.compare(Q.path("a"), .like, Q.string("A*"), folding: both)),
        ConditionSample("a matches[DC] '^A.+'", Q.compare(Q.path("a"), .matches, Q.string("^A.+"), folding: both)),
        ConditionSample("a ==[c] 'x'", Q.compare(Q.path("a"), .equal, Q.string("x"), folding: .caseInsensitive)),
        ConditionSample("a <[c]'x'", Q.compare(Q.path("a"), .less, Q.string("x"), folding: .caseInsensitive)),
    ]

    static let lists: [ConditionSample] = [
        ConditionSample("a in {}", Q.compare(Q.path("a"), .isIn, Q.list())),
        ConditionSample(
            "a in {1, 'x', null, $p, b.c}",
            Q.compare(Q.path("a"), .isIn, Q.list(Q.number("1"), Q.string("x"), Q.literal(.null), Q.parameter("p"), Q.path("b", "c")))),
        ConditionSample("a in (1,2)", Q.compare(Q.path("a"), .isIn, Q.list(Q.number("1"), Q.number("2")))),
        ConditionSample("a in [1]", Q.compare(Q.path("a"), .isIn, Q.list(Q.number("1")))),
        ConditionSample("a in[1]", Q.compare(Q.path("a"), .isIn, Q.list(Q.number("1")))),
        ConditionSample("a in [c]", Q.compare(Q.path("a"), .isIn, Q.list(Q.path("c")))),
        ConditionSample("a in[c] [c]", Q.compare(Q.path("a"), .isIn, Q.list(Q.path("c")), folding: .caseInsensitive)),
        ConditionSample("a in[cd]{'x'}", Q.compare(Q.path("a"), .isIn, Q.list(Q.string("x")), folding: both)),
        ConditionSample("a in $names", Q.compare(Q.path("a"), .isIn, Q.parameter("names"))),
        ConditionSample("'red' in tags.name", Q.compare(Q.path("tags", "name"), .contains, Q.string("red"))),
        ConditionSample("$t in[c] tags", Q.compare(Q.path("tags"), .contains, Q.parameter("t"), folding: .caseInsensitive)),
        ConditionSample("a between {1, 9}", Q.compare(Q.path("a"), .isBetween, Q.list(Q.number("1"), Q.number("9")))),
        ConditionSample("a between [b, c]", Q.compare(Q.path("a"), .isBetween, Q.list(Q.path("b"), Q.path("c")))),
        ConditionSample("a BETWEEN $range", Q.compare(Q.path("a"), .isBetween, Q.parameter("range"))),
        ConditionSample("any a.b in {1}", Q.compare(Q.path("a", "b"), .isIn, Q.list(Q.number("1")), .any)),
    ]

    static let operands: [ConditionSample] = [
        ConditionSample("_id == Note/42", Q.compare(Q.path("_id"), .equal, Q.literal(.object(entity: "Note", serial: 42)))),
        ConditionSample(
            "self == 3/42",
            Q.compare(Q.path(), .equal, Q.literal(.id(ObjectID(root: EntityNumber(rawValue: 3), serial: 42))))),
        ConditionSample("self.a == any/1", Q.compare(Q.path("a"), .equal, Q.literal(.object(entity: "any", serial: 1)))),
        ConditionSample("_entity == 'Comic'", Q.compare(Q.path("_entity"), .equal, Q.string("Comic"))),
        ConditionSample("a == null", Q.compare(Q.path("a"), .equal, Q.literal(.null))),
        ConditionSample("a == NIL", Q.compare(Q.path("a"), .equal, Q.literal(.null))),
        ConditionSample("a == yes", Q.compare(Q.path("a"), .equal, Q.literal(.bool(true)))),
        ConditionSample("False != a", Q.compare(Q.literal(.bool(false)), .notEqual, Q.path("a"))),
        ConditionSample("#any.#all.in == $in", Q.compare(Q.path("any", "all", "in"), .equal, Q.parameter("in"))),
        ConditionSample("größe-2.日本 == 1", Q.compare(Q.path("größe-2", "日本"), .equal, Q.number("1"))),
        ConditionSample("tags.@count >= 2", Q.compare(Q.aggregate(.count, ["tags"]), .greaterOrEqual, Q.number("2"))),
        ConditionSample("a.b.@sum.c.d > 2", Q.compare(Q.aggregate(.sum, ["a", "b"], of: ["c", "d"]), .greater, Q.number("2"))),
        ConditionSample("2 < a.@COUNTDISTINCT.b", Q.compare(Q.number("2"), .less, Q.aggregate(.countDistinct, ["a"], of: ["b"]))),
        ConditionSample(
            "a.@max.#in == a.@min.self",
            Q.compare(Q.aggregate(.max, ["a"], of: ["in"]), .equal, Q.aggregate(.min, ["a"], of: []))),
    ]

    static let connectives: [ConditionSample] = [
        ConditionSample("true", .constant(true)),
        ConditionSample("FALSEPREDICATE", .constant(false)),
        ConditionSample("not TruePredicate", .not(.constant(true))),
        ConditionSample("a = 1 and b = 1 AND c = 1", .and([Q.one("a"), Q.one("b"), Q.one("c")])),
        ConditionSample("a = 1 or b = 1 || c = 1", .or([Q.one("a"), Q.one("b"), Q.one("c")])),
        ConditionSample("a = 1 or b = 1 && c = 1", .or([Q.one("a"), .and([Q.one("b"), Q.one("c")])])),
        ConditionSample("(a = 1 or b = 1) and c = 1", .and([.or([Q.one("a"), Q.one("b")]), Q.one("c")])),
        ConditionSample("a = 1 and (b = 1 and c = 1)", .and([Q.one("a"), .and([Q.one("b"), Q.one("c")])])),
        ConditionSample("not a = 1 and b = 1", .and([.not(Q.one("a")), Q.one("b")])),
        ConditionSample("not (a = 1 and b = 1)", .not(.and([Q.one("a"), Q.one("b")]))),
        ConditionSample("!!a=1", .not(.not(Q.one("a")))),
        ConditionSample("((a = 1))", Q.one("a")),
        ConditionSample("any a.b == 1", Q.compare(Q.path("a", "b"), .equal, Q.number("1"), .any)),
        ConditionSample("SOME a.b == 1", Q.compare(Q.path("a", "b"), .equal, Q.number("1"), .any)),
        ConditionSample("all a.b == 1", Q.compare(Q.path("a", "b"), .equal, Q.number("1"), .all)),
        ConditionSample("not none a.b == 1", .not(Q.compare(Q.path("a", "b"), .equal, Q.number("1"), Quantifier.none))),
        ConditionSample("any a.b where (c = 1 and d = 1)", .related(.any, QueryPath(["a", "b"]), .and([Q.one("c"), Q.one("d")]))),
        ConditionSample(
            "none a where(all b where (c = 1)) or d = 1",
            .or([.related(.none, QueryPath(["a"]), .related(.all, QueryPath(["b"]), Q.one("c"))), Q.one("d")])),
    ]

    @Test(arguments: relations + lists + operands + connectives)
    func `a text becomes the condition that it denotes`(sample: ConditionSample) throws {
        #expect(try Condition(parsing: sample.text) == sample.condition)
    }

    @Test(arguments: relations + lists + operands + connectives)
    func `a printed condition is read back, and printed with the same text`(sample: ConditionSample) throws {
        let text = sample.condition.description
        let condition = try Condition(parsing: text)
        #expect(condition == sample.condition)
        #expect(condition.description == text)
        try condition.check()
    }

    @Test(arguments: [
        (#""""#, ""), (#"'it\'s'"#, "it's"), (#""it's""#, "it's"), (#"'say "hi"'"#, "say \"hi\""),
        (#""\\\"\/\n\t\r\b\f""#, "\\\"/\n\t\r\u{8}\u{C}"),
        (#""\u00e9\u0000""#, "é\0"), (#""\uD83D\ude00""#, "😀"), ("\"two\nlines\"", "two\nlines"), ("'日本'", "日本"),
    ])
    func `a string has the characters that its escapes denote`(literal: String, text: String) throws {
        #expect(try Condition(parsing: "a == \(literal)") == Q.compare(Q.path("a"), .equal, Q.string(text)))
    }

    @Test func `an operand knows the place of its first byte`() throws {
        let text = "a == 1 and\n é.b in {'x',\n  $p}"
        guard case .and(let parts) = try Condition(parsing: text).form, case .comparison(let second) = parts[1].form,
            case .list(let elements) = second.right.form
        else {
            Issue.record("The text has another tree.")
            return
        }
        #expect(second.left.offset.place(in: text) == .init(line: 2, column: 2))
        #expect(second.right.offset.place(in: text) == .init(line: 2, column: 10))
        #expect(elements.map { $0.offset.value } == [21, 28])
        #expect(elements[1].offset.place(in: text) == .init(line: 3, column: 3))
        #expect(Q.path("a").offset.place(in: text) == nil)
    }
}
