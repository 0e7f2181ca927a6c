import Testing

@testable import CambiumCommand

@Suite struct TextTableTests {
    private let table = TextTable(
        ["name", "count"], [["a", "1"], ["a long name that takes much of a line", "1234"], ["x\u{1B}y\nz", ""]], alignsRight: [false, true])

    @Test func `columns are aligned, and control characters are escaped`() {
        #expect(
            table.lines(width: nil) == [
                "name                                   count", "a                                          1",
                "a long name that takes much of a line   1234", "x\\u{1B}y\\nz",
            ])
    }

    @Test func `the widest columns are cut to the width of the terminal`() {
        #expect(table.lines(width: 20) == ["name           count", "a                  1", "a long name …   1234", "x\\u{1B}y\\nz"])
        #expect(table.lines(width: 6).allSatisfy { $0.count <= 6 })
    }

    @Test func `wide characters take two columns, and marks take none`() {
        let wide = TextTable(["a", "b"], [["漢字", "x"], ["e\u{301}", "y"], ["🙂🙂🙂🙂", "z"]], alignsRight: [false, false])
        #expect(wide.lines(width: nil) == ["a         b", "漢字      x", "e\u{301}         y", "🙂🙂🙂🙂  z"])
        #expect("\u{2329}\u{232A}".columnCount == 4 && "\u{2328}".columnCount == 1)
        let long = TextTable(["a"], [[String(repeating: "漢", count: 40)]], alignsRight: [false])
        #expect(long.lines(width: 10).last == "漢漢漢漢…")
    }

    @Test func `columns of the same width are cut alike`() {
        let text = String(repeating: "x", count: 40)
        let wide = TextTable(["a", "b"], [[text, text]], alignsRight: [false, false])
        let cells = wide.lines(width: 42).last?.split(separator: " ").map(\.count)
        #expect(cells == [20, 20])
    }

    @Test func `columns with very long texts are cut as columns with long texts`() {
        let text = String(repeating: "x", count: 1_000_000)
        let wide = TextTable(["a", "b", "c"], [[text, text, "y"]], alignsRight: [false, false, false])
        let cells = wide.lines(width: 45).last?.split(separator: " ").map(\.count)
        #expect(cells == [20, 20, 1])
    }
}
