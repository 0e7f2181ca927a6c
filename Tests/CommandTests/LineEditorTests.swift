import Testing

@testable import CambiumCommand

@Suite struct LineEditorTests {
    private var editor = LineEditor(LineHistory(["one", "two words", "three"]))

    private mutating func type(_ text: String) { for character in text { _ = editor.handle(.character(character)) } }

    private mutating func press(_ keys: Key...) { for key in keys { _ = editor.handle(key) } }

    /// The text, with a bar at the cursor.
    private var state: String { String(editor.text[..<editor.cursor]) + "|" + String(editor.text[editor.cursor...]) }

    @Test mutating func `characters are inserted at the cursor, and the cursor moves`() {
        type("añb")
        press(.left, .left)
        type("c")
        #expect(state == "ac|ñb")
        press(.control("e"), .right)
        #expect(state == "acñb|")
        press(.home, .left, .delete)
        #expect(state == "|cñb")
        press(.end, .backspace)
        #expect(state == "cñ|")
    }

    @Test mutating func `a letter and its marks are one character, and so are the parts of an emoji`() {
        for scalar in "ae\u{301}\u{1F44D}\u{1F3FD}b".unicodeScalars { _ = editor.handle(.character(Character(scalar))) }
        #expect(editor.text == ["a", "e\u{301}", "\u{1F44D}\u{1F3FD}", "b"] && editor.cursor == 4)
        press(.left, .backspace, .backspace)
        #expect(state == "a|b")
    }

    @Test mutating func `words and parts of the line are deleted and inserted again`() {
        type("where name == x")
        press(.control("w"))
        #expect(state == "where name == |")
        press(.control("w"), .control("w"))
        #expect(state == "|")
        press(.control("y"))
        #expect(state == "where |")
        press(.home, .wordRight)
        #expect(state == "where| ")
        press(.control("k"))
        #expect(state == "where|")
        press(.left, .control("u"))
        #expect(state == "|e")
        press(.wordLeft, .deleteWord, .backspace, .delete)
        #expect(state == "|")
    }

    @Test mutating func `the arrows recall earlier lines and the new one`() {
        type("new")
        press(.up)
        #expect(state == "three|")
        press(.up, .up, .up)
        #expect(state == "one|")
        press(.down, .down, .down, .down)
        #expect(state == "new|")
        #expect(editor.handle(.enter) == .submit("new"))
        press(.up)
        #expect(state == "new|")
    }

    @Test mutating func `ctrl-r finds the newest line with a text, and then older ones`() {
        press(.control("r"))
        type("o")
        #expect(state == "two words|")
        #expect(editor.screen(prompt: "> ", width: 80).line == "(search 'o') two words")
        press(.control("r"))
        #expect(state == "one|")
        type("x")
        #expect(editor.screen(prompt: "> ", width: 80).line == "(search 'ox': nothing) one")
        press(.control("g"))
        #expect(state == "|")
        press(.control("r"))
        type("two")
        #expect(editor.handle(.enter) == .submit("two words"))
    }

    @Test mutating func `the end of the input, a given-up line and requests are reported`() {
        #expect(editor.handle(.control("d")) == .end)
        type("ab")
        press(.left)
        #expect(editor.handle(.control("d")) == .edit)
        #expect(state == "a|")
        #expect(editor.handle(.tab) == .complete)
        #expect(editor.handle(.control("l")) == .clear)
        #expect(editor.handle(.control("z")) == .stop)
        #expect(editor.handle(.control("c")) == .cancel)
        #expect(state == "|")
        #expect(editor.handle(.unknown) == .edit)
    }

    @Test mutating func `a long line scrolls, and characters that command the terminal are not shown`() {
        type("0123456789")
        let end = editor.screen(prompt: "> ", width: 8)
        #expect(end.line == "> 56789" && end.column == 7)
        press(.home)
        let beginning = editor.screen(prompt: "> ", width: 8)
        #expect(beginning.line == "> 01234" && beginning.column == 2)
        press(.control("k"))
        type("a\u{202E}b")
        #expect(editor.screen(prompt: "> ", width: 20).line.hasPrefix("> a?"))
    }

    @Test mutating func `wide characters take two columns of the terminal`() {
        type("漢字a漢")
        let whole = editor.screen(prompt: "> ", width: 20)
        #expect(whole.line == "> 漢字a漢" && whole.column == 9)
        press(.left)
        #expect(editor.screen(prompt: "> ", width: 20).column == 7)
        press(.end)
        let cut = editor.screen(prompt: "> ", width: 8)
        #expect(cut.line == "> 字a漢" && cut.column == 7)
        press(.home)
        let beginning = editor.screen(prompt: "> ", width: 8)
        #expect(beginning.line == "> 漢字a" && beginning.column == 2)
    }

    @Test mutating func `a long prompt is cut, and its control characters are not shown`() {
        type("abc")
        #expect(editor.screen(prompt: "at label:monday> ", width: 12).line == "nday> abc")
        #expect(editor.screen(prompt: "cambium> ", width: 1).line == "c")
        press(.control("r"))
        type("\u{9B}2J")
        #expect(editor.screen(prompt: "> ", width: 80).line.hasPrefix("(search '?2J'"))
    }

    @Test func `the history has no repetitions and no empty lines, and a limit`() {
        var history = LineHistory((0..<2000).map(String.init))
        #expect(history.lines.count == LineHistory.countMax && history.lines.last == "1999")
        #expect(!history.add("1999") && !history.add("  "))
        #expect(history.add("x") && history.lines.count == LineHistory.countMax)
    }

    @Test(arguments: [
        ([0x61], [Key.character("a")]), ([0xC3, 0xB1], [.character("ñ")]), ([0xF0, 0x9F, 0x99, 0x82], [.character("🙂")]),
        ([0xC3, 0x28], [.unknown]), ([0xFF, 0x61], [.unknown, .character("a")]), ([0x1B, 0x5B, 0x41], [.up]),
        ([0x1B, 0x4F, 0x48], [.home]), ([0x1B, 0x5B, 0x33, 0x7E], [.delete]), ([0x1B, 0x5B, 0x31, 0x3B, 0x35, 0x43], [.wordRight]),
        ([0x1B, 0x5B, 0x31, 0x35, 0x7E, 0x61], [.unknown, .character("a")]),
        ([0x12, 0x0D, 0x09, 0x7F], [.control("r"), .enter, .tab, .backspace]),
        ([0x1B, 0x1B, 0x5B, 0x41, 0x61], [.up, .character("a")]),
        ([0x1B, 0x62], [.wordLeft]), ([0x00], [.unknown]), ([UInt8](repeating: 0x31, count: 2), [.character("1"), .character("1")]),
    ])
    func `bytes become keys`(bytes: [UInt8], keys: [Key]) {
        var decoder = KeyDecoder()
        #expect(bytes.compactMap { decoder.push($0) } == keys)
    }

    @Test func `an escape sequence without an end is dropped`() {
        var decoder = KeyDecoder()
        let bytes: [UInt8] = [0x1B, 0x5B] + [UInt8](repeating: 0x31, count: 100)
        #expect(bytes.compactMap { decoder.push($0) }.first == .unknown)
    }
}
