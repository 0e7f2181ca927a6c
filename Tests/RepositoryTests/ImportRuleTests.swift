import Testing

struct ImportRuleTests {
    @Test func `every import in Sources is allowed by the module table`() throws {
        let table = try #require(ModuleTable(Repository.current.text(ModuleTable.path)))
        let files = try Repository.current.texts(in: ["Sources"], suffix: ".swift")
        #expect(!files.isEmpty)
        expectNone(files.flatMap(ImportRule(table: table).violations))
    }

    @Test(arguments: [
        "import CambiumLog", "  import CambiumLog  ", "public import CambiumLog", "@testable import CambiumLog",
        "@_exported public import CambiumLog", "@_spi(Testing) package import CambiumLog", "import struct CambiumLog.Frame",
        "import CambiumLog // the frames", "import CambiumLog; import Glibc",
    ])
    func `an import that the table does not name is found`(line: String) throws {
        #expect(try violations(of: line, in: "CambiumBytes").map(\.line) == [2])
    }

    @Test(arguments: ["import CLZ4", "internal import CLZ4", "import Glibc", "/// import CambiumLog", "import treats a row as"])
    func `a permitted import and prose are accepted`(line: String) throws {
        #expect(try violations(of: line, in: "CambiumBytes").isEmpty)
    }

    @Test func `only the proofs may import CNettle, and only the command line ArgumentParser`() throws {
        #expect(try violations(of: "import CNettle", in: "CambiumProofs").isEmpty)
        #expect(try violations(of: "import CNettle", in: "CambiumBytes").count == 1)
        #expect(try violations(of: "import ArgumentParser", in: "CambiumProofs").count == 1)
    }

    private func violations(of line: String, in target: String) throws -> [Violation] {
        let rule = ImportRule(table: try #require(ModuleTable(ModuleTableTests.sample)))
        return rule.violations(in: TextFile(path: "Sources/\(target)/Sample.swift", text: "// Sample\n\(line)\n"))
    }
}
