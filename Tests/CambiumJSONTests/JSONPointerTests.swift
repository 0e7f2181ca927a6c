import CambiumJSON
import Testing

@Suite struct JSONPointerTests {
    @Test(arguments: [
        ("", ""), ("a", "a"), ("a/b", "a~1b"), ("~", "~0"), ("~1", "~01"), ("/~/", "~1~0~1"), ("é", "é"),
        ("/\u{301}", "~1\u{301}"), ("~\u{301}", "~0\u{301}"), ("~\u{338}/", "~0\u{338}~1"),
    ])
    func `a key is escaped and read back, even if a combining mark follows`(key: String, escaped: String) {
        #expect(Array(JSONPointer.escaped(key).utf8) == Array(escaped.utf8))
        #expect(JSONPointer.keys("/x/" + escaped).map { Array($0.utf8) } == [Array("x".utf8), Array(key.utf8)])
    }

    @Test func `a combining mark after a slash begins a key`() {
        #expect(JSONPointer.keys("/\u{301}a/0") == ["\u{301}a", "0"])
        #expect(JSONPointer.keys("").isEmpty && JSONPointer.keys("/") == [""])
    }
}
