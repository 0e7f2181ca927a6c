import Cambium
import FoundationEssentials
import TestFixtures
import Testing

@Suite("Reading records")
struct RecordReadTests {
    @Test("null in a property that is not optional is an error with the object and the property")
    func null() throws {
        let schema = try Schema {
            EntityDefinition("Tag", identity: ["name"]) {
                AttributeDefinition("name", .string, .optional)
                RelationshipDefinition("books", to: "Book", .toMany)
            }
            EntityDefinition("Book") { AttributeDefinition("title", .string) }
        }
        let store = try Store.inMemory(schema: schema)
        let id = try store.write { try $0.insert("Tag") }.result
        let error = try #require(throws: CambiumError.self) { try store.graph.load(Tag.self, id) }
        #expect(error.code == .unexpectedValue)
        #expect(error.message.contains("Tag/1.name is null"))
    }

    @Test("a stored value that an enum does not have is an error with the value")
    func unknownCase() throws {
        let schema = try Schema {
            EntityDefinition("Book") {
                AttributeDefinition("title", .string)
                AttributeDefinition("price", .decimal, .optional)
                AttributeDefinition("binding", .string)
                AttributeDefinition("printing", .json, .optional)
                RelationshipDefinition("writer", to: "Writer")
                RelationshipDefinition("tags", to: "Tag", .toMany)
            }
            EntityDefinition("Writer") { AttributeDefinition("name", .string) }
            EntityDefinition("Tag") { AttributeDefinition("name", .string) }
        }
        let store = try Store.inMemory(schema: schema)
        let id = try store.write { try $0.insert("Book", ["title": "x", "binding": "spiral"]) }.result
        let error = try #require(throws: CambiumError.self) { try store.graph.load(Book.self, id) }
        #expect(error.code == .unexpectedValue)
        #expect(error.message.contains("Book/1.binding is spiral"))
        let (records, errors) = try store.graph.collect(RecordQuery<Book>())
        #expect(records.isEmpty)
        #expect(errors.count == 1)
    }

    @Test("a nested record that does not fit the schema does not affect the records after it")
    func unfitNested() throws {
        struct Name: EntityRecord {
            var name: String
            var ref: Ref<Name>?
            static let recordSchema = RecordSchema<Name>("Node") { RecordProperty("name", \.name) }
            init(from row: inout RecordReader) throws { name = try row.read(0) }
            mutating func write(to row: inout RecordWriter) throws {}
        }
        struct Unfit: EntityRecord {
            var size: Int
            var ref: Ref<Unfit>?
            static let recordSchema = RecordSchema<Unfit>("Node") { RecordProperty("size", \.size) }
            init(from row: inout RecordReader) throws { size = try row.read(0) }
            mutating func write(to row: inout RecordWriter) throws {}
        }
        struct Node: EntityRecord {
            var near: Name?
            var far: Unfit?
            var ref: Ref<Node>?
            static let recordSchema = RecordSchema<Node>("Node") {
                RecordProperty("near", \.near)
                RecordProperty("far", \.far)
            }
            init(from row: inout RecordReader) throws { (near, far) = (try row.read(0), try row.read(1)) }
            mutating func write(to row: inout RecordWriter) throws {}
        }
        let schema = try Schema {
            EntityDefinition("Node") {
                AttributeDefinition("name", .string)
                RelationshipDefinition("near", to: "Node")
                RelationshipDefinition("far", to: "Node")
            }
        }
        let store = try Store.inMemory(schema: schema)
        try store.write { transaction in
            let first = try transaction.insert("Node", ["name": "first"])
            let second = try transaction.insert("Node", ["name": "second"], links: ["near": [first]])
            try transaction.link(first, "far", second)
        }
        let (nodes, errors) = try store.graph.collect(RecordQuery<Node>())
        #expect(errors.count == 1)
        #expect(nodes.map(\.near?.name) == ["first"])
    }

