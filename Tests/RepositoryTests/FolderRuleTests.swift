import Testing

struct FolderRuleTests {
    @Test func `each folder of a target names only lower folders`() throws {
        let table = try #require(FloorTable(Repository.current.text(FloorTable.path)))
        let files = try Repository.current.texts(in: ["Sources"], suffix: ".swift")
        #expect(files.count > 300)
        expectNone(FolderRule(table: table).violations(in: files))
    }

    private static let table = """
        | target | folders, from the lowest to the highest |
        |---|---|
        | `Shop` | `Goods` → `Orders` |
        """

    private func violations(_ texts: [(path: String, text: String)]) throws -> [String] {
        let table = try #require(FloorTable(TextFile(path: FloorTable.path, text: Self.table)))
        return FolderRule(table: table).violations(in: texts.map { TextFile(path: "Sources/Shop/\($0.path)", text: $0.text) })
            .map { "\($0.path):\($0.line ?? 0)" }
    }

    private static let order = (path: "Orders/Order.swift", text: "struct Order {\n    let item: Item\n}\n")

    @Test(arguments: [
        "extension Order {}", "let order: Order?", "typealias Orders = [Order]", "func sum(_ orders: [Order]) {}", "let a = \"\"; Order()",
    ])
    func `a type of a higher folder is found`(line: String) throws {
        let item = (path: "Goods/Item.swift", text: "struct Item {}\n\(line)\n")
        #expect(try violations([item, Self.order]) == ["Sources/Shop/Goods/Item.swift:2"])
    }

    @Test(arguments: [
        "// An Order has items.", "let text = \"Order\"", "let text = \"\\\"Order\"", "let a = Table.Order.self",
        "enum E { enum Order {} }",
        "let text = \"\"\"\n    Order\n    \"\"\"",
    ])
    func `comments, strings, members and nested types are not types of a higher folder`(line: String) throws {
        let nested = line.hasPrefix("enum") ? "enum E {\n    enum Order {}\n    let order: Order\n}" : line
        let item = (path: "Goods/Item.swift", text: "struct Item {}\n\(nested)\n")
        #expect(try violations([item, Self.order]).isEmpty)
    }

    @Test func `a private type of a higher folder is not a type that others name`() throws {
        let order = (path: "Orders/Order.swift", text: "private struct Sum {}\n")
        #expect(try violations([(path: "Goods/Item.swift", text: "struct Item { let sum: Sum }\n"), order]).isEmpty)
    }

    @Test func `a folder without a floor, a file without a folder and a floor without a file are found`() throws {
        let texts = [
            (path: "Goods/Item.swift", text: "struct Item {}\n"), (path: "Bills/Bill.swift", text: "struct Bill {}\n"),
            (path: "Shop.swift", text: "struct Shop {}\n"),
        ]
        #expect(try violations(texts) == ["Sources/Shop:0", "Sources/Shop/Bills:0", "Docs/ARCHITECTURE.md:0"])
    }

    @Test func `a document without floors is found`() {
        #expect(FloorTable(TextFile(path: FloorTable.path, text: "# Floors\n")) == nil)
    }
}
