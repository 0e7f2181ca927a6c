import Testing

struct OffsetRuleTests {
    @Test func `offsets of pages stay in the views of pages`() throws {
        let files = try Repository.current.texts(in: ["Sources"], suffix: ".swift")
        #expect(files.contains { $0.path.hasPrefix(OffsetRule.folder) && $0.text.contains("Offset = 16") })
        expectNone(files.flatMap(OffsetRule().violations))
    }

    @Test(arguments: [("Pages/", 1), ("Draft/", 1), ("Pages/Kinds/", 0)])
    func `an offset outside of the views is found`(folder: String, violationCount: Int) {
        let text = "let a = page + TablePage.rowsOffset\nlet b = page.load(fromByteOffset: 8, as: UInt8.self)\n"
        let file = TextFile(path: OffsetRule.target + folder + "A.swift", text: text)
        #expect(OffsetRule().violations(in: file).map(\.line) == [Int?](repeating: 1, count: violationCount))
    }
}
