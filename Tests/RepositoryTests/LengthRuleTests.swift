import Testing

struct LengthRuleTests {
    @Test func `no Swift file and no line in one is too long`() throws {
        let files = try Repository.current.texts(in: ["Sources", "Tests", "Benchmarks", "Package.swift"], suffix: ".swift")
        #expect(files.contains { $0.path == "Package.swift" })
        expectNone(files.flatMap(LengthRule().violations))
    }

    @Test(arguments: [
        ("Tests/Long.swift", 600, 0), ("Tests/Long.swift", 601, 1), ("Sources/A/Long.swift", 400, 0), ("Sources/A/Long.swift", 401, 1),
    ])
    func `a source of 401 lines and any other file of 601 lines is found`(path: String, lineCount: Int, violationCount: Int) {
        let file = TextFile(path: path, text: String(repeating: "\n", count: lineCount))
        #expect(LengthRule().violations(in: file).count == violationCount)
    }

    @Test(arguments: [("a", 140, 0), ("a", 141, 1), ("ä", 140, 0), ("ä", 141, 1)])
    func `a line of 141 characters is found`(character: String, count: Int, violationCount: Int) {
        let file = TextFile(path: "Wide.swift", text: "\n" + String(repeating: character, count: count) + "\n")
        let violations = LengthRule().violations(in: file)
        #expect(violations.count == violationCount)
        #expect(violations.allSatisfy { $0.line == 2 })
    }
}
