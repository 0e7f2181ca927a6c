import Cambium
import Foundation

/// The examples of the docstrings about records, word for word. The code is compiled only.
enum DocstringRecordSnippets {
    static func attributeValues() {
        enum Kind: String, CaseIterable, AttributeValue { case retail, online }
        struct Cents: AttributeValue {
            static let attributeType = AttributeType.int64
            var count: Int64
            var attributeValue: Value { .int(count) }
            init(attributeValue: Value) throws { count = try Int64(attributeValue: attributeValue) }
        }
        struct Address: Codable, JSONAttribute {
            var street: String
            var city: String
        }
        print(Kind.allCases.count, Cents.attributeType, Address(street: "Main Street 1", city: "Oslo"))
    }

    static func blankRecord() -> [Any] {
        struct Note: BlankRecord {
            var id = 0
            var title = ""
            var items: [Item] = []
            var ref: Ref<Note>?

            static let recordSchema = RecordSchema<Note>("Note") {
                RecordProperty("id", \.id, .identity)
                RecordProperty("title", \.title)
                RecordProperty("items", \.items, .inverse("note"), .onDelete(.cascade))
            }
        }
        return [Note()]
    }

    static func entityRecord() throws -> Schema {
        struct Note: EntityRecord {
            var id: Int
            var title: String
            var items: [Item]
            var ref: Ref<Note>?

            static let recordSchema = RecordSchema<Note>("Note") {
                RecordProperty("id", \.id, .identity)
                RecordProperty("title", \.title, .default(""))
                RecordProperty("items", \.items, .inverse("note"), .onDelete(.cascade))
            }
            init(from row: inout RecordReader) throws {
                id = try row.read("id")
                title = try row.read("title")
                items = try row.read("items")
                ref = row.ref()
            }
        }
        return try Schema(of: Note.self)
    }

    struct Letter: EntityRecord {
        var id = 0
        var title = ""
        var ref: Ref<Letter>?

        static let recordSchema = RecordSchema<Letter>("Letter") {
            RecordProperty("id", \.id, .identity)
            RecordProperty("title", \.title)
        }
        init(from row: inout RecordReader) throws {
            id = try row.read("id")
            title = try row.read("title")
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write("id", &id)
            try row.write("title", &title)
        }
    }

    static func indexes() throws -> Schema {
        struct Note: BlankRecord {
            var id = 0
            var title = ""
            var ref: Ref<Note>?

            static let recordSchema = RecordSchema<Note>("Note", indexes: [["title"]]) {
                RecordProperty("id", \.id, .identity)
                RecordProperty("title", \.title)
            }
        }
        return try Schema(of: Note.self)
    }

    static func properties() -> RecordSchema<Product> {
        RecordSchema<Product>("Product") {
            RecordProperty("sku", \.sku, .identity)
            RecordProperty("price", \.price, .min(0), .default(Decimal(0)))
            RecordProperty("shelf", \.shelf)
        }
    }

    static func builder() -> RecordSchema<Note> {
        let schema = RecordSchema<Note>("Note") {
            RecordProperty("id", \.id, .identity)
            RecordProperty("title", \.title)
        }
        return schema
    }

    static func options() -> RecordSchema<Note> {
        RecordSchema<Note>("Note") {
            RecordProperty("id", \.id, .identity, .rebuild(.uuid))
            RecordProperty("title", \.title, .minLength(1), .maxLength(200))
        }
    }

    static func cloneRules() -> RecordSchema<Note> {
        RecordSchema<Note>("Note") {
            RecordProperty("items", \.items, .clone(.copy))
            RecordProperty("tags", \.tags, .clone(.share))
        }
    }

    static func relatedValues() -> RecordSchema<Person> {
        let schema = RecordSchema<Person>("Person") {
            RecordProperty("city", \.city)  // A `City?` is a record, so this is a relationship.
            RecordProperty("boss", \.boss)  // A `Ref<Person>?` refers to a record, so this is one, too.
        }
        return schema
    }

