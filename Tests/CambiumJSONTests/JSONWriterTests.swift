import CambiumJSON
import CambiumTesting
import Testing

@Suite struct `Writing JSON` {
    @Test func `commas and colons are in the right places`() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("a")
        writer.beginArray()
        writer.number(1)
        writer.number(UInt64.max)
        writer.beginObject()
        writer.endObject()
        writer.endArray()
        writer.quotedKey(Array("\"b\":".utf8))
        writer.bool(true)
        writer.key("c")
        writer.null()
        writer.endObject()
        #expect(writer.text == #"{"a":[1,18446744073709551615,{}],"b":true,"c":null}"#)
    }

    @Test func `each line is a separate value`() {
        var writer = JSONWriter()
        for number in [1, -2] {
            writer.beginArray()
            writer.number(number)
            writer.endArray()
            writer.endLine()
        }
        #expect(writer.text == "[1]\n[-2]\n")
        writer.removeAll()
        writer.raw("1.50")
        #expect(writer.text == "1.50")
    }

    @Test func `raw bytes and bytes of text are written as they are`() {
        var writer = JSONWriter()
        writer.beginArray()
        Array("\u{E9}\"".utf8).withUnsafeBytes { writer.string(utf8: $0) }
        Array("{\"a\":1}".utf8).withUnsafeBytes { writer.raw($0) }
        writer.string("")
        writer.endArray()
        #expect(writer.text == "[\"\u{E9}\\\"\",{\"a\":1},\"\"]")
    }

    @Test(arguments: [
        ("\"", #""\"""#), ("\\", #""\\""#), ("\n\r\t", #""\n\r\t""#), ("\u{8}\u{C}", #""\u0008\u000c""#), ("\0\u{1F}", #""\u0000\u001f""#),
        ("/", "\"/\""),
        ("\u{7F}\u{E9}\u{1F600}", "\"\u{7F}\u{E9}\u{1F600}\""), ("a\nb\nc", #""a\nb\nc""#),
    ])
    func `text is escaped where JSON demands it and nowhere else`(_ text: String, _ written: String) {
        #expect(JSONValue.string(text).text == written)
    }

    private func shown(_ text: String) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key(text)
        writer.string(text)
        writer.endObject()
        return writer.text
    }

    @Test func `characters that a terminal obeys or a viewer hides are escaped, and read back`() throws {
        let hidden: [ClosedRange<UInt32>] = [
            0...0x1F, 0x7F...0x9F, 0x61C...0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069,
        ]
        for value in UInt32(0)...0x2100 {
            let character = String(try #require(UnicodeScalar(value)))
            for text in [character, "some words \(character)", "\(character) and more words", "\u{E9}\(character)\u{1F332}\(character)"] {
                let json = shown(text)
                #expect(try JSONFixture.value(json) == .object([.init(text, .string(text))]))
                let isShown = json.unicodeScalars.contains { $0.value == value }
                if value != 0x22, value != 0x5C { #expect(isShown != hidden.contains { $0.contains(value) }, "\(value)") }
            }
        }
    }

    @Test func `JSON text is written with escapes in its strings and nowhere else`() {
        var writer = JSONWriter()
        writer.json("{\n\t\"a\\n\u{2028}\": \"\u{9B}31m\u{E9}\u{7F}\"}")
        #expect(writer.text == "{\n\t\"a\\n\\u2028\": \"\\u009b31m\u{E9}\\u007f\"}")
    }

    @Test(arguments: [
        ("plain \u{E9}", "plain \u{E9}"), ("\u{1B}[31mred", "\\u{1B}[31mred"), ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\u{9B}1m\u{7F}", "\\u{9B}1m\\u{7F}"),
        ("\u{202E}cba\u{2069}\u{200F}\u{2028}", "\\u{202E}cba\\u{2069}\\u{200F}\\u{2028}"), ("", ""), ("\u{61C}x", "\\u{61C}x"),
    ])
    func `text for people has escapes in place of controls`(text: String, shown: String) {
        #expect(ControlText.escaped(text) == shown)
    }

    @Test func `every character below 256 is written and read back`() throws {
        for value in UInt8(0)...255 {
            let text = "x" + String(UnicodeScalar(value)) + "y"
            #expect(try JSONFixture.value(JSONValue.string(text).text) == .string(text))
            #expect(try JSONFixture.value(JSONValue.object([.init(text, .null)]).text) == .object([.init(text, .null)]))
        }
    }

    @Test(arguments: [
        "null", "[]", "{}", "[[[]],{\"a\":{}}]", "-0.0e+10", "{\"z\":1,\"a\":[true,false,null,\"\"]}", "\"\\\\\\\"\"",
        "[1.0,1,10E2,12345678901234567890.123]",
    ])
    func `compact text is read and written unchanged`(_ text: String) throws {
        #expect(try JSONFixture.value(text).text == text)
    }

    @Test func `random documents are the same after writing and reading`() throws {
        var random = SplitMix64(for: "writing random documents")
        for _ in 0..<500 {
            let value = try JSONValue(parsing: RandomDocument.text(of: 300, &random))
            let text = value.text
            #expect(try JSONFixture.value(text) == value)
            #expect(try JSONFixture.value(text).text == text)
        }
    }

    @Test func `a member is found by its key`() throws {
        let value = try JSONFixture.value(#"{"a":1,"b":{"a":2}}"#)
        #expect(value["a"] == .number("1"))
        #expect(value["b"]?["a"] == .number("2"))
        #expect(value["c"] == nil)
        #expect(JSONValue.array([])["a"] == nil)
    }

    @Test(arguments: [
        ("null", "null"), ("true", "a Boolean"), ("1", "a number"), ("\"\"", "a string"), ("[]", "an array"), ("{}", "an object"),
    ])
    func `a value names its kind`(_ text: String, _ name: String) throws {
        #expect(try JSONFixture.value(text).kindName == name)
    }
}
