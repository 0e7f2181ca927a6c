import Testing

struct ProseRuleTests {
    @Test func `no comment, document, message or name of a test has a recognizable fault of prose`() throws {
        let files = try Repository.current.texts(in: ProseRule.places).filter { $0.path.hasSuffix(".swift") || $0.path.hasSuffix(".md") }
        #expect(files.count > 100)
        expectNone(files.map(Prose.init).flatMap(ProseRule().violations))
    }

    @Test(arguments: [
        "Who comes first leads the group.", "It is for who asked.", "What comes next is written.", "Where the disk is full, it fails.",
        "Has segments sealed in the background.", "A reference that is none.", "Returns `nil` where the row is missing.",
        "Those are written first.", "The bytes behind the frame.", "The caller was told of it.", "All but for the last one.",
        "The row has to be there.", "There is room for more.", "Nobody reads the file meanwhile.",
        "It joins neighbouring segments.", "A reader recognises the frame.",
    ])
    func `a fault is found in a comment and in a document`(sentence: String) {
        #expect(!violations(in: "Sources/A/B.swift", "    /// \(sentence)\n").isEmpty)
        #expect(!violations(in: "Docs/B.md", "* \(sentence)\n").isEmpty)
        #expect(!violations(in: "Sources/A/B.swift", "let a = 1  // \(sentence)\n").isEmpty)
        #expect(!violations(in: "Sources/A/B.swift", "throw Failure(\"\(sentence.replacing("`", with: "'"))\", 1)\n").isEmpty)
    }

    @Test(arguments: [
        "A reader who waits gets the newest graph.", "What is a joint?", "The folder where the log is.",
        "If there are none, the list is empty.",
        "The writer has sealed the segment.", "The type is `room`.",
        "The row must be there, except after a crash.", "It joins neighboring segments, unless it is cancelled.",
    ])
    func `plain English is not a fault`(sentence: String) {
        #expect(violations(in: "Sources/A/B.swift", "/// \(sentence)\n").isEmpty)
        #expect(violations(in: "Docs/B.md", "\(sentence)\n").isEmpty)
    }

    @Test(arguments: [(30, 0), (31, 1)])
    func `a sentence of 31 words is found`(wordCount: Int, violationCount: Int) {
        let words = Array(repeating: "word", count: wordCount).joined(separator: " ")
        #expect(violations(in: "Docs/B.md", "\(words).\n").count == violationCount)
        // The words of two sentences in one paragraph are counted separately.
        #expect(violations(in: "Docs/B.md", "\(words). More.\n").count == violationCount)
    }

    @Test func `code, headings, tables and samples are not prose`() {
        #expect(violations(in: "Docs/B.md", "# What is behind\n\n    who told\n\n```\nwho told\n```\n\n| behind | told |\n").isEmpty)
        #expect(
            violations(in: "Sources/A/B.swift", "let told = behind\n///     who told\n// MARK: behind\nlet a = \"behind // told\"\n")
                .isEmpty)
        let fenced = "/// Opens it.\n///\n/// ```swift\n/// let told = room\n///\n/// print(told)\n/// ```\n"
        #expect(violations(in: "Sources/A/B.swift", fenced + "let a = 1\n").isEmpty)
        #expect(!violations(in: "Sources/A/B.swift", fenced + "/// The bytes behind it.\n").isEmpty)
    }

    @Test func `names of tests and interpolated messages are prose, and samples of tests are not`() {
        #expect(!violations(in: "Tests/A/B.swift", "@Test func \u{60}who asks is told\u{60}() {}\n").isEmpty)
        #expect(!violations(in: "Sources/A/B.swift", "throw Failure(\"the bytes behind \\(count(\"x\")) are lost\")\n").isEmpty)
        #expect(violations(in: "Tests/A/B.swift", "let text = \"the bytes behind the frame\"\n").isEmpty)
        #expect(violations(in: "Sources/A/B.swift", "let name = \"behind it\"\nlet more = \"what follows is \" + text\n").isEmpty)
    }

    private func violations(in path: String, _ text: String) -> [Violation] {
        ProseRule().violations(in: Prose(TextFile(path: path, text: text)))
    }
}
