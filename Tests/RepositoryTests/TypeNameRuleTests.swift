import Testing

struct TypeNameRuleTests {
    @Test func `no type's name ends in a word without meaning`() throws {
        let files = try Repository.current.texts(in: ["Sources", "Tests", "Benchmarks"], suffix: ".swift")
        #expect(!files.isEmpty)
        expectNone(files.flatMap(TypeNameRule().violations))
    }

    @Test(arguments: TypeNameRule.endings, ["struct", "public final class", "enum", "actor", "package protocol"])
    func `a declaration with such an ending is found`(ending: String, keyword: String) {
        let file = TextFile(path: "Sources/A/B.swift", text: "\n\(keyword) Segment\(ending): Sendable {}\n")
        #expect(TypeNameRule().violations(in: file).map(\.line) == [2])
    }

    @Test(arguments: ["struct Baseline {}", "let pageBase = 1", "func info() {}", "enum Corner {}"])
    func `a declaration with another ending is accepted`(line: String) {
        #expect(TypeNameRule().violations(in: TextFile(path: "Sources/A/B.swift", text: line)).isEmpty)
    }
}