    @Test("the schema lists the allowed values of an enum")
    func allowedValues() throws {
        let store = try Library.store()
        let error = try #require(throws: CambiumError.self) {
            try store.write { try $0.insert("Book", ["title": "x", "binding": "spiral"]) }
        }
        #expect(error.code == .ruleViolated)
    }

    @Test("a store without the record's properties reports each difference")
    func differences() throws {
        let schema = try Schema {
            EntityDefinition("Writer") {
                AttributeDefinition("id", .string)
                RelationshipDefinition("books", to: "Tag", .toMany)
            }
            EntityDefinition("Tag") { AttributeDefinition("name", .string) }
        }
        let store = try Store.inMemory(schema: schema)
        let error = try #require(throws: CambiumError.self) { try store.graph.fetch(Writer.self) }
        #expect(error.code == .unknownName)
        #expect(error.details.count == 4)
    }

    @Test("a record of an entity that was renamed is refused with the present name of the entity")
    func renamedEntity() throws {
        let schema = try Schema { EntityDefinition("Label", renamedFrom: "Tag") { AttributeDefinition("name", .string) } }
        let store = try Store.inMemory(schema: schema)
        let error = try #require(throws: CambiumError.self) { try store.graph.fetch(Tag.self) }
        #expect(error.code == .unknownName)
        #expect(error.message.contains("Its name is 'Label' now."))
        #expect(!error.message.contains("Migrate"))
    }

    @Test("a ref loads its record from the graph of its owner")
    func oneMoment() throws {
        let store = try Library.store()
        var jane = Writer(id: 1, name: "Jane", books: [Book("Emma")])
        try store.save(&jane)
        let book = try #require(try store.graph.fetch(Book.self).first)
        jane.name = "J."
        try store.save(&jane)
        #expect(try book.writer?.load().name == "Jane")
        #expect(try store.graph.load(#require(book.writer)).name == "J.")
    }

    @Test("the ref of a record itself holds no graph")
    func ownRef() throws {
        let store = try Library.store()
        var tag = Tag("x")
        try store.save(&tag)
        let ref = try #require(tag.ref)
        let error = try #require(throws: CambiumError.self) { try ref.load() }
        #expect(error.code == .misuse)
    }

    @Test("ToMany is a collection of refs that loads lazily")
    func toMany() throws {
        let store = try Library.store()
        var tag = Tag("novel")
        try store.save(&tag)
        var jane = Writer(id: 1, name: "Jane", books: [Book("Emma", tags: [tag]), Book("Persuasion", tags: [tag])])
        try store.save(&jane)
        let read = try #require(try store.graph.find(Tag.self, identity: "novel"))
        #expect(read.books.count == 2)
        #expect(try read.books.load().map(\.title) == ["Emma", "Persuasion"])
        #expect(try read.books[1].load().title == "Persuasion")
        var changed = read
        changed.books = ToMany([read.books[0]])
        try store.save(&changed)
        #expect(try store.graph.find(Tag.self, identity: "novel")?.books.count == 1)
    }

    @Test("a whole number that the Swift type cannot hold is an error")
    func narrowNumber() throws {
        struct Small: EntityRecord {
            var count: Int16
            var ref: Ref<Small>?
            static let recordSchema = RecordSchema<Small>("Small") { RecordProperty("count", \.count) }
            init(from row: inout RecordReader) throws {
                count = try row.read(0)
                ref = row.ref()
            }
        }
        let store = try Store.inMemory(schema: Schema { EntityDefinition("Small") { AttributeDefinition("count", .int64) } })
        let ids = try store.write { [try $0.insert("Small", ["count": 7]), try $0.insert("Small", ["count": 70_000])] }.result
        #expect(try store.graph.load(Small.self, ids[0]).count == 7)
        let error = try #require(throws: CambiumError.self) { try store.graph.load(Small.self, ids[1]) }
        #expect(error.code == .unexpectedValue)
    }

    @Test("a finder finds the records that find(_:identity:) finds")
    func finder() throws {
        let store = try Library.store()
        var tags = (0..<40).map { Tag("tag \($0)") }
        try store.save(&tags)
        var writers = (0..<40).map { Writer(id: $0, name: "\($0)") }
        try store.save(&writers)
        var byName = try store.graph.finder(Tag.self)
        var byNumber = try store.graph.finder(Writer.self)
        for number in [0, 39, 17, 40, -1] {
            #expect(try byName.find("tag \(number)")?.ref == store.graph.find(Tag.self, identity: "tag \(number)")?.ref)
            #expect(try byNumber.find(number)?.name == store.graph.find(Writer.self, identity: number)?.name)
        }
        #expect(throws: CambiumError.self) { _ = try store.graph.finder(Book.self) }
    }

    @Test("a typed clone is the copy of the record's object")
    func clone() throws {
        let store = try Library.store()
        var jane = Writer(id: 1, name: "Jane", books: [Book("Emma")])
        try store.save(&jane)
        let copy = try store.clone(jane, CloneRequest(rootValues: ["id": 2]))
        #expect(copy.id == 2)
        #expect(copy.books.map(\.title) == ["Emma"])
        #expect(copy.books.first?.ref != jane.books.first?.ref)
        let unsaved = Writer(id: 3, name: "new")
        #expect(throws: CambiumError.self) { try store.clone(unsaved) }
    }

    @Test("rows are imported as a record's objects, and found in the same transaction")
    func importRows() throws {
        let store = try Library.store()
        let report = try store.importRows(Writer.self, from: .bytes(Array(#"[{"id": 1, "name": "Jane"}]"#.utf8)))
        #expect(report.counts.inserted == 1)
        try store.write { transaction in
            let jane = try #require(try transaction.find(Writer.self, identity: 1))
            var book = Book("Emma")
            book.writer = jane.ref
            try transaction.save(&book)
        }
        #expect(try store.graph.find(Writer.self, identity: 1)?.books.map(\.title) == ["Emma"])
    }
}
