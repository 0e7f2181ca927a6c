import Testing

struct LinkRuleTests {
    @Test func `every relative link in a document leads to a file`() throws {
        let files = try Repository.current.texts(in: LinkRule.places, suffix: ".md")
        #expect(files.contains { $0.path == ModuleTable.path })
        expectNone(files.flatMap(LinkRule(exists: Repository.current.exists).violations))
    }

    @Test(arguments: [
        "See [that](Decisions/0002.md).", "[a](FORMAT.md) and [b](FORMAT.markdown#frames)", "[a](../../FORMAT.md)",
        "![picture](picture.png \"The picture\")", "[a]: Lost.md", "[a](/Docs/FORMAT.md)",
    ])
    func `a link that leads nowhere is found`(line: String) {
        #expect(violations(of: line).map(\.line) == [2])
    }

    @Test(arguments: [
        "[a](FORMAT.md)", "[a](FORMAT.md#frames)", "[a](#here)", "[a](../README.md)", "[a](Decisions/0001%20log.md)",
        "[a](https://example.org/lost)", "[a](mailto:a@example.org)", "`[a](Lost.md)`", "```\n[a](Lost.md)\n```", "[a]: FORMAT.md",
    ])
    func `a link to a file or a web page, or inside code, is accepted`(line: String) {
        #expect(violations(of: line).isEmpty)
    }

    private func violations(of line: String) -> [Violation] {
        let present: Set = ["README.md", "Docs/FORMAT.md", "Docs/Decisions/0001 log.md"]
        return LinkRule(exists: present.contains).violations(in: TextFile(path: "Docs/SAMPLE.md", text: "# Sample\n\(line)\n"))
    }
}
