import Testing

struct ModuleTableTests {
    static let sample = TextFile(
        path: ModuleTable.path,
        text: """
            # Architecture

            | target | holds | may import |
            |---|---|---|
            | `CLZ4` | the map of a C library | - |
            | `CambiumBytes` | bytes, `varints` | `CLZ4` |
            | `CambiumProofs` | the proofs | `CambiumBytes`, `CNettle` |

            | word | meaning | source |
            | `Frame` | a part of a segment | `Log` |
            """)

    @Test func `the document has a row for each target in Sources, and no other row`() throws {
        let document = try Repository.current.text(ModuleTable.path)
        let table = try #require(ModuleTable(document), "\(ModuleTable.path) has no table '| target | holds | may import |'")
        try expectNone(table.violations(targets: Repository.current.targets()))
    }

    @Test func `rows are read up to the end of the table`() throws {
        let table = try #require(ModuleTable(Self.sample))
        #expect(table.imports == ["CLZ4": [], "CambiumBytes": ["CLZ4"], "CambiumProofs": ["CambiumBytes", "CNettle"]])
    }

    @Test func `a document without the header or its rows has no table`() {
        #expect(ModuleTable(TextFile(path: ModuleTable.path, text: "| target | may import |\n|---|---|\n| `A` | `B` |\n")) == nil)
        #expect(ModuleTable(TextFile(path: ModuleTable.path, text: "| target | holds | may import |\n")) == nil)
    }

    @Test func `a directory without a row and a row without a directory are found`() throws {
        let table = try #require(ModuleTable(Self.sample))
        let violations = table.violations(targets: ["CLZ4", "CambiumBytes", "CambiumLost"])
        #expect(violations.map(\.path) == ["Sources/CambiumLost", ModuleTable.path])
    }
}
