import Testing

struct WordRuleTests {
    @Test func `no file contains a banned word`() throws {
        let files = try Repository.current.texts(in: WordRule.places)
        #expect(files.count > 10)
        expectNone(files.flatMap(WordRule().violations))
    }

    @Test(arguments: WordRule.unfinished, WordRule.places)
    func `a word that announces unfinished work is found everywhere`(word: String, place: String) {
        let file = TextFile(path: "\(place)/Sample.swift", text: "let a = 1\n// \(word): more\n")
        #expect(WordRule().violations(in: file).map(\.line) == [2])
    }

    @Test(arguments: WordRule.traps)
    func `a trap is found only in Sources`(word: String) {
        #expect(WordRule().violations(in: TextFile(path: "Sources/A/B.swift", text: "x = y \(word)z)\n")).count == 1)
        #expect(WordRule().violations(in: TextFile(path: "Docs/B.md", text: "x = y \(word)z)\n")).isEmpty)
    }

    @Test(arguments: WordRule.waits)
    func `a wait is found only in Tests`(word: String) {
        #expect(WordRule().violations(in: TextFile(path: "Tests/A/B.swift", text: "Task\(word)1)\n")).count == 1)
        #expect(WordRule().violations(in: TextFile(path: "Sources/A/B.swift", text: "Task\(word)1)\n")).isEmpty)
    }

    @Test(arguments: ["    func note(_ row: Int) {", "func noteRow() {", "case damaged = 1", "let damagedPages = 3"])
    func `a declaration with an unclear word is found in Sources`(line: String) {
        #expect(WordRule().violations(in: TextFile(path: "Sources/A/B.swift", text: "\n\(line)\n")).map(\.line) == [2])
        #expect(WordRule().violations(in: TextFile(path: "Tests/A/B.swift", text: "\(line)\n")).isEmpty)
    }

    @Test(arguments: ["func notes() {", "let note = 1", "func denote(_ a: Int) {"])
    func `a declaration with a noun is accepted`(line: String) {
        #expect(WordRule().violations(in: TextFile(path: "Sources/A/B.swift", text: "\(line)\n")).isEmpty)
    }

    @Test(arguments: WordRule.folders)
    func `a folder whose name has no meaning is found`(folder: String) {
        #expect(WordRule().violations(in: TextFile(path: "Sources/A/\(folder)/B.swift", text: "let a = 1\n")).count == 1)
    }

    @Test(arguments: ["XXH3", "XXHash", "for nowhere", "HACKLE"])
    func `a longer word is accepted`(word: String) {
        #expect(WordRule().violations(in: TextFile(path: "Sources/A/B.swift", text: "// \(word)\n")).isEmpty)
    }
}
