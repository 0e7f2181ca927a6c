import Cambium
import FoundationEssentials
import TestFixtures
import Testing

@Suite("Records inside of transactions")
struct RecordTransactionTests {
    private let store: Store
    private let jane: Writer

    init() throws {
        store = try Library.store()
        var jane = Writer(id: 1, name: "Jane", books: [Book("Emma", price: 9.5, tags: [Tag("novel")]), Book("Persuasion")])
        try store.save(&jane)
        self.jane = jane
    }

    @Test("a record has the changes of the transaction so far")
    func reading() throws {
        let ref = try #require(jane.ref)
        try store.write { transaction in
            try transaction.set(ref.id, "name", to: "Jane Austen")
            let book = try transaction.insert("Book", ["title": "Sanditon"], links: ["writer": [ref.id]])
            let read = try transaction.load(ref)
            #expect(read.name == "Jane Austen")
            #expect(read.books.map(\.title) == ["Emma", "Persuasion", "Sanditon"])
            #expect(read.books.last?.ref?.id == book)
            try transaction.delete(book)
            #expect(try transaction.load(ref).books.count == 2)
            #expect(read.books.count == 3)
            #expect(try transaction.load([ref.id]) == [try transaction.load(Writer.self, ref.id)])
        }
    }

    @Test("a record is found by the identity that the transaction gave it")
    func finding() throws {
        try store.write { transaction in
            var found = try #require(try transaction.find(Writer.self, identity: 1))
            found.id = 2
            try transaction.save(&found)
            #expect(try transaction.find(Writer.self, identity: 1) == nil)
            #expect(try transaction.find(Writer.self, identity: 2)?.ref == jane.ref)
            try transaction.delete(&found)
            #expect(try transaction.find(Writer.self, identity: 2) == nil)
        }
        #expect(try store.graph.count(of: "Book") == 0)
    }

    @Test("an object that the transaction does not have is an error")
    func missing() throws {
        let ref = try #require(jane.ref)
        try store.write { transaction in
            try transaction.delete(ref.id)
            let error = try #require(throws: CambiumError.self) { try transaction.load(ref) }
            #expect(error.code == .objectDeleted)
        }
        let other = try Library.store()
        try other.write { transaction in
            let error = try #require(throws: CambiumError.self) { try transaction.load(ref) }
            #expect(error.code == .misuse)
        }
    }

    @Test("refs that were read inside of a transaction hold no graph, and load from the transaction")
    func refs() throws {
        try store.write { transaction in
            let emma = try #require(try transaction.fetch(Book.self).first)
            let writer = try #require(emma.writer)
            let error = try #require(throws: CambiumError.self) { try writer.load() }
            #expect(error.code == .misuse)
            #expect(try transaction.load(writer).name == "Jane")
            #expect(writer == jane.ref)
        }
    }

    @Test("ToMany has the members of its moment, and a save leaves them as they are")
    func toMany() throws {
        try store.write { transaction in
            var novel = try #require(try transaction.find(Tag.self, identity: "novel"))
            var book = Book("Lady Susan", tags: [novel])
            try transaction.save(&book)
            #expect(novel.books.count == 1)
            #expect(throws: CambiumError.self) { try novel.books.load() }
            #expect(try transaction.load(novel.books.map(\.id)).map { (book: Book) in book.title } == ["Emma"])
            novel.name = "novels"
            try transaction.save(&novel)
        }
        #expect(try store.graph.find(Tag.self, identity: "novels")?.books.count == 2)
    }

