import Cambium
import Foundation
import Testing

/// The code of Sources/Cambium/Cambium.docc/BuildAShop.md that needs no macro, word for word. `script/template` builds and runs the rest.
@Suite struct BuildAShopSnippets {
    struct Product: EntityRecord {
        var sku: String
        var name: String
        var shelf: Ref<Shelf>?
        var ref: Ref<Product>?

        static let recordSchema = RecordSchema<Product>("Product") {
            RecordProperty("sku", \.sku, .identity)
            RecordProperty("name", \.name)
            RecordProperty("shelf", \.shelf)
        }
        init(sku: String, name: String) { (self.sku, self.name) = (sku, name) }
        init(from row: inout RecordReader) throws {
            sku = try row.read("sku")
            name = try row.read("name")
            shelf = try row.read("shelf")
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write("sku", &sku)
            try row.write("name", &name)
            try row.write("shelf", &shelf)
        }
    }

    struct Shelf: EntityRecord {
        var code: String
        var products: [Product]
        var ref: Ref<Shelf>?

        static let recordSchema = RecordSchema<Shelf>("Shelf") {
            RecordProperty("code", \.code, .identity)
            RecordProperty("products", \.products, .inverse(\Product.shelf), .onDelete(.cascade))
        }
        init(code: String, products: [Product]) { (self.code, self.products) = (code, products) }
        init(from row: inout RecordReader) throws {
            code = try row.read("code")
            products = try row.read("products")
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write("code", &code)
            try row.write("products", &products)
        }
    }

    @Test func `a test of a program has a store in memory`() throws {
        let store = try Store.inMemory(schema: Schema(of: Shelf.self))
        var shelf = Shelf(code: "A", products: [Product(sku: "a-1", name: "Apples")])
        try store.save(&shelf)
        let found = try store.fetch(Product.self) { $0.shelf.code == "A" }
        print(found.map(\.name))
        #expect(found.map(\.name) == ["Apples"])
    }

    @Test func `the package of the page is short`() throws {
        let files = ["Package.swift", "Sources/Shop/Models.swift", "Sources/Shop/Shop.swift"]
        let lines = try files.map { name in
            try String(contentsOf: Document.root.appending(path: "Docs/Template/\(name)"), encoding: .utf8).split(separator: "\n").count
        }
        #expect(lines.reduce(0, +) < 120)
    }
}
