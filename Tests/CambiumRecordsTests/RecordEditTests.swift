import Cambium
import FoundationEssentials
import TestFixtures
import Testing

@Suite("Records of kept edits")
struct RecordEditTests {
    private let store: Store
    private let jane: Writer
    private let ref: Ref<Writer>

    init() throws {
        store = try Library.store()
        var jane = Writer(id: 1, name: "Jane", books: [Book("Emma", price: 9.5, tags: [Tag("novel")]), Book("Persuasion")])
        jane.books[0].printing = Printing(year: 1815, copies: [2000])
        try store.save(&jane)
        self.jane = jane
        ref = try #require(jane.ref)
    }

    // MARK: Reading

    @Test("a record of an edit without changes is that of its base")
    func unchanged() throws {
        let edit = store.edit()
        #expect(try edit.load(ref) == store.graph.load(ref))
        #expect(try edit.load([ref.id]) == [store.graph.load(ref)])
        #expect(try edit.find(Tag.self, identity: "novel")?.books.count == 1)
        #expect(try edit.find(Tag.self, identity: "play") == nil)
    }

    @Test("a record has the changes that calls by name made")
    func reading() throws {
        var edit = store.edit()
        try edit.set(ref.id, "name", to: "Jane Austen")
        try edit.set(ref.id, "born", to: .date(Date(timeIntervalSinceReferenceDate: 0)))
        let book = try edit.insert("Book", ["title": "Sanditon", "price": Decimal(4).attributeValue])
        try edit.link(ref.id, "books", book, at: 0)
        let read = try edit.load(ref)
        #expect(read.name == "Jane Austen")
        #expect(read.born == Date(timeIntervalSinceReferenceDate: 0))
        #expect(read.books.map(\.title) == ["Sanditon", "Emma", "Persuasion"])
        #expect(read.books.map(\.price) == [4, 9.5, nil])
        #expect(read.books[0].ref?.id == book)
        #expect(read.books[1].printing == Printing(year: 1815, copies: [2000]))
        #expect(read.books.map(\.binding) == [.soft, .soft, .soft])
        #expect(read.books.allSatisfy { $0.writer == ref })
    }