    @Test("a ref that was read from a transaction that is rolled back is void")
    func rolledBack() throws {
        struct Stop: Error {}
        var kept: Person?
        #expect(throws: Stop.self) {
            try store.write { transaction in
                let id = try transaction.insert("Person", ["name": "Anne"])
                kept = try transaction.load(Person.self, id)
                throw Stop()
            }
        }
        var anne = try #require(kept)
        let ref = try #require(anne.ref)
        try store.write { _ = try $0.insert("Person", ["name": "Ben"]) }
        let error = try #require(throws: CambiumError.self) { try store.graph.load(ref) }
        #expect(error.code == .objectDeleted)
        try store.save(&anne)
        #expect(try store.graph.fetch(Person.self).map(\.name) == ["Ben", "Anne"])
    }

    @Test("a ref that was read in a transaction that is rolled back still means an object from before")
    func rolledBackRead() throws {
        struct Stop: Error {}
        var kept: Writer?
        #expect(throws: Stop.self) {
            try store.write { transaction in
                kept = try transaction.find(Writer.self, identity: 1)
                throw Stop()
            }
        }
        var read = try #require(kept)
        read.name = "Jane Austen"
        try store.save(&read)
        #expect(try store.graph.fetch(Writer.self).map(\.name) == ["Jane Austen"])
    }

    @Test("a query has the changes of the transaction so far")
    func queries() throws {
        try store.write { transaction in
            var ben = Writer(id: 2, name: "Ben")
            try transaction.save(&ben)
            #expect(try transaction.fetch(Writer.self) { $0.name.hasPrefix("B") }.map(\.id) == [2])
            ben.name = "Zoe"
            try transaction.save(&ben)
            #expect(try transaction.fetch(Writer.self) { $0.name.hasPrefix("B") }.isEmpty)
            #expect(try transaction.fetch(RecordQuery<Writer>().sorted(by: \.name, .descending)).map(\.id) == [2, 1])
            #expect(try transaction.find(Query("Writer", where: "name == \"Zoe\"")) == [try #require(ben.ref).id])
            #expect(try transaction.count(Query("Writer")) == 2)
        }
        #expect(try store.graph.fetch(Writer.self) { $0.name == "Zoe" }.map(\.id) == [2])
    }

    @Test("a transaction answers the queries that a graph answers")
    func answers() throws {
        try store.write { transaction in
            var ben = Writer(id: 2, name: "Ben")
            try transaction.save(&ben)
            let (all, named) = (RecordQuery<Writer>().sorted(by: \.name), RecordQuery<Writer> { $0.name == "Ben" })
            #expect(try transaction.first(all)?.ref == ben.ref)
            #expect(try transaction.only(named)?.ref == ben.ref)
            #expect(try transaction.collect(all).records.map(\.id) == [2, 1])
            #expect(try transaction.count(all) == 2)
            #expect(try transaction.contains(named))
            let query = try Query("Writer", where: "name == \"Ben\"")
            #expect(try transaction.first(query) == ben.ref?.id)
            #expect(try transaction.only(query) == ben.ref?.id)
            #expect(try transaction.contains(query))
            let error = try #require(throws: CambiumError.self) { try transaction.only(all) }
            #expect(error.code == .ruleViolated)
            try transaction.delete(&ben)
            #expect(try transaction.first(named) == nil)
            #expect(try !transaction.contains(named))
        }
    }

    @Test("a transaction that a save has changed only in part answers no queries")
    func partialSave() throws {
        let other = try Library.store()
        var foreign = Tag("foreign")
        try other.save(&foreign)
        let (all, query) = (RecordQuery<Writer>(), try Query("Writer", where: "name == \"half\""))
        var codes: [CambiumError.Code] = []
        func noteCode(_ body: () throws -> Void) { do { try body() } catch let error as CambiumError { codes.append(error.code) } catch {} }
        noteCode {
            try store.write { transaction in
                var writer = Writer(id: 2, name: "half", books: [Book("Volpone", tags: [foreign])])
                _ = try? transaction.save(&writer)
                noteCode { _ = try transaction.count(all) }
                noteCode { _ = try transaction.find(query) }
            }
        }
        #expect(codes == [.misuse, .misuse, .misuse])
        #expect(try store.graph.count(all) == 1)
    }

    @Test("a caught error of a save in part fails the import whose hook saved")
    func partialSaveOfHook() throws {
        let other = try Library.store()
        var foreign = Tag("foreign")
        try other.save(&foreign)
        let hooks = ImportHooks(Writer.self) { [foreign] transaction, ref, _ in
            var writer = try transaction.load(ref)
            (writer.name, writer.books) = ("half", [Book("Volpone", tags: [foreign])])
            _ = try? transaction.save(&writer)
        }
        let (writer, rows) = (try store.schema.required("Writer"), Array(#"[{"id": 2, "name": "Ben"}]"#.utf8))
        let error = try #require(throws: CambiumError.self) { try store.importRows(writer, from: [.bytes(rows)], hooks: hooks) }
        #expect(error.code == .misuse)
        #expect(try store.graph.fetch(Writer.self).map(\.name) == ["Jane"])
    }

    @Test("a hook of an import reads the record of its row")
    func hook() throws {
        let hooks = ImportHooks(Writer.self) { transaction, ref, _ in
            var writer = try transaction.load(ref)
            writer.name += ", \(try transaction.fetch(Writer.self).count)"
            try transaction.save(&writer)
        }
        let writer = try store.schema.required("Writer")
        let rows = #"[{"id": 2, "name": "Ben", "books": [{"title": "Volpone"}]}, {"id": 3, "name": "Zoe"}]"#
        _ = try store.importRows(writer, from: [.bytes(Array(rows.utf8))], hooks: hooks)
        #expect(try store.graph.fetch(Writer.self).map(\.name) == ["Jane", "Ben, 2", "Zoe, 3"])
        #expect(try store.graph.find(Writer.self, identity: 2)?.books.map(\.title) == ["Volpone"])
    }
}
