import Cambium
import FoundationEssentials
import TestFixtures
import Testing

@Suite("Conflicts by the properties of records")
struct RecordConflictTests {
    private let store: Store
    private let jane: Writer
    private let emma: Book

    init() throws {
        store = try Library.store()
        var jane = Writer(id: 1, name: "Jane", books: [Book("Emma", tags: [Tag("novel")])])
        try store.save(&jane)
        (self.jane, emma) = (jane, jane.books[0])
    }

    private func conflicts(_ mine: (inout Writer) -> Void, _ theirs: (inout Writer) -> Void) throws -> (Edit, [EditConflict]) {
        var edit = store.edit()
        let ref = try #require(jane.ref)
        var (one, other) = (try edit.load(ref), try edit.load(ref))
        mine(&one)
        theirs(&other)
        try edit.save(&one)
        try store.save(&other)
        return (edit, edit.conflicts(with: store.graph))
    }

    @Test("a conflict has the values of both sides in the type of the property")
    func values() throws {
        let day = Date(timeIntervalSinceReferenceDate: 0)
        let found = try conflicts({ ($0.name, $0.born) = ("Jane A.", day) }, { ($0.name, $0.born) = ("J. Austen", day + 1) }).1
        #expect(found.count == 2)
        let names = try #require(try found[0].values(of: \Writer.name))
        #expect([names.base, names.mine, names.theirs] == ["Jane", "Jane A.", "J. Austen"])
        #expect(try found[0].values(of: \Writer.born) == nil)
        let born = try #require(try found[1].values(of: \Writer.born))
        #expect([born.base, born.mine, born.theirs] == [nil, day, day + 1])
    }

    @Test("a conflict has the members of both sides as refs")
    func members() throws {
        let (edit, found) = try conflicts({ $0.books.append(Book("Mine")) }, { $0.books.insert(Book("Theirs"), at: 0) })
        let books = try #require(found.first?.values(of: \Writer.books))
        let emma = try #require(emma.ref)
        #expect(books.base == [emma])
        #expect(try books.mine.map { try edit.load($0).title } == ["Emma", "Mine"])
        #expect(try books.theirs.map { try store.graph.load($0).title } == ["Theirs", "Emma"])
        #expect(books.mine.last?.id.isProvisional == true)
    }

    @Test("a conflict has both targets of a to-one relationship as refs")
    func target() throws {
        var others = [Writer(id: 2, name: "Anne"), Writer(id: 3, name: "Ben")]
        try store.save(&others)
        var edit = store.edit()
        let book = try #require(emma.ref)
        for (index, isMine) in [(0, true), (1, false)] {
            var read = try edit.load(book)
            read.writer = others[index].ref
            if isMine { try edit.save(&read) } else { try store.save(&read) }
        }
        let writers = edit.conflicts(with: store.graph).compactMap { $0.values(of: \Book.writer) }
        #expect(writers.map(\.base) == [jane.ref])
        #expect(writers.map(\.mine) == [others[0].ref])
        #expect(writers.map(\.theirs) == [others[1].ref])
    }

    @Test("a policy chooses by property")
    func policy() throws {
        let day = Date(timeIntervalSinceReferenceDate: 0)
        var (edit, found) = try conflicts({ ($0.name, $0.born) = ("Jane A.", day) }, { ($0.name, $0.born) = ("J. Austen", day + 1) })
        #expect(found.map { $0.concerns(\Writer.born) } == [false, true])
        #expect(found.map { $0.concerns(\WriterName.name) } == [true, false])
        #expect(!found[0].concerns(\Tag.name))
        try store.commit(&edit, policy: .byProperty { $0.concerns(\Writer.name) ? .mine : .theirs })
        let read = try store.graph.load(try #require(jane.ref))
        #expect(read.name == "Jane A.")
        #expect(read.born == day + 1)
    }

    @Test("a value that the record cannot hold is an error")
    func mismatch() throws {
        struct Named: EntityRecord {
            var born: Date
            var ref: Ref<Named>?
            static let recordSchema = RecordSchema<Named>("Writer") { RecordProperty("born", \.born) }
            init(from row: inout RecordReader) throws { born = try row.read(0) }
        }
        let day = Date(timeIntervalSinceReferenceDate: 0)
        let found = try conflicts({ $0.born = day }, { $0.born = day + 1 }).1
        let error = try #require(throws: CambiumError.self) { try found[0].values(of: \Named.born) }
        #expect(error.code == .unexpectedValue)
        #expect(try found[0].values(of: \Writer.born)?.mine == day)
    }
}
