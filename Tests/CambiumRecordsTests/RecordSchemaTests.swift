import Cambium
import CambiumModel
import TestFixtures
import Testing

@Suite("Schemas of records")
struct RecordSchemaTests {
    @Test("the schema has the records' entities, types and rules")
    func whole() throws {
        let schema = try Schema(of: Writer.self)
        let writer = try #require(schema.entity("Writer"))
        let book = try #require(schema.entity("Book"))
        #expect(schema.entities.map(\.name).sorted() == ["Book", "Tag", "Writer"])
        #expect(writer.identity.map(\.name) == ["id"])
        #expect(writer.attribute("id")?.type == .int64)
        #expect(writer.attribute("name")?.isOptional == false)
        #expect(writer.attribute("born")?.isOptional == true)
        #expect(book.attribute("printing")?.type == .json)
        #expect(book.attribute("printing")?.isOptional == true)
        #expect(book.attribute("binding")?.defaultValue == "soft")
        let books = try #require(writer.relationship("books"))
        #expect(books.isOrdered)
        #expect(books.deleteRule == .cascade)
        #expect(book.relationship("tags")?.isOrdered == false)
        #expect(book.relationship("writer")?.isToMany == false)
    }

    @Test func `a property that leads to the record's own ref is refused`() throws {
        struct Badge: BlankRecord {
            var name = ""
            var next: Ref<Badge>?
            var ref: Ref<Badge>?
            static let recordSchema = RecordSchema<Badge>("Badge") {
                RecordProperty("name", \.name)
                RecordProperty("ref", \.next)
                RecordProperty("own", \.ref)
            }
        }
        let error = try #require(throws: CambiumError.self) { try Schema(of: Badge.self) }
        #expect(error.code == .invalidInput)
        #expect(error.details.count == 1 && error.details.first?.contains("Badge.own") == true)
    }

    @Test("an inverse that one side names applies to both sides")
    func inverse() throws {
        let store = try Store.inMemory(schema: Schema(of: Writer.self))
        try store.write { transaction in
            let book = try transaction.insert("Book", ["title": "x"])
            let writer = try transaction.insert("Writer", ["id": 1, "name": "y"])
            try transaction.link(book, "writer", writer)
            #expect(try transaction.members("books", of: writer) == [book])
        }
    }

    @Test("several records of one entity are united")
    func united() throws {
        let schema = try Schema(of: WriterName.self, Writer.self)
        #expect(schema.entity("Writer")?.attributes.map(\.name) == ["name", "id", "born"])
    }

    @Test("records that contradict each other are refused with all mistakes")
    func contradiction() throws {
        struct Other: EntityRecord {
            var name: Int
            var friend: Ref<Person>?
            var ref: Ref<Other>?
            static let recordSchema = RecordSchema<Other>("Person") {
                RecordProperty("name", \.name, .onDelete(.cascade))
                RecordProperty("friend", \.friend, .inverse(\Person.name.count), .minLength(3))
            }
            init(from row: inout RecordReader) throws { name = try row.read(0) }
            mutating func write(to row: inout RecordWriter) throws { try row.write(0, &name) }
        }
        let error = try #require(throws: CambiumError.self) { try Schema(of: Person.self, Other.self) }
        #expect(error.code == .invalidInput)
        #expect(error.details.count == 4)
    }

    @Test("a mandatory reference cannot have no member")
    func emptyMandatoryReference() throws {
        struct Card: EntityRecord {
            var holder: Ref<Person>
            var former: Ref<Person>?
            var ref: Ref<Card>?
            static let recordSchema = RecordSchema<Card>("Card") {
                RecordProperty("holder", \.holder, .minCount(0))
                RecordProperty("former", \.former, .minCount(0))
            }
            init(from row: inout RecordReader) throws { (holder, former) = (try row.read(0), try row.read(1)) }
        }
        let error = try #require(throws: CambiumError.self) { try Schema(of: Card.self) }
        #expect(error.code == .invalidInput)
        #expect(error.details.count == 1)
        #expect(error.details.first?.contains("holder") == true)
    }

    @Test("a record of a sub-entity inherits")
    func inheritance() throws {
        struct Party: BlankRecord {
            var name = ""
            var ref: Ref<Party>?
            static let recordSchema = RecordSchema<Party>("Party", isAbstract: true) { RecordProperty("name", \.name, .identity) }
        }
        struct Derived: BlankRecord {
            var name = ""
            var size = 0
            var ref: Ref<Derived>?
            static let recordSchema = RecordSchema<Derived>("Derived", parent: Party.self) {
                RecordProperty("name", \.name, .identity)
                RecordProperty("size", \.size)
            }
            init() {}
            init(name: String, size: Int) { (self.name, self.size) = (name, size) }
        }
        let store = try Store.inMemory(schema: Schema(of: Derived.self))
        var value = Derived(name: "a", size: 3)
        try store.save(&value)
        #expect(try store.graph.fetch(Party.self).map(\.name) == ["a"])
        #expect(try store.graph.find(Derived.self, identity: "a")?.size == 3)
    }

