import Cambium
import Foundation
import Testing

/// More tests of the code of these documents.
extension ReferenceSnippets {
    @Test func `the code of the documents about changes and metrics runs`() async throws {
        try await withFolder { folder in
            let path = "\(folder)/people"
            let store = try Store.open(at: path, creating: schema)
            try store.label("monday")
            try store.write { _ = try $0.insert("Person", ["personId": 1]) }
            try store.close()
            #expect(try compare(path) == 1)
            #expect(try measure(path).commitCount == 0)
        }
    }

    @Test func `an edit saves a record that it has read, and a record of its base`() throws {
        let store = try Store.inMemory(schema: Schema(of: Tag.self))
        _ = try Tag(named: "red", in: store)
        try rename(store)
        var edit = store.edit()
        var tag = try #require(try edit.base.find(Tag.self, identity: "rose"))
        tag.name = "ruby"
        try edit.save(&tag)
        try store.commit(&edit)
        #expect(try store.graph.fetch(Tag.self).map(\.name) == ["ruby"])
    }

    @Test func `a rebased edit overwrites the changes that were shown`() throws {
        let store = try Store.inMemory(schema: Schema(of: Tag.self))
        let red = try #require(try Tag(named: "red", in: store).ref)
        var edit = store.edit()
        try edit.set(red.id, "name", to: "rose")
        try store.write { try $0.set(red.id, "name", to: "ruby") }
        let error = try #require(throws: CambiumError.self) { try store.commit(&edit) }
        #expect((error.underlying as? EditConflicts)?.conflicts.count == 1)
        try overwrite(store, &edit)
        #expect(try store.graph.load(red).name == "rose")
    }

    @Test func `a record is read again after undo, and an undone insertion has no record`() throws {
        let store = try Store.inMemory(schema: Schema(of: Tag.self))
        var red = try Tag(named: "red", in: store)
        var edit = try undo(store, &red)
        #expect(red.name == "red")
        #expect(edit.canRedo)
        red.ref = nil
        red.name = "blue"
        try edit.save(&red)
        edit.undo()
        let ref = try #require(red.ref)
        #expect(throws: CambiumError.self) { try edit.load(ref) }
        #expect(throws: CambiumError.self) { try edit.save(&red) }
    }

    @Test func `an iterator of changes returns the transaction that follows the call of changes`() async throws {
        let store = try Store.inMemory(schema: Schema(of: Tag.self))
        var tag = try Tag(named: "red", in: store)
        #expect(try await renameAndWait(store, &tag) == 1)
    }

    @Test func `a copied shelf has copies of the products`() throws {
        let store = try Store.inMemory(schema: Schema(of: Shelf.self))
        var shelf = Shelf(code: "A", products: [Product(sku: "a-1", name: "Apples", price: 2)])
        try store.save(&shelf)
        try copy(shelf, in: store)
        let products = try store.graph.fetch(Product.self)
        #expect(products.map(\.sku) == ["a-1", "a-1-copy"])
        #expect(products.map(\.name) == ["Apples", "Apples"])
        let codes = try products.map { try $0.shelf?.load().code }
        #expect(codes == ["A", "B"])
    }

    @Test func `a condition divides the objects of an entity into stubs and others`() throws {
        let store = try Store.inMemory(schema: Schema(of: Shelf.self))
        let rows = #"{"code": "A", "products": ["a-1", {"sku": "a-2", "name": "Pears"}]}"#
        try store.importRows(Shelf.self, from: .bytes(Array(rows.utf8)))
        #expect(throws: CambiumError.self) { try store.graph.fetch(Product.self) }
        #expect(try store.graph.collect(RecordQuery<Product>()).errors.count == 1)
        let (whole, stubs) = try divide(store.graph)
        #expect(whole.map(\.sku) == ["a-2"])
        #expect(stubs.count == 1)
        try store.write { try $0.set(stubs[0], "name", to: "Apples") }
        try store.importRows(Shelf.self, from: .bytes(Array(#"{"code": "A", "products": [{"sku": "a-1"}]}"#.utf8)))
        #expect(try divide(store.graph).0.map(\.price) == [0, 0])
    }

    @Test func `the values of an answer have texts`() throws {
        let store = try Store.inMemory(schema: Schema(of: Shelf.self))
        var shelf = Shelf(code: "A", products: [Product(sku: "a-1", name: "Apples", price: 2), Product(sku: "a-2", name: "Pears")])
        try store.save(&shelf)
        let paths = try ["code", "products.price", "_id"].map { try Operand(parsing: $0) }
        let rows = try store.graph.values(of: paths, Query("Shelf"))
        #expect(rows.map { texts(of: $0, store.graph) } == [["A", "2, 0", "Shelf/1"]])
    }

    @Test func `conditions compare an enum with its cases`() throws {
        let store = try Store.inMemory(schema: Schema(of: Errand.self))
        var errands = [
            Errand(name: "a"), Errand(name: "b", progress: .waiting, former: .open), Errand(name: "c", former: .done),
            Errand(name: "d", progress: .done),
        ]
        try store.save(&errands)
        #expect(try divideErrands(store.graph).map { $0.map(\.name) } == [["a"], ["a", "b", "c"], ["a", "b", "c"]])
    }

    @Test func `functions and groups summarize records`() throws {
        let store = try Store.inMemory(schema: Schema(of: Shelf.self))
        var shelf = Shelf(code: "A", products: [Product(sku: "a-1", name: "Apples", price: 2), Product(sku: "a-2", name: "Pears")])
        try store.save(&shelf)
        let (total, mean, counts, rows) = try summarize(store.graph)
        #expect(total == .decimal(DecimalNumber(2)))
        #expect(mean == 1)
        #expect(counts == [2])
        #expect(rows == [["A", "1", "2"]])
    }

    @Test func `a record that is read again has the new derived values`() throws {
        let store = try Store.inMemory(schema: Schema(of: Basket.self))
        let basket = try fill(store)
        #expect(basket.lineCount == 2)
        #expect(basket.total == 5)
        #expect(basket.dearest == 3)
        var empty = Basket(number: 2)
        try store.save(&empty)
        #expect(try store.graph.find(Basket.self, identity: 2)?.total == 0)
    }

    @Test func `an option makes an optional ref mandatory`() throws {
        let store = try Store.inMemory(schema: Schema(of: Purchase.self))
        var shelf = Shelf(code: "A", products: [Product(sku: "a-1", name: "Apples")])
        try store.save(&shelf)
        let apples = shelf.products.first?.ref
        #expect(throws: CambiumError.self) {
            var purchase = Purchase(number: 1)
            try store.save(&purchase)
        }
        var purchase = Purchase(number: 2, product: apples)
        try store.save(&purchase)
        #expect(try store.graph.fetch(Purchase.self).map(\.product) == [apples])
    }
}

extension ReferenceSnippets.Tag {
    /// Saves a new tag.
    init(named name: String, in store: Store) throws {
        self.name = name
        try store.save(&self)
    }
}
