import Testing

@testable import CambiumCommand

@Suite struct ShellWordTests {
    @Test(arguments: [("/tmp/a-b_c.d", "/tmp/a-b_c.d"), ("my notes", "'my notes'"), ("it's", "'it'\\''s'"), ("$x", "'$x'"), ("", "''")])
    func `a path is quoted for the shell if necessary`(path: String, word: String) {
        #expect(ShellWord.quoted(path) == word && ShellWord.text(of: word) == path)
    }
}
