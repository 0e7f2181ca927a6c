import Cambium
import Foundation

/// The records of the documents, and the code that reads and copies them.
extension ReferenceSnippets {
    struct Tag: EntityRecord {
        var name: String
        var books = ToMany<Book>()
        var ref: Ref<Tag>?

        static let recordSchema = RecordSchema<Tag>("Tag") {
            RecordProperty("name", \.name, .identity)
            RecordProperty("books", \.books)
        }
        init(from row: inout RecordReader) throws {
            name = try row.read("name")
            books = try row.read("books")
            ref = row.ref()
        }
    }

    struct Book: EntityRecord {
        var title: String
        var tags: Set<Ref<Tag>>
        var ref: Ref<Book>?

        static let recordSchema = RecordSchema<Book>("Book") {
            RecordProperty("title", \.title)
            RecordProperty("tags", \.tags, .inverse("books"))
        }
        init(from row: inout RecordReader) throws {
            title = try row.read("title")
            tags = try row.read("tags")
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write("title", &title)
            try row.write("tags", &tags)
        }
    }

    func copy(_ shelf: Shelf, in store: Store) throws {
        try store.write(Author(actor: "manager")) { transaction in
            let clone = try transaction.clone(shelf, CloneRequest(excluding: ["products"], rootValues: ["code": "B"]))
            var copy = try transaction.load(clone)
            copy.products = shelf.products.map { original in
                var product = original
                (product.ref, product.sku) = (nil, "\(original.sku)-copy")
                return product
            }
            try transaction.save(&copy)
        }
    }

    enum Progress: String, CaseIterable, AttributeValue { case open, waiting, done }

    struct Errand: BlankRecord {
        var name = ""
        var progress = Progress.open
        var former: Progress?
        var ref: Ref<Errand>?

        static let recordSchema = RecordSchema<Errand>("Errand") {
            RecordProperty("name", \.name, .identity)
            RecordProperty("progress", \.progress)
            RecordProperty("former", \.former)
        }
    }

    func divideErrands(_ graph: Graph) throws -> [[Errand]] {
        let open = try graph.fetch(Errand.self) { $0.progress == .open && $0.former != .done }
        let unfinished = try graph.fetch(Errand.self) { $0.progress.isIn([.open, .waiting]) }
        let same = try graph.fetch(RecordQuery<Errand>("progress in {\"open\", \"waiting\"}"))
        return [open, unfinished, same]
    }

    struct Basket: BlankRecord {
        var number = 0
        var lineCount = 0
        var total: Decimal = 0
        var dearest: Decimal?
        var lines: [BasketLine] = []
        var ref: Ref<Basket>?

        static let recordSchema = RecordSchema<Basket>("Basket") {
            RecordProperty("number", \.number, .identity)
            RecordProperty("lineCount", \.lineCount, .derived(.count("lines")))
            RecordProperty("total", \.total, .derived(.sum("lines.price")))
            RecordProperty("dearest", \.dearest, .derived(.max("lines.price")))
            RecordProperty("lines", \.lines, .inverse(\BasketLine.basket), .onDelete(.cascade))
        }
    }

    struct BasketLine: BlankRecord {
        var price: Decimal = 0
        var basket: Ref<Basket>?
        var ref: Ref<BasketLine>?

        static let recordSchema = RecordSchema<BasketLine>("BasketLine") {
            RecordProperty("price", \.price)
            RecordProperty("basket", \.basket)
        }
    }

    func fill(_ store: Store) throws -> Basket {
        var basket = Basket(number: 1, lines: [BasketLine(price: 2), BasketLine(price: 3)])
        try store.save(&basket)
        if let ref = basket.ref { basket = try store.graph.load(ref) }  // Before this line, basket.total is 0.
        return basket
    }

    struct Purchase: BlankRecord {
        var number = 0
        var product: Ref<Product>?
        var ref: Ref<Purchase>?

        static let recordSchema = RecordSchema<Purchase>("Purchase") {
            RecordProperty("number", \.number, .identity)
            RecordProperty("product", \.product, .minCount(1))
        }
    }
}