    @Test("a deleted object, and a mandatory property that is not set yet, are errors")
    func errors() throws {
        var edit = store.edit()
        let book = try edit.insert("Book")
        #expect(throws: CambiumError.self) { try edit.load(Book.self, book) }
        do { _ = try edit.load(Book.self, book) } catch let error as CambiumError { #expect(error.code == .unexpectedValue) }
        #expect(throws: CambiumError.self) { try edit.load(Tag.self, ref.id) }
        try edit.delete(ref.id)
        let error = try #require(throws: CambiumError.self) { try edit.load(ref) }
        #expect(error.code == .objectDeleted)
        #expect(try edit.find(Writer.self, identity: 1) == nil)
    }

    @Test("refs and ToMany are of the moment of the edit in which they were read")
    func refs() throws {
        var edit = store.edit()
        try edit.set(ref.id, "name", to: "Jane Austen")
        let writer = try #require(try edit.load(ref).books[0].writer)
        let novel = try #require(try edit.find(Tag.self, identity: "novel"))
        try edit.set(ref.id, "name", to: "J. A.")
        try edit.set(try #require(jane.books[0].ref).id, "title", to: "Volpone")
        #expect(try writer.load().name == "Jane Austen")
        #expect(try novel.books.load().map(\.title) == ["Emma"])
        #expect(try edit.load(writer).name == "J. A.")
    }

    @Test("reading a record counts as reading its properties")
    func tracking() throws {
        var edit = store.edit(tracking: .writesAndReads)
        _ = try edit.load(WriterName.self, ref.id)
        try edit.set(try #require(jane.books[0].ref).id, "title", to: "Volpone")
        try store.write { try $0.set(ref.id, "born", to: .date(Date(timeIntervalSinceReferenceDate: 0))) }
        #expect(edit.conflicts(with: store.graph).isEmpty)
        try store.write { try $0.set(ref.id, "name", to: "Jane Austen") }
        #expect(edit.conflicts(with: store.graph).map(\.use) == [.read])
    }

    // MARK: Saving

    @Test("saving what was read changes nothing")
    func noChange() throws {
        var edit = store.edit()
        var read = try edit.load(ref)
        try edit.save(&read)
        var novel = try #require(try edit.find(Tag.self, identity: "novel"))
        try edit.save(&novel)
        #expect(edit.isEmpty)
        #expect(!edit.canUndo)
    }

    @Test("a new record has a provisional ref until the commit")
    func inserting() throws {
        var edit = store.edit()
        var anne = Writer(id: 2, name: "Anne", books: [Book("Agnes Grey", tags: [Tag("novel"), Tag("new")])])
        try edit.save(&anne)
        let provisional = try #require(anne.ref)
        #expect(provisional.id.isProvisional)
        #expect("\(provisional)" == "Writer/+1")
        #expect(try edit.load(provisional) == edit.find(Writer.self, identity: 2))
        #expect(try edit.find(Tag.self, identity: "novel")?.books.count == 2)
        anne.name = "Anne Brontë"
        try edit.save(&anne)
        #expect(try edit.count(of: "Writer") == 2)
        let committed = try store.commit(&edit)
        let permanent = committed.ref(of: provisional)
        #expect(try store.graph.load(permanent).name == "Anne Brontë")
        #expect(try store.graph.find(Tag.self, identity: "new")?.books.count == 1)
        #expect(committed.ref(of: ref) == ref)
    }

    @Test("a provisional ref is unknown outside of its edit")
    func provisional() throws {
        var edit = store.edit()
        var anne = Writer(id: 2, name: "Anne")
        try edit.save(&anne)
        let provisional = try #require(anne.ref)
        let error = try #require(throws: CambiumError.self) { try store.graph.load(provisional) }
        #expect(error.code == .objectDeleted)
        let saving = try #require(throws: CambiumError.self) { try store.save(&anne) }
        #expect(saving.code == .objectDeleted)
        #expect(saving.message.contains("exists only in the edit"))
        try edit.delete(provisional.id)
        let deleted = try #require(throws: CambiumError.self) { try edit.save(&anne) }
        #expect(deleted.message.contains("was deleted"))
        var other = store.edit()
        #expect(throws: CambiumError.self) { try other.save(&anne) }
    }

    @Test("the error for an object that was inserted after the base of the edit advises to rebase the edit")
    func insertedLater() throws {
        var (edit, tag) = (store.edit(), Tag("later"))
        try store.save(&tag)
        let error = try #require(throws: CambiumError.self) { try edit.save(&tag) }
        #expect(error.code == .objectDeleted)
        #expect(error.message.contains("Rebase the edit"))
        try edit.rebase(onto: store.graph)
        tag.name = "renamed"
        try edit.save(&tag)
        try store.commit(&edit)
        #expect(try store.graph.fetch(Tag.self).map(\.name).contains("renamed"))
        try edit.delete(&tag)
        tag.ref = try store.graph.find(Tag.self, identity: "renamed")?.ref
        let deleted = try #require(throws: CambiumError.self) { try edit.save(&tag) }
        #expect(deleted.message.contains("was deleted"))
    }

    @Test("a save is one step of undo")
    func undo() throws {
        var edit = store.edit()
        var anne = Writer(id: 2, name: "Anne", books: [Book("Agnes Grey")])
        try edit.save(&anne)
        edit.undo()
        #expect(edit.isEmpty)
        edit.redo()
        #expect(try edit.find(Writer.self, identity: 2)?.books.map(\.title) == ["Agnes Grey"])
        edit.undo()
        #expect(!edit.canUndo)
    }

    @Test("a record is found by the identity that undo and redo give it")
    func identity() throws {
        var edit = store.edit()
        var read = try edit.load(ref)
        read.id = 5
        try edit.save(&read)
        var anne = Writer(id: 1, name: "Anne")
        try edit.save(&anne)
        func refs() throws -> [Ref<Writer>?] { try [1, 5].map { try edit.find(Writer.self, identity: $0)?.ref } }
        #expect(try refs() == [anne.ref, ref])
        edit.undo()
        #expect(try refs() == [nil, ref])
        edit.undo()
        #expect(try refs() == [ref, nil])
        edit.redo()
        edit.redo()
        #expect(try refs() == [anne.ref, ref])
    }

    @Test("a save that fails changes neither the edit nor the record")
    func failing() throws {
        var edit = store.edit()
        var stale = Book("Volpone")
        try store.save(&stale)
        try edit.rebase(onto: store.graph)
        try edit.delete(try #require(stale.ref).id)
        var anne = Writer(id: 2, name: "Anne", books: [Book("Agnes Grey"), stale])
        let (before, count) = (edit.changes.count, try edit.count(of: "Book"))
        let error = try #require(throws: CambiumError.self) { try edit.save(&anne) }
        #expect(error.code == .objectDeleted)
        #expect(anne.ref == nil)
        #expect(anne.books[0].ref == nil)
        #expect(edit.changes.count == before)
        #expect(try edit.count(of: "Book") == count)
        var long = Writer(id: 3, name: String(repeating: "a", count: 41))
        let rule = try #require(throws: CambiumError.self) { try edit.save(&long) }
        #expect(rule.code == .ruleViolated)
    }

    @Test("deleting a record clears the refs of the objects that its cascades reach")
    func deleting() throws {
        var edit = store.edit()
        var read = try edit.load(ref)
        try edit.delete(&read)
        #expect(read.ref == nil)
        #expect(read.books.allSatisfy { $0.ref == nil })
        #expect(try edit.count(of: "Book") == 0)
        #expect(throws: CambiumError.self) { try edit.delete(&read) }
        edit.undo()
        #expect(try edit.load(ref).books.count == 2)
        edit.redo()
        try store.commit(&edit)
        #expect(try store.graph.count(of: "Writer") == 0)
    }

    @Test("an edit of records leads to the digest of saves in a transaction")
    func digest() throws {
        let twin = try Library.store()
        var first = Writer(id: 1, name: "Jane", books: [Book("Emma", price: 9.5, tags: [Tag("novel")]), Book("Persuasion")])
        first.books[0].printing = Printing(year: 1815, copies: [2000])
        try twin.save(&first)
        var (records, edit) = ([Writer(id: 2, name: "Anne", books: [Book("Agnes Grey", tags: [Tag("new")])])], store.edit())
        var mine = try edit.load(ref)
        mine.books.remove(at: 0)
        try edit.save(&mine)
        try edit.save(&records)
        try store.commit(&edit)
        records = [Writer(id: 2, name: "Anne", books: [Book("Agnes Grey", tags: [Tag("new")])])]
        try twin.write { transaction in
            var theirs = try transaction.load(try #require(first.ref))
            theirs.books.remove(at: 0)
            try transaction.save(&theirs)
            try transaction.save(&records)
        }
        #expect(store.graph.digest() == twin.graph.digest())
    }

    @Test("a preview answers typed queries, with the refs of the edit")
    func preview() throws {
        var edit = store.edit()
        var anne = Writer(id: 2, name: "Anne")
        try edit.save(&anne)
        let found = try store.preview(edit) { try $0.fetch(RecordQuery<Writer>().sorted(by: \.name)) }
        #expect(found.map(\.name) == ["Anne", "Jane"])
        #expect(found.map(\.ref) == [anne.ref, ref])
        var read = found[0]
        read.name = "Anne Brontë"
        try edit.save(&read)
        #expect(try edit.count(of: "Writer") == 2)
    }

    @Test("a record that was saved in a discarded copy of the edit does not change another inserted object")
    func discardedCopy() throws {
        var edit = store.edit()
        var (first, tried, kept) = (Tag("first"), Tag("tried"), Tag("kept"))
        try edit.save(&first)
        var copy = edit
        try copy.save(&tried)
        try edit.save(&kept)
        #expect(tried.ref != kept.ref)
        let error = #expect(throws: CambiumError.self) { try edit.save(&tried) }
        #expect(error?.code == .objectDeleted)
        #expect(try edit.load(try #require(kept.ref)).name == "kept")
    }

    private struct RankedTag: BlankRecord {
        var name = ""
        var rank: Int?
        var ref: Ref<RankedTag>?
        static let recordSchema = RecordSchema<RankedTag>("Tag") {
            RecordProperty("name", \.name, .identity)
            RecordProperty("rank", \.rank)
        }
    }

    private struct Shop: BlankRecord {
        var name = ""
        var ref: Ref<Shop>?
        static let recordSchema = RecordSchema<Shop>("Shop") { RecordProperty("name", \.name) }
    }

    @Test("the error for a record that does not fit an edit older than a migration advises to rebase the edit")
    func olderThanMigration() throws {
        var edit = store.edit()
        try store.migrate(to: SchemaDefinition(of: Writer.self, Person.self, RankedTag.self, Shop.self))
        let found = try #require(throws: CambiumError.self) { try edit.find(RankedTag.self, identity: "novel") }
        #expect(found.code == .unknownName)
        #expect(found.message.contains("rebase the edit"))
        #expect(found.details.count == 1)
        var shop = Shop(name: "Murray")
        let saved = try #require(throws: CambiumError.self) { try edit.save(&shop) }
        #expect(saved.code == .unknownName)
        #expect(saved.message.contains("rebase the edit"))
        try edit.rebase(onto: store.graph)
        try edit.save(&shop)
        #expect(try edit.find(RankedTag.self, identity: "novel")?.rank == nil)
        try store.commit(&edit)
        #expect(try store.graph.fetch(Shop.self).map(\.name) == ["Murray"])
    }
}
