import CambiumJSON
import CambiumModel
import CambiumTesting
import Foundation
import Testing

@Suite struct `Values as text and as JSON` {
    static let uuid = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF") ?? UUID()

    /// For every type: a value, its text, and its JSON.
    static let spellings: [(AttributeType, Value, String, String)] = [
        (.bool, .bool(true), "true", "true"), (.bool, .bool(false), "false", "false"), (.int16, .int(-32_768), "-32768", "-32768"),
        (.int16, .int(32_767), "32767", "32767"),
        (.int32, .int(Int64(Int32.min)), "-2147483648", "-2147483648"), (.int32, .int(Int64(Int32.max)), "2147483647", "2147483647"),
        (.int64, .int(.min), "-9223372036854775808", "-9223372036854775808"),
        (.int64, .int(.max), "9223372036854775807", "9223372036854775807"), (.int64, .int(0), "0", "0"),
        (.float, .float(0.1), "0.1", "0.1"), (.float, .float(3), "3", "3"),
        (.float, .float(-0.0), "-0.0", "-0.0"), (.float, .float(.greatestFiniteMagnitude), "3.4028235e+38", "3.4028235e+38"),
        (.double, .double(0.1), "0.1", "0.1"), (.double, .double(-2), "-2", "-2"),
        (.double, .double(-0.0), "-0.0", "-0.0"), (.double, .double(.leastNonzeroMagnitude), "5e-324", "5e-324"),
        (.double, .double(1e300), "1e+300", "1e+300"), (.decimal, .decimal(DecimalNumber(42)), "42", "42"),
        (.decimal, .decimal(DecimalNumber("-0.000123") ?? .zero), "-0.000123", "-0.000123"), (.string, .string(""), "", #""""#),
        (.string, .string("a\"\n\u{E9}"), "a\"\n\u{E9}", #""a\"\n\#u{E9}""#),
        (.data, .data([]), "", #""""#), (.data, .data([0, 255]), "AP8=", #""AP8=""#), (.data, .data([1]), "AQ==", #""AQ==""#),
        (.data, .data([1, 2, 3]), "AQID", #""AQID""#),
        (.date, .date(Date(timeIntervalSinceReferenceDate: 0.5)), "2001-01-01T00:00:00.5Z", #""2001-01-01T00:00:00.5Z""#),
        (.uuid, .uuid(uuid), uuid.uuidString, "\"\(uuid.uuidString)\""),
        (.uri, .uri("https://a.b/c?d=\u{E9}"), "https://a.b/c?d=\u{E9}", "\"https://a.b/c?d=\u{E9}\""),
        (.json, .json("{\"a\":[1.50,null]}"), "{\"a\":[1.50,null]}", "{\"a\":[1.50,null]}"),
        (.json, .json("[]"), "[]", "[]"),
    ]

    @Test(arguments: spellings.indices)
    func `a value has one spelling, which reads back as the value`(_ index: Int) throws {
        let (type, value, text, json) = Self.spellings[index]
        var writer = JSONWriter()
        value.write(to: &writer)
        #expect(writer.text == json)
        #expect(value.text == text)
        #expect(try Value(text: text, type: type) == value)
        #expect(try Value(jsonText: json, type: type) == value)
    }

    @Test(arguments: AttributeType.allCases)
    func `null is null for every type`(_ type: AttributeType) throws {
        #expect(try Value(jsonText: "null", type: type) == .null)
        #expect(try Value(json: .null, type: type).isNull)
        #expect(Value.null.text == "null")
    }

    @Test(arguments: [
        (AttributeType.int64, "1.0", Value.int(1)), (.int64, "1e3", .int(1000)), (.int16, "12.5e1", .int(125)), (.int64, "-0", .int(0)),
        (.int64, "9223372036854775807.0", .int(.max)),
        (.int64, "1000000000000000000", .int(1_000_000_000_000_000_000)), (.double, "1", .double(1)),
        (.double, "0.30000000000000004", .double(0.30000000000000004)),
        (.double, "123456789012345678", .double(123_456_789_012_345_680)), (.double, "1E-7", .double(1e-7)),
        (.double, "4.35", .double(4.35)), (.double, "-0", .double(-0.0)), (.float, "16777217", .float(16_777_216)),
        (.decimal, "1.500", .decimal(DecimalNumber("1.5") ?? .zero)), (.json, "[ 1 , {\"a\" : \"\\u0041\"} ]", .json("[1,{\"a\":\"A\"}]")),
        (.json, "\"text\"", .json("\"text\"")), (.json, "1.0", .json("1.0")),
    ])
    func `other spellings are read too`(_ type: AttributeType, _ json: String, _ value: Value) throws {
        #expect(try Value(jsonText: json, type: type) == value)
        #expect(try Value(text: json, type: type) == value)
    }

    @Test func `lower case UUIDs and the text null of a JSON attribute are read`() throws {
        #expect(try Value(text: Self.uuid.uuidString.lowercased(), type: .uuid) == .uuid(Self.uuid))
        #expect(try Value(text: " null ", type: .json) == .null)
        #expect(try Value(text: "null", type: .string) == .string("null"))
    }

    /// Texts that look like values of the type but are not valid.
    static let malformed: [(AttributeType, [String])] = [
        (.bool, ["", "TRUE", "1", "yes", "true ", "null"]),
        (.int16, ["32768", "-32769", "1.5", "", "-", "+1", "1e5", " 1", "1 ", "0x1", "a", "1_000"]),
        (.int32, ["2147483648", "-2147483649", "1e10", "0.1"]),
        (.int64, ["9223372036854775808", "-9223372036854775809", "1e19", "1e999999", "99999999999999999999999999999999999999999", "--1"]),
        (.float, ["3.5e38", "nan", "inf", "-inf", "0x10", "0x1p3", "", "+1", ".5", "1.", "-.5", "1e", " 1", "1,5", "-", "1.e5"]),
        (
            .double,
            [
                "1e309", "-1e309", "nan", "NaN", "inf", "infinity", "0x10", "-0x1p0", "", "+1", ".5", "-.5", "1.", "1.e5", "1e", "1e+",
                " 1", "1 ", "1_0", "--1", "-", "1.2.3", "0x1p10000000000000000",
            ]
        ),
        (.decimal, ["", "NaN", "1e200", "123456789012345678901234567890123456789", "+1", "0x1"]),
        (.data, ["A", "AA", "AAA", "A===", "====", "AP9=", "AB==", "AP8=AP8=", "AP8-", "AP 8", "AP8=\n", "\u{E9}AAA"]),
        (
            .uuid,
            [
                "", "00112233445566778899AABBCCDDEEFF", "00112233-4455-6677-8899-AABBCCDDEEF", "00112233-4455-6677-8899-AABBCCDDEEFG",
                "{0112233-4455-6677-8899-AABBCCDDEEFF", "00112233_4455-6677-8899-AABBCCDDEEFF",
            ]
        ),
        (.uri, ["", "a b", "a\nb", "a\u{7F}", " "]),
    ]

    @Test(arguments: malformed)
    func `text that is not a value of its type is refused and quoted`(_ type: AttributeType, _ texts: [String]) {
        for text in texts {
            let error = #expect(throws: ConversionError.malformed(type, text)) { try Value(text: text, type: type) }
            let message = error?.message ?? ""
            #expect(message.hasPrefix("expected ") && message.hasSuffix(", but found \(Excerpt.quoted(text))"), "\(message)")
        }
    }

    @Test(arguments: [
        ("", "the document has no value, at column 1"), ("{\"a\":1,\"a\":2}", "the object has the key \"a\" twice, at column 8"),
        (#"{"k\"":1,"\u006b\u0022":2}"#, #"the object has the key "k\"" twice, at column 10"#),
        ("1 2", "more text follows the value, at column 3"), ("[1,\n]", "expected a value, at line 2, column 1"), ("{", ""), ("nul", ""),
        ("'a'", ""),
    ])
    func `a text that is not JSON is refused with the reason`(_ text: String, _ reason: String) throws {
        let plain = #expect(throws: ConversionError.self) { try Value(text: text, type: .json) }
        let json = #expect(throws: ConversionError.self) { try Value(jsonText: text, type: .json) }
        for error in [plain, json] {
            let message = try #require(error?.message)
            #expect(message.hasPrefix("\(Excerpt.quoted(text)) is not JSON: ") && message.hasSuffix(reason), "\(message)")
        }
    }

    @Test func `a long text is quoted in part`() {
        let error = #expect(throws: ConversionError.self) { try Value(text: String(repeating: "x", count: 1000), type: .bool) }
        #expect(error?.message == "expected true or false, but found \"" + String(repeating: "x", count: 60) + "...\"")
    }

    static let kinds = [
        ("true", "true"), ("false", "false"), ("7", "the number 7"), ("\"x\"", "the string \"x\""), ("[]", "the array []"),
        ("{}", "the object {}"),
    ]

    @Test(arguments: [
        (AttributeType.bool, [2, 3, 4, 5]), (.int16, [0, 1, 3, 4, 5]), (.int32, [0, 3]), (.int64, [1, 3]), (.float, [0, 3]),
        (.double, [0, 3, 4]), (.decimal, [0, 3]), (.string, [0, 1, 2, 4, 5]),
        (.data, [2, 4]), (.date, [0, 2, 5]), (.uuid, [2, 5]), (.uri, [2, 4]),
    ])
    func `JSON of another kind is refused, and the message has the value`(_ type: AttributeType, _ indices: [Int]) {
        for (json, found) in indices.map({ Self.kinds[$0] }) {
            let error = #expect(throws: ConversionError.wrongKind(type, found: found)) { try Value(jsonText: json, type: type) }
            #expect(error?.message == "expected \(type.wanted), but found \(found)")
        }
    }

    @Test func `random doubles and floats keep all bits when written and read`() throws {
        var random = SplitMix64(for: "doubles and floats")
        for _ in 0..<10_000 {
            let double = Value.double(Double(bitPattern: random.next()))
            if case .double(let value) = double, value.isFinite { #expect(try Value(text: double.text, type: .double) == double) }
            let float = Value.float(Float(bitPattern: UInt32(truncatingIfNeeded: random.next())))
            if case .float(let value) = float, value.isFinite { #expect(try Value(jsonText: float.text, type: .float) == float) }
        }
    }

    @Test func `short decimal texts become the doubles that Swift reads`() throws {
        var random = SplitMix64(for: "decimal texts")
        for _ in 0..<10_000 {
            var text = String(Int64(truncatingIfNeeded: random.next()) >> Int64.random(in: 4..<63, using: &random))
            if text.count > 3 {
                text.insert(".", at: text.index(text.startIndex, offsetBy: Int.random(in: 2..<text.count, using: &random)))
            }
            #expect(try Value(text: text, type: .double) == .double(#require(Double(text))), "\(text)")
        }
    }

    @Test func `random bytes have the same base64 as in Foundation, and are read back`() throws {
        var random = SplitMix64(for: "base64")
        for count in 0..<300 {
            let bytes = random.bytes(count)
            #expect(Value.data(bytes).text == Data(bytes).base64EncodedString())
            #expect(try Value(text: Value.data(bytes).text, type: .data) == .data(bytes))
        }
    }

    @Test func `values are equal if their bits are equal`() {
        #expect(Value.string("\u{E9}") != .string("e\u{301}"))
        #expect(Value.double(0) != .double(-0.0))
        #expect(Value.double(.nan) == .double(.nan))
        #expect(Value.string("a") != .uri("a"))
        #expect(Value.int(0) != .bool(false))
        #expect(Set([Value.string("\u{E9}"), .string("e\u{301}"), .string("\u{E9}"), .double(0), .double(-0.0)]).count == 4)
    }
}
