import Cambium
import FoundationEssentials
import TestFixtures
import Testing

/// A view of a writer with a property that is not stored.
private struct AgedWriter: BlankRecord {
    var name = ""
    var age = 0
    var ref: Ref<AgedWriter>?

    static let recordSchema = RecordSchema<AgedWriter>("Writer") { RecordProperty("name", \.name) }
}

@Suite("Queries for records")
struct RecordQueryTests {
    private let store: Store

    init() throws {
        store = try Library.store()
        var writers = [
            Writer(
                id: 1, name: "Jane", born: Date(timeIntervalSinceReferenceDate: 0), books: [Book("Emma", price: 9, tags: [Tag("novel")])]),
            Writer(id: 2, name: "Émile", books: [Book("Germinal", price: 12), Book("Nana", price: 7, tags: [Tag("novel")])]),
            Writer(id: 3, name: "Anne"),
        ]
        try store.save(&writers)
    }

    private func names(_ condition: (RecordFields<Writer>) -> Condition) throws -> [String] {
        try store.graph.fetch(Writer.self, where: condition).map(\.name)
    }

    private func titles(_ condition: (RecordFields<Book>) -> Condition) throws -> [String] {
        try store.graph.fetch(Book.self, where: condition).map(\.title)
    }

    @Test("comparisons of values") func comparisons() throws {
        #expect(try names { $0.id > 1 } == ["Émile", "Anne"])
        #expect(try names { $0.id >= 2 && $0.id != 3 } == ["Émile"])
        #expect(try names { $0.id < 2 || $0.name == "Anne" } == ["Jane", "Anne"])
        #expect(try names { !($0.id <= 2) } == ["Anne"])
        #expect(try names { $0.id.isIn([1, 3]) } == ["Jane", "Anne"])
        #expect(try names { $0.id.isBetween(2, and: 3) } == ["Émile", "Anne"])
    }

    @Test("comparisons with null") func nulls() throws {
        #expect(try names { $0.born == nil } == ["Émile", "Anne"])
        #expect(try names { $0.born != nil } == ["Jane"])
        #expect(try titles { $0.price > 8 } == ["Emma", "Germinal"])
        #expect(try titles { $0.writer == nil } == [])
    }

    @Test("a property that the record's schema does not list is refused") func unlistedProperty() throws {
        #expect(try store.graph.count(RecordQuery<AgedWriter> { $0.name == "Jane" }) == 1)
        #expect(code(of: { _ = try store.graph.count(RecordQuery<AgedWriter> { $0.age == 0 }) }) == .invalidInput)
        #expect(code(of: { _ = try store.graph.fetch(RecordQuery<AgedWriter>().sorted(by: \.age)) }) == .invalidInput)
        #expect(code(of: { _ = try store.graph.sum(\AgedWriter.age) }) == .invalidInput)
        #expect(code(of: { _ = try store.graph.column(\AgedWriter.age) }) == .unknownName)
    }

    @Test("texts with folding") func texts() throws {
        #expect(try names { $0.name.hasPrefix("e", [.caseInsensitive, .diacriticInsensitive]) } == ["Émile"])
        #expect(try names { $0.name.contains("n") } == ["Jane", "Anne"])
        #expect(try names { $0.name.isLike("*ne") } == ["Jane", "Anne"])
        #expect(try names { $0.name.matches("A.*") } == ["Anne"])
        #expect(try names { $0.name.equals("JANE", .caseInsensitive) } == ["Jane"])
    }

    @Test("a path does not continue after an aggregate") func pathsAfterAggregates() throws {
        let error = try #require(throws: CambiumError.self) { try names { $0.books.max(\.writer).name == "Jane" } }
        #expect(error.code == .invalidInput)
        #expect(throws: CambiumError.self) { try names { $0.books.max(\.tags).any { $0.name == "novel" } } }
    }

