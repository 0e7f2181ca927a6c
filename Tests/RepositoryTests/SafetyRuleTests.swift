import Testing

struct SafetyRuleTests {
    /// Returns the names of tests that a document quotes, which are pieces of code with spaces.
    private func quoted(_ file: TextFile) -> [Substring] {
        file.lines.flatMap { line in
            line.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        }.filter { $0.split(separator: " ").count > 4 }
    }

    /// Returns the names between backticks of the functions in a Swift file.
    private func declared(_ file: TextFile) -> [String] {
        let parts = file.text.utf8.split(separator: UInt8(ascii: "`"), omittingEmptySubsequences: false)
        return zip(parts, parts.dropFirst()).compactMap { before, name in
            before.suffix(5).elementsEqual("func ".utf8) ? String(decoding: name, as: UTF8.self) : nil
        }
    }

    @Test func `every test that SAFETY names exists`() throws {
        let safety = try Repository.current.text("Docs/Operate/SAFETY.md")
        let tests = try Repository.current.texts(in: ["Tests"], suffix: ".swift")
        let (names, declared) = (quoted(safety), Set(tests.flatMap(declared)))
        #expect(names.count > 10)
        // The message has only the missing names, not all declared names.
        #expect(names.map { String($0) }.filter { !declared.contains($0) } == [])
    }

    @Test func `a name that no test has is found`() {
        let file = TextFile(path: "Docs/SAMPLE.md", text: "| `a test that has no function yet` and `FORMAT.md` |\n")
        #expect(quoted(file) == ["a test that has no function yet"])
        let code = TextFile(path: "Tests/Sample.swift", text: "    @Test func `a test`() {}  // `a test that has no function yet`\n")
        #expect(declared(code) == ["a test"])
    }
}
