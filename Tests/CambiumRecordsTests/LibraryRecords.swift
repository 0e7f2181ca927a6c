import Cambium
import FoundationEssentials

/// Records that are written by hand: ordered books, unordered tags, an enum, JSON, and a cycle.
struct Writer: EntityRecord, Equatable {
    var id: Int
    var name: String
    var born: Date?
    var books: [Book] = []
    var ref: Ref<Writer>?

    static let recordSchema = RecordSchema<Writer>("Writer", indexes: [["name"]]) {
        RecordProperty("id", \.id, .identity)
        RecordProperty("name", \.name, .maxLength(40))
        RecordProperty("born", \.born)
        RecordProperty("books", \.books, .inverse(\Book.writer), .onDelete(.cascade))
    }

    init(id: Int, name: String, born: Date? = nil, books: [Book] = []) {
        (self.id, self.name, self.born, self.books) = (id, name, born, books)
    }

    init(from row: inout RecordReader) throws {
        id = try row.read("id")
        name = try row.read("name")
        born = try row.read("born")
        books = try row.read("books")
        ref = row.ref()
    }

    mutating func write(to row: inout RecordWriter) throws {
        try row.write("id", &id)
        try row.write("name", &name)
        try row.write("born", &born)
        try row.write("books", &books)
    }
}

enum Binding: String, CaseIterable, AttributeValue { case hard, soft }

struct Printing: Codable, Equatable, Sendable {
    var year: Int
    var copies: [Int]
}

struct Book: EntityRecord, Equatable {
    var title: String
    var price: Decimal?
    var binding: Binding = .soft
    var printing: Printing?
    var writer: Ref<Writer>?
    var tags: Set<Tag> = []
    var ref: Ref<Book>?

    static let recordSchema = RecordSchema<Book>("Book") {
        RecordProperty("title", \.title)
        RecordProperty("price", \.price)
        RecordProperty("binding", \.binding, .default(Binding.soft))
        RecordProperty(json: "printing", \.printing)
        RecordProperty("writer", \.writer)
        RecordProperty("tags", \.tags, .inverse("books"))
    }

    init(_ title: String, price: Decimal? = nil, tags: Set<Tag> = []) { (self.title, self.price, self.tags) = (title, price, tags) }

    init(from row: inout RecordReader) throws {
        title = try row.read("title")
        price = try row.read("price")
        binding = try row.read("binding")
        printing = try row.readJSON("printing")
        writer = try row.read("writer")
        tags = try row.read("tags")
        ref = row.ref()
    }

    mutating func write(to row: inout RecordWriter) throws {
        try row.write("title", &title)
        try row.write("price", &price)
        try row.write("binding", &binding)
        try row.writeJSON("printing", printing)
        try row.write("writer", &writer)
        try row.write("tags", &tags)
    }
}

struct Tag: EntityRecord, Hashable {
    var name: String
    var books = ToMany<Book>()
    var ref: Ref<Tag>?

    static let recordSchema = RecordSchema<Tag>("Tag") {
        RecordProperty("name", \.name, .identity)
        RecordProperty("books", \.books)
    }

    init(_ name: String) { self.name = name }

    init(from row: inout RecordReader) throws {
        name = try row.read("name")
        books = try row.read("books")
        ref = row.ref()
    }

    mutating func write(to row: inout RecordWriter) throws {
        try row.write("name", &name)
        try row.write("books", &books)
    }
}

/// A view of a writer that has only the name.
struct WriterName: EntityRecord, Equatable {
    var name: String
    var ref: Ref<WriterName>?

    static let recordSchema = RecordSchema<WriterName>("Writer") { RecordProperty("name", \.name) }

    init(from row: inout RecordReader) throws {
        name = try row.read("name")
        ref = row.ref()
    }

    mutating func write(to row: inout RecordWriter) throws { try row.write("name", &name) }
}

/// A person inside of a person: a cycle of nested records.
struct Person: EntityRecord, Equatable {
    var name: String
    var friends: [Person] = []
    var ref: Ref<Person>?

    static let recordSchema = RecordSchema<Person>("Person") {
        RecordProperty("name", \.name)
        RecordProperty("friends", \.friends)
    }

    init(_ name: String, friends: [Person] = []) { (self.name, self.friends) = (name, friends) }

    init(from row: inout RecordReader) throws {
        name = try row.read("name")
        friends = try row.read("friends")
        ref = row.ref()
    }

    mutating func write(to row: inout RecordWriter) throws {
        try row.write("name", &name)
        try row.write("friends", &friends)
    }
}

enum Library {
    static func store() throws -> Store { try Store.inMemory(schema: Schema(of: Writer.self, Person.self)) }
}
