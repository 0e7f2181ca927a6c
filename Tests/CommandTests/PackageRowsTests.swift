import Testing

@testable import CambiumCommand

@Suite struct PackageRowsTests {
    @Test func `sizes beyond 64 bits are omitted`() {
        let rows = PackageRows.jsonLines([
            ["Package": "a", "Installed-Size": "9223372036854775807", "Size": "99999999999999999999"],
            ["Package": "b", "Installed-Size": "2"],
        ])
        let text = String(decoding: rows, as: UTF8.self)
        #expect(text.contains("2048") && !text.contains("999") && text.split(separator: "\n").count == 2, "\(text)")
    }

    @Test(arguments: [("/tmp/a-b_c.d", "/tmp/a-b_c.d"), ("my notes", "'my notes'"), ("it's", "'it'\\''s'"), ("$x", "'$x'"), ("", "''")])
    func `a path is quoted for the shell if necessary`(path: String, word: String) {
        #expect(ShellWord.quoted(path) == word && ShellWord.text(of: word) == path)
    }
}