    static func arrayElements() -> RecordSchema<Note> {
        let schema = RecordSchema<Note>("Note") {
            RecordProperty("items", \.items)  // An `[Item]` is an ordered relationship.
            RecordProperty("photo", \.photo)  // A `[UInt8]` is an attribute of type `data`.
        }
        return schema
    }

    static func schemas(_ path: String) throws -> Store {
        let store = try Store.open(at: path, creating: Schema(SchemaDefinition(of: Note.self)))
        return store
    }

    // MARK: Reading and saving

    static func loadShelf(_ graph: Graph) throws {
        let apples = try graph.find(Product.self, identity: "a-1")
        if let shelf = try apples?.shelf?.load() { print(shelf.code) }
    }

    static func loadItems(_ note: Checklist) throws -> [Item] {
        for item in note.items { print(try item.load().name) }
        let items = try note.items.load()
        return items
    }

    static func find(_ graph: Graph) throws -> Note? {
        let note = try graph.find(Note.self, identity: 7)
        return note
    }

    static func rename(_ store: Store) throws {
        try store.write { transaction in
            guard var note = try transaction.find(Note.self, identity: 7) else { return }
            note.title = "Rome"
            try transaction.save(&note)
        }
    }

    static func addAges(_ graph: Graph, to sum: inout Int) throws {
        let ages = try graph.column(\Person.age)
        for place in try graph.places(of: Person.self) { sum += ages[place] ?? 0 }
    }

    static func findAll(_ ids: [Int], _ graph: Graph) throws {
        var people = try graph.finder(Person.self)
        for id in ids { if let person = try people.find(id) { print(person.name) } }
    }

    // MARK: Conditions

    static func adults(_ graph: Graph) throws -> [Person] {
        let adults = try graph.fetch(Person.self) { $0.age >= 18 && $0.city.name == "Paris" }
        return adults
    }

    static func predicate() throws -> RecordQuery<Person> {
        let adults = try RecordQuery(#Predicate<Person> { $0.age >= 18 && $0.city?.name == "Paris" })
        return adults
    }

    static func query(_ store: Store) throws {
        let adults = RecordQuery<Person> { $0.age >= 18 && $0.city.name == "Paris" }.sorted(by: \.name).limited(to: 20)
        for person in try store.graph.fetch(adults) { print(person.name) }
    }

    static func adults(_ transaction: inout WriteTransaction) throws -> [Person] {
        let adults = try transaction.fetch(Person.self) { $0.age >= 18 }
        return adults
    }

    static func texts(_ graph: Graph) throws {
        let found = try graph.fetch(Person.self) { $0.name.hasPrefix("ma", .caseInsensitive) || $0.nick.contains("x") }
        print(found.map(\.name))
    }

    static func fields(_ graph: Graph, _ jane: Ref<Person>) throws {
        let adults = RecordQuery<Person> { $0.age >= 18 && $0.city.name == "Paris" }
        let others = adults.filtered { $0.ref != jane }
        print(try graph.count(adults), try graph.count(others))
    }

    static func members(_ graph: Graph) throws -> [Note] {
        let long = RecordQuery<Note> { note in note.items.count > 2 && note.items.any { $0.price > 100 } }
        let notes = try graph.fetch(long.sorted(.descending) { $0.items.sum(\.price) })
        return notes
    }

    static func linkedValue(_ graph: Graph) throws -> ([Person], [Item]) {
        let parisians = try graph.fetch(Person.self) { $0.city.name == "Paris" }  // `Person.city` is a `City?`.
        let items = try graph.fetch(Item.self) { $0.note.title == "Packing" }  // `Item.note` is a `Ref<Note>?`.
        return (parisians, items)
    }

    static func linkedValues(_ graph: Graph) throws -> [Note] {
        // `Note.items` is an `[Item]`, so a condition counts and tests its members.
        let packed = try graph.fetch(Note.self) { !$0.items.isEmpty && $0.items.all { $0.isDone == true } }
        return packed
    }

    static func folding(_ graph: Graph) throws -> [Person] {
        let query = RecordQuery<Person> { $0.name.hasPrefix("mu", [.caseInsensitive, .diacriticInsensitive]) }
        let people = try graph.fetch(query.sorted(by: \.name, folding: .caseInsensitive))
        return people
    }
}
