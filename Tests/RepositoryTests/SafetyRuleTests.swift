import Testing

struct SafetyRuleTests {
    /// Returns the names of tests that a document quotes, which are pieces of code with spaces.
    private func quoted(_ file: TextFile) -> [Substring] {
        file.lines.flatMap { line in
            line.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        }.filter { $0.split(separator: " ").count > 4 }
    }

    @Test func `every test that SAFETY names exists`() throws {
        let safety = try Repository.current.text("Docs/SAFETY.md")
        let tests = try Repository.current.texts(in: ["Tests"], suffix: ".swift")
        let names = quoted(safety)
        #expect(names.count > 10)
        for name in names { #expect(tests.contains { $0.text.contains("func `\(name)`") }, "\(name)") }
    }

    @Test func `a name that no test has is found`() {
        let file = TextFile(path: "Docs/SAMPLE.md", text: "| `a test that has no function yet` and `FORMAT.md` |\n")
        #expect(quoted(file) == ["a test that has no function yet"])
    }
}