    @Test("paths through refs and members") func paths() throws {
        #expect(try titles { $0.writer.name == "Émile" } == ["Germinal", "Nana"])
        #expect(try names { $0.books.any { $0.price > 10 } } == ["Émile"])
        #expect(try names { $0.books.all { $0.price > 8 } } == ["Jane", "Anne"])
        #expect(try names { $0.books.none { $0.tags.any { $0.name == "novel" } } } == ["Anne"])
        #expect(try names { $0.books.count == 2 } == ["Émile"])
        #expect(try names { $0.books.isEmpty } == ["Anne"])
        #expect(try names { $0.books.sum(\.price) > 15 } == ["Émile"])
        let jane = try #require(try store.graph.find(Writer.self, identity: 1)?.ref)
        #expect(try titles { $0.writer == jane } == ["Emma"])
        #expect(try names { $0.ref == jane } == ["Jane"])
        let novel = try #require(try store.graph.find(Tag.self, identity: "novel")?.ref)
        #expect(try titles { $0.tags.contains(novel) } == ["Emma", "Nana"])
    }

    @Test("order, limit and the other questions") func order() throws {
        let graph = store.graph
        let sorted = RecordQuery<Book>().sorted(by: \.price, .descending)
        #expect(try graph.fetch(sorted).map(\.title) == ["Germinal", "Emma", "Nana"])
        #expect(try graph.fetch(sorted.limited(to: 1, offset: 1)).map(\.title) == ["Emma"])
        #expect(try graph.first(sorted)?.title == "Germinal")
        #expect(try graph.fetch(RecordQuery<Book>().sorted(.descending) { $0.writer.name }.sorted(by: \.title)).map(\.title).count == 3)
        #expect(try graph.count(RecordQuery<Book> { $0.price > 8 }) == 2)
        #expect(try graph.contains(RecordQuery<Book> { $0.price > 100 }) == false)
        #expect(try graph.only(RecordQuery<Book> { $0.title == "Nana" })?.price == 7)
        #expect(throws: CambiumError.self) { try graph.only(RecordQuery<Book>()) }
        #expect(try graph.fetch(RecordQuery<Book>("price > $p", ["p": 8]).filtered { $0.title == "Emma" }).count == 1)
    }

    @Test("aggregates and groups") func aggregates() throws {
        let graph = store.graph
        #expect(try graph.sum(\Book.price) == .decimal(DecimalNumber(28)))
        #expect(try graph.max(\Book.price, of: RecordQuery { $0.title != "Germinal" }) == .decimal(DecimalNumber(9)))
        #expect(try graph.min(\Writer.id) == 1)
        #expect(try graph.average(\Writer.id) == 2)
        let counts = try graph.counts(RecordQuery<Book>()) { $0.writer.name }
        #expect(counts.map(\.count) == [1, 2])
    }

    @Test("a function covers the records of the answer") func functionsOfAnswers() throws {
        let graph = store.graph
        let sorted = RecordQuery<Book>().sorted(by: \.price, .descending)
        #expect(try graph.sum(\.price, of: sorted) == .decimal(DecimalNumber(28)))
        #expect(try graph.sum(\.price, of: sorted.limited(to: 2)) == .decimal(DecimalNumber(21)))
        #expect(try graph.max(\.price, of: sorted.limited(to: 2, offset: 1)) == .decimal(DecimalNumber(9)))
        #expect(try graph.sum(\.price, of: sorted.limited(to: 2, offset: 3)) == .decimal(DecimalNumber(0)))
        #expect(throws: CambiumError.self) { try graph.sum(\.price, of: sorted.limited(to: -1)) }
        let counts = try graph.counts(sorted.limited(to: 2)) { $0.writer.name }
        #expect(counts.map(\.count) == [1, 1])
    }

    @Test("a key path that the schema does not list is an error with its name") func unknownProperty() throws {
        #expect(throws: CambiumError.self) { try store.graph.fetch(RecordQuery<Writer>().sorted(by: \.name.description)) }
    }
}
