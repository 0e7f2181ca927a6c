import CambiumJSON
import Testing

@Suite struct ExcerptTests {
    @Test func `a text of 60 code points is shown whole, and a longer one is cut`() {
        let text = String(repeating: "é", count: 60)
        #expect(Excerpt.plain(text) == text)
        #expect(Excerpt.plain(text + "x") == text + "...")
        #expect(Excerpt.plain("") == "" && Excerpt.quoted("a") == "\"a\"")
    }

    @Test func `a character of many code points is cut, too`() {
        let text = "e" + String(repeating: "\u{301}", count: 100_000)
        #expect(text.count == 1 && Excerpt.plain(text).utf8.count < 200)
    }

    @Test func `control characters are escaped before and after the cut`() {
        #expect(Excerpt.quoted("a\n\u{1B}[2J") == #""a\n\u{1B}[2J""#)
        #expect(Excerpt.plain(String(repeating: "\n", count: 61)) == String(repeating: "\\n", count: 60) + "...")
    }

    @Test(arguments: [
        ("null", "null"), ("true", "true"), ("false", "false"), ("-1.50", "the number -1.50"), (#""x\ty""#, #"the string "x\ty""#),
        ("[ 1, null ]", "the array [1,null]"), (#"{ "a": "b" }"#, #"the object {"a":"b"}"#),
    ])
    func `a JSON value is described by its kind and its text`(json: String, text: String) throws {
        #expect(Excerpt.described(try JSONValue(parsing: json.utf8)) == text)
    }
}