    @Test("a record of a sub-entity repeats the options of inherited properties, and another option is a mistake")
    func inheritedOptions() throws {
        struct Parent: EntityRecord {
            var name: String
            var items: [Ref<Person>]
            var ref: Ref<Parent>?
            static let recordSchema = RecordSchema<Parent>("Parent") {
                RecordProperty("name", \.name, .minLength(1), .maxLength(40))
                RecordProperty("items", \.items, .onDelete(.cascade))
            }
            init(from row: inout RecordReader) throws { (name, items) = (try row.read(0), try row.read(1)) }
        }
        struct Same: EntityRecord {
            var name: String
            var items: [Ref<Person>]
            var ref: Ref<Same>?
            static let recordSchema = RecordSchema<Same>("Same", parent: Parent.self) {
                RecordProperty("name", \.name, .maxLength(40), .unique, .default(""))
                RecordProperty("items", \.items, .onDelete(.cascade))
            }
            init(from row: inout RecordReader) throws { (name, items) = (try row.read(0), try row.read(1)) }
        }
        struct Other: EntityRecord {
            var name: String
            var items: [Ref<Person>]
            var ref: Ref<Other>?
            static let recordSchema = RecordSchema<Other>("Other", parent: Parent.self) {
                RecordProperty("name", \.name, .minLength(1), .maxLength(10))
                RecordProperty("items", \.items, .onDelete(.deny))
            }
            init(from row: inout RecordReader) throws { (name, items) = (try row.read(0), try row.read(1)) }
        }
        #expect(try Schema(of: Same.self).entity("Same")?.attribute("name") != nil)
        let error = try #require(throws: CambiumError.self) { try Schema(of: Other.self) }
        #expect(error.code == .invalidInput)
        #expect(error.details.count == 2)
    }

    @Test("the options of an inherited property are compared with the record that declares it, not with records in between")
    func inheritedFromGrandparent() throws {
        struct Top: BlankRecord {
            var name = ""
            var ref: Ref<Top>?
            static let recordSchema = RecordSchema<Top>("Top") { RecordProperty("name", \.name, .maxLength(40)) }
        }
        struct Middle: BlankRecord {
            var name = ""
            var ref: Ref<Middle>?
            static let recordSchema = RecordSchema<Middle>("Middle", parent: Top.self) { RecordProperty("name", \.name) }
        }
        struct Same: BlankRecord {
            var name = ""
            var ref: Ref<Same>?
            static let recordSchema = RecordSchema<Same>("Same", parent: Middle.self) { RecordProperty("name", \.name, .maxLength(40)) }
        }
        struct Other: BlankRecord {
            var name = ""
            var ref: Ref<Other>?
            static let recordSchema = RecordSchema<Other>("Other", parent: Middle.self) { RecordProperty("name", \.name, .maxLength(9)) }
        }
        #expect(try Schema(of: Same.self).entity("Same")?.attribute("name") != nil)
        let error = try #require(throws: CambiumError.self) { try Schema(of: Other.self) }
        #expect(error.details.count == 1)
        #expect(error.details.first?.contains("'Top.name'") == true)
    }

    @Test("a record of a sub-entity repeats inherited sets without effect, and may have its own identity")
    func repeatedSets() throws {
        struct Parent: BlankRecord {
            var code = ""
            var name = ""
            var ref: Ref<Parent>?
            static let recordSchema = RecordSchema<Parent>("Parent") {
                RecordProperty("code", \.code, .unique)
                RecordProperty("name", \.name, .indexed)
            }
        }
        struct Sub: BlankRecord {
            var code = ""
            var name = ""
            var ref: Ref<Sub>?
            static let recordSchema = RecordSchema<Sub>("Sub", parent: Parent.self) {
                RecordProperty("code", \.code, .unique)
                RecordProperty("name", \.name, .identity, .indexed)
            }
        }
        let schema = try Schema(of: Sub.self)
        let sub = try #require(schema.entity("Sub"))
        #expect(sub.identity.map(\.name) == ["name"])
        #expect(sub.uniqueSets.count == 2)
        #expect(sub.indexes.count == 1)
    }
}
