import CambiumModel
import Foundation
import Testing

@Suite struct `Constraints of attributes` {
    /// Returns the attribute `a` of a schema with these words.
    static func attribute(_ words: String) throws -> Attribute {
        try #require(SchemaFixture.schema(SchemaFixture.attribute(words)).entity("E")?.attribute("a"))
    }

    static func flaw(_ words: String, _ text: String) throws -> String? {
        let attribute = try attribute(words)
        return attribute.constraints.check(try Value(text: text, type: attribute.type))
    }

    /// The words of an attribute, values that it accepts, and values that it refuses.
    static let rules: [(String, [String], [String])] = [
        (#""type":"int16","min":-5,"max":5"#, ["-5", "0", "5"], ["-6", "6", "32767"]),
        (#""type":"int64","min":9223372036854775807"#, ["9223372036854775807"], ["9223372036854775806", "0"]),
        (#""type":"double","min":0.1,"max":0.3"#, ["0.1", "0.2", "0.3"], ["0.09999", "0.30000000000000004", "-1"]),
        (#""type":"float","max":0"#, ["0", "-0.0", "-1"], ["1e-30"]),
        (
            #""type":"decimal","min":0.1,"max":99999999999999999999999999999999999999"#,
            ["0.1", "99999999999999999999999999999999999999", "1"], ["0.09999999999999999999999999999", "1e38", "-1"]
        ),
        (
            #""type":"date","min":"2001-01-01T00:00:00Z","max":"2001-01-01T00:00:01Z""#,
            ["2001-01-01T00:00:00Z", "2001-01-01T01:00:00.5+01:00"], ["2000-12-31T23:59:59.9Z", "2001-01-01T00:00:01.1Z"]
        ),
        (#""type":"string","minLength":1,"maxLength":2"#, ["a", "ab", "\u{1F600}\u{E9}"], ["", "abc", "e\u{301}e\u{301}"]),
        (#""type":"uri","maxLength":3"#, ["a:b"], ["a:bc"]),
        (#""type":"data","minLength":1,"maxLength":2"#, ["AA==", "AAA="], ["", "AAAA"]),
        (#""type":"string","regex":"[a-z]+""#, ["a", "xyz"], ["", "A", "a1", "a\n"]),
        (#""type":"uri","regex":"https:.*""#, ["https:x"], ["http:x"]),
        (#""type":"string","enum":["a","B"]"#, ["a", "B"], ["", "b", "aB"]), (#""type":"int32","enum":[1,2.0]"#, ["1", "2"], ["3"]),
        (#""type":"bool","enum":[true]"#, ["true"], ["false"]),
        (#""type":"decimal","enum":[1.50]"#, ["1.5", "1.500"], ["1.51"]), (#""type":"string","enum":["\u00e9"]"#, ["\u{E9}"], ["e\u{301}"]),
        (#""type":"json","enum":[[1],{}]"#, ["[1]", "[ 1 ]", "{}"], ["[1.0]", "[]"]),
    ]

    @Test(arguments: rules)
    func `values that obey the rules are accepted, and others are refused`(_ words: String, _ good: [String], _ bad: [String]) throws {
        for text in good { #expect(try Self.flaw(words, text) == nil, "\(text)") }
        for text in bad { #expect(try Self.flaw(words, text) != nil, "\(text)") }
        #expect(try Self.attribute(words).constraints.check(.null) == nil)
    }

    @Test(arguments: [
        (#""type":"int16","min":1"#, "0", "is 0, but the minimum is 1"), (#""type":"int16","max":1"#, "2", "is 2, but the maximum is 1"),
        (#""type":"string","minLength":2"#, "a", "is \"a\", which has a length of 1, but the minimum length is 2"),
        (#""type":"string","maxLength":2"#, "abc", "is \"abc\", which has a length of 3, but the maximum length is 2"),
        (#""type":"string","regex":"a+""#, "b", "is \"b\", which does not match a+"),
        (#""type":"string","enum":["x","y"]"#, "", #"is "", which is not one of "x", "y""#),
        (#""type":"int32","enum":[1,2]"#, "3", "is 3, which is not one of 1, 2"),
    ])
    func `a violation states the value and the rule`(_ words: String, _ text: String, _ message: String) throws {
        #expect(try Self.flaw(words, text) == message)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `numbers that JSON cannot write are refused without any rule`(_ value: Double) {
        #expect(AttributeConstraints().isEmpty)
        #expect(AttributeConstraints().check(.double(value)) != nil)
        #expect(AttributeConstraints().check(.float(Float(value))) != nil)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 252_423_993_600, -63_113_904_000.1, 1e300])
    func `dates outside of the years 1 to 9999 are refused without any rule`(_ seconds: Double) {
        #expect(AttributeConstraints().check(.date(Date(timeIntervalSinceReferenceDate: seconds))) != nil)
    }

    @Test(arguments: ["", "a b", "a\n", "\u{7F}"])
    func `a URI that cannot be read back is refused without any rule`(_ text: String) {
        #expect(AttributeConstraints().check(.uri(text)) != nil)
        #expect(throws: ConversionError.self) { try Value(text: text, type: .uri) }
    }

    @Test func `null in JSON is refused without any rule`() {
        #expect(AttributeConstraints().check(.json("null")) != nil)
        #expect(AttributeConstraints().check(.json("[null]")) == nil)
    }

    @Test(arguments: [
        Value.double(.greatestFiniteMagnitude), .float(.leastNonzeroMagnitude),
        .date(Date(timeIntervalSinceReferenceDate: -63_113_904_000)), .date(Date(timeIntervalSinceReferenceDate: 252_423_993_599.9)),
        .string(""), .null,
    ])
    func `values that JSON can write are accepted without any rule`(_ value: Value) {
        #expect(AttributeConstraints().check(value) == nil)
    }

    @Test func `a default obeys the rules, and is of the attribute's type`() throws {
        #expect(try Self.attribute(#""type":"decimal","default":1.50,"min":1"#).defaultValue == .decimal(#require(DecimalNumber("1.5"))))
        #expect(try Self.attribute(#""type":"json","default":{"a":[1.0]}"#).defaultValue == .json("{\"a\":[1.0]}"))
        #expect(
            try Self.attribute(#""type":"date","default":"2001-01-01T00:00:00Z""#).defaultValue
                == .date(Date(timeIntervalSinceReferenceDate: 0)))
        #expect(try Self.attribute(#""type":"bool","default":null"#).defaultValue == .null)
        #expect(try Self.attribute(#""type":"bool""#).defaultValue == .null)
    }

    /// Each list is in ascending order.
    @Test(
        arguments: [
            [.bool(false), .bool(true)], [.int(.min), .int(-1), .int(0), .int(.max)],
            [.double(-1), .double(0), .double(0.5), .double(1e300)], [.float(-1), .float(1)],
            [.decimal(DecimalNumber(-3)), .decimal(.zero), .decimal(DecimalNumber(10))],
            [.string(""), .string("A"), .string("a"), .string("aa"), .string("e\u{301}"), .string("\u{E9}"), .string("\u{1F600}")],
            [.data([]), .data([0]), .data([0, 0]), .data([1])],
            [.date(Date(timeIntervalSinceReferenceDate: -1)), .date(Date(timeIntervalSinceReferenceDate: 0))], [.uri("a:"), .uri("b:")],
            [
                .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255))),
                .uuid(UUID(uuid: (0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
                .uuid(UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
            ],
        ] as [[Value]])
    func `values of a kind have an order`(_ values: [Value]) {
        for (left, value) in values.enumerated() {
            for (right, other) in values.enumerated() { #expect(value.precedes(other) == (left < right)) }
            #expect(!value.precedes(.null))
            #expect(!Value.null.precedes(value))
        }
    }
}
