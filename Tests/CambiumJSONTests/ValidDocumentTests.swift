import CambiumJSON
import Testing

@Suite struct `Valid documents` {
    static let values: [(String, JSONValue)] = [
        ("null", .null), ("true", .bool(true)), ("false", .bool(false)), (" \t\r\n1 \t\r\n", .number("1")), ("\"\"", .string("")),
        ("[]", .array([])), ("{}", .object([])), ("[ ]", .array([])), ("{ }", .object([])), ("[[],{}]", .array([.array([]), .object([])])),
        ("[null,true,false]", .array([.null, .bool(true), .bool(false)])),
        ("[1,[2,[3]],4]", .array([.number("1"), .array([.number("2"), .array([.number("3")])]), .number("4")])),
        ("{\"a\":{\"b\":[]},\"c\":1}", .object([.init("a", .object([.init("b", .array([]))])), .init("c", .number("1"))])),
        ("{\"\":0}", .object([.init("", .number("0"))])),
        ("{\"a\" : 1 , \"b\" : 2}", .object([.init("a", .number("1")), .init("b", .number("2"))])),
        ("{\"a\":1,\"A\":2}", .object([.init("a", .number("1")), .init("A", .number("2"))])),
        ("{\"b\":1,\"a\":{\"b\":2}}", .object([.init("b", .number("1")), .init("a", .object([.init("b", .number("2"))]))])),
        ("[{\"a\":1},{\"a\":2}]", .array([.object([.init("a", .number("1"))]), .object([.init("a", .number("2"))])])),
    ]

    @Test(arguments: values)
    func `a document is read as its value`(_ text: String, _ value: JSONValue) throws {
        #expect(try JSONFixture.value(text) == value)
    }

    @Test(arguments: [
        "0", "-0", "1", "-1", "10", "1234567890", "0.0", "-0.5", "1.25", "0e0", "1e5", "1E5", "1e+5", "1e-5", "1.5E-10", "0e+1", "1e0007",
        "123456789012345678901234567890", "0.1234567890123456789012345678901234567890", "1e400", "-1e-400",
    ])
    func `a number keeps the digits of its text`(_ text: String) throws {
        #expect(try JSONFixture.value(text) == .number(text))
        #expect(try JSONFixture.value("[\(text),\(text)]") == .array([.number(text), .number(text)]))
        #expect(try JSONFixture.value("{\"a\":\(text)}")["a"] == .number(text))
    }

    @Test(arguments: [
        (#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{C}\n\r\t"), (#"\u0041\u00e9\u00E9"#, "A\u{E9}\u{E9}"), (#"\u20AC"#, "\u{20AC}"),
        (#"\uD83D\uDE00"#, "\u{1F600}"), (#"\ud800\udc00"#, "\u{10000}"), (#"\uDBFF\uDFFF"#, "\u{10FFFF}"), (#"\u0000"#, "\0"),
        (#"\uD7FF\uE000"#, "\u{D7FF}\u{E000}"), (#"\uFFFF\uFFFE"#, "\u{FFFF}\u{FFFE}"), (#"a\nb"#, "a\nb"), (#"\\u0041"#, "\\u0041"),
        (#"\\\\"#, "\\\\"),
        (#"\u0022"#, "\""), (#"\u005C"#, "\\"), (#"\uD834\uDD1Ex\u0001"#, "\u{1D11E}x\u{1}"), ("\u{7F}", "\u{7F}"),
        ("\u{2028}\u{2029}", "\u{2028}\u{2029}"),
        ("\u{E9}\u{20AC}\u{10FFFF}", "\u{E9}\u{20AC}\u{10FFFF}"), ("e\u{301}", "e\u{301}"), ("{[,:]}", "{[,:]}"),
        ("// no comment", "// no comment"),
    ])
    func `a string is unescaped, as value and as key`(_ written: String, _ read: String) throws {
        let text = "{\"\(written)\":\"\(written)\"}"
        guard case .object(let members) = try JSONFixture.value(text), case .string(let string) = members[0].value else {
            Issue.record("\(text) is not an object with a string")
            return
        }
        // The bytes are compared, because Swift treats composed and decomposed letters as equal.
        #expect(Array(string.utf8) == Array(read.utf8))
        #expect(Array(members[0].key.utf8) == Array(read.utf8))
    }

    @Test(arguments: 0...140)
    func `strings of every length are read, plain and with an escape`(_ count: Int) throws {
        let plain = String(repeating: "x", count: count)
        #expect(try JSONFixture.value("\"\(plain)\"") == .string(plain))
        #expect(try JSONFixture.value("[\"\(plain)\\n\",\"\(plain)\"]") == .array([.string(plain + "\n"), .string(plain)]))
    }

    @Test func `every scalar value is read from its escape and from its bytes`() throws {
        for value in stride(from: UInt32(0x20), through: 0x10FFFF, by: 61) {
            guard let scalar = Unicode.Scalar(value), value != 0x22, value != 0x5C else { continue }
            let text = String(Character(scalar))
            let escape = text.utf16.map { "\\u" + String(0x10000 + UInt32($0), radix: 16).dropFirst() }.joined()
            #expect(try JSONFixture.value("[\"\(escape)\",\"\(text)\"]") == .array([.string(text), .string(text)]))
        }
    }

    @Test(arguments: [("[", "]"), ("{\"a\":", "}")])
    func `arrays and objects nest up to 700 levels deep`(_ open: String, _ close: String) throws {
        let inside = open == "[" ? "" : "null"
        let deepest = String(repeating: open, count: 700) + inside + String(repeating: close, count: 700)
        #expect(JSONFixture.error(deepest) == nil)
        #expect(try JSONFixture.value(deepest).text == deepest)
        let deeper = String(repeating: open, count: 701) + inside + String(repeating: close, count: 701)
        let error = try #require(JSONFixture.error(deeper))
        #expect(error.offset == 700 * open.utf8.count)
        #expect(error.message.contains("700"))
    }

    @Test(arguments: [1, 2, 11, 12, 13, 14, 100, 5000])
    func `objects of many different keys are read in order`(_ count: Int) throws {
        guard case .object(let members) = try JSONFixture.value(JSONFixture.object(keys: count)) else {
            Issue.record("the value is not an object")
            return
        }
        #expect(members.map(\.key) == (0..<count).map { "k\($0)" })
        #expect(members.map(\.value) == (0..<count).map { .number(String($0)) })
    }

    @Test func `keys are compared by their bytes`() throws {
        let text = "{\"\u{E9}\":1,\"e\u{301}\":2}"
        guard case .object(let members) = try JSONFixture.value(text) else {
            Issue.record("the value is not an object")
            return
        }
        #expect(members.count == 2)
    }
}
