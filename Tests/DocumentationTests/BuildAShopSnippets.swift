import Cambium
import Foundation
import Testing

struct Product: BlankRecord {
    var sku = ""
    var name = ""
    var price: Decimal = 0
    var shelf: Ref<Shelf>?
    var ref: Ref<Product>?

    static let recordSchema = RecordSchema<Product>("Product", indexes: [["name"]]) {
        RecordProperty("sku", \.sku, .identity)
        RecordProperty("name", \.name, .minLength(1))
        RecordProperty("price", \.price, .min(0), .default(Decimal(0)))
        RecordProperty("shelf", \.shelf)
    }
}

struct Shelf: BlankRecord {
    var code = ""
    var products: [Product] = []
    var ref: Ref<Shelf>?

    static let recordSchema = RecordSchema<Shelf>("Shelf") {
        RecordProperty("code", \.code, .identity)
        RecordProperty("products", \.products, .inverse(\Product.shelf), .onDelete(.cascade))
    }
}

struct Sale {
    var number: Int
    var price: Decimal
    var product: Ref<Product>
    var ref: Ref<Sale>?
}

extension Sale: EntityRecord {
    static let recordSchema = RecordSchema<Sale>("Sale") {
        RecordProperty("number", \.number, .identity)
        RecordProperty("price", \.price)
        RecordProperty("product", \.product)
    }
    init(from row: inout RecordReader) throws {
        number = try row.read("number")
        price = try row.read("price")
        product = try row.read("product")
        ref = row.ref()
    }
}

/// The code of Sources/Cambium/Cambium.docc/BuildAShop.md that needs no macro, word for word. `script/template` builds and runs the rest.
@Suite struct BuildAShopSnippets {
    @Test func `a test of a program has a store in memory`() throws {
        let store = try Store.inMemory(schema: Schema(of: Shelf.self))
        var shelf = Shelf(code: "A", products: [Product(sku: "a-1", name: "Apples")])
        try store.save(&shelf)
        let found = try store.graph.fetch(Product.self) { $0.shelf.code == "A" }
        print(found.map(\.name))
        #expect(found.map(\.name) == ["Apples"])
    }

    private func changeTwoObjects(_ store: Store) throws {
        try store.write(Author(actor: "manager")) { transaction in
            guard var apples = try transaction.find(Product.self, identity: "a-1") else { return }
            apples.price += 1
            try transaction.save(&apples)
            var shelf = Shelf(code: "C", products: [Product(sku: "c-1", name: "Cherries", price: 4)])
            try transaction.save(&shelf)
        }
    }

    @Test func `both exports of the page write rows with identities`() throws {
        let store = try Store.inMemory(schema: Schema(of: Shelf.self))
        var shelf = Shelf(code: "A", products: [Product(sku: "a-1", name: "Apples", price: 1)])
        try store.save(&shelf)
        var options = ExportOptions()
        options.references = .identity
        var bytes: [UInt8] = []
        try store.graph.export(store.schema.required("Product"), options) { bytes += $0 }

        let cheap = try store.graph.fetch(Product.self) { $0.price < 2 }
        let data = try JSONEncoder().encode(ExportedRecords(cheap, in: store.graph, options))
        #expect(String(decoding: bytes, as: UTF8.self).hasPrefix(#"{"sku":"a-1","name":"Apples""#))
        #expect(String(decoding: data, as: UTF8.self).contains(#""sku":"a-1""#))
    }

    @Test func `an edit of the page keeps its name, and a transaction changes two objects`() throws {
        let store = try Store.inMemory(schema: Schema(of: Shelf.self))
        try store.migrate(to: SchemaDefinition(of: Shelf.self, Sale.self), Author(actor: "deploy"))
        #expect(store.schema.entities.map(\.name).sorted() == ["Product", "Sale", "Shelf"])
        var shelf = Shelf(code: "A", products: [Product(sku: "a-1", name: "Apples")])
        try store.save(&shelf)
        let id = try #require(try store.graph.find(Product.self, identity: "a-1")?.ref?.id)
        var edit = store.edit()
        try edit.set(id, "name", to: "Ripe apples")
        try edit.set(id, "price", to: .decimal(DecimalNumber(9)))
        try changeTwoObjects(store)
        #expect(edit.conflicts(with: store.graph).map(\.description) == ["Product/1 (a-1).price: base 0, edit 9, store 1"])
        let policy = EditPolicy.byProperty { $0.concerns(\Product.price) ? .theirs : .mine }
        try store.commit(&edit, policy: policy, author: Author(actor: "form"))
        let apples = try #require(try store.graph.find(Product.self, identity: "a-1"))
        #expect(apples.name == "Ripe apples")
        #expect(apples.price == 1)
        #expect(try store.graph.find(Shelf.self, identity: "C")?.products.map(\.name) == ["Cherries"])
    }

    @Test func `the package of the page is short`() throws {
        let files = ["Package.swift", "Sources/Shop/Models.swift", "Sources/Shop/Shop.swift"]
        let lines = try files.map { name in
            try String(contentsOf: Document.root.appending(path: "Docs/Template/\(name)"), encoding: .utf8).split(separator: "\n").count
        }
        #expect(lines.reduce(0, +) < 120)
    }
}
