import Cambium
import Testing

/// Saves of records to an edit, which write the members of each ordered relationship once.
@Suite struct RecordEditListTests {
    private let store: Store
    private let jane: Writer
    private let ref: Ref<Writer>

    init() throws {
        store = try Library.store()
        var jane = Writer(id: 1, name: "Jane", books: ["Emma", "Persuasion", "Sanditon"].map { Book($0) })
        try store.save(&jane)
        self.jane = jane
        ref = try #require(jane.ref)
    }

    /// If each link took time in proportion to the members, this test would be one of the slowest.
    @Test func `saving and rebasing thousands of members takes linear time`() throws {
        var edit = store.edit()
        var changed = jane
        changed.books.insert(contentsOf: (0..<3_000).map { Book("\($0)") }, at: 1)
        try edit.save(&changed)
        try store.write { try $0.set(ref.id, "name", to: "Jane Austen") }
        try edit.rebase(onto: store.graph)
        let members = try edit.members("books", of: ref.id)
        #expect(members == changed.books.compactMap(\.ref?.id))
        #expect(members.count == 3_003)
        let committed = try store.commit(&edit)
        #expect(try store.graph.members("books", of: ref.id) == members.map { committed.id(of: $0) })
    }

    /// If each save copied all changes of the edit, this test would be one of the slowest.
    @Test func `a loop that reads, changes and saves records with refs does not copy all changes`() throws {
        struct Cell: BlankRecord {
            var number = 0
            var head: Ref<Cell>?
            var ref: Ref<Cell>?
            static let recordSchema = RecordSchema<Cell>("Cell") {
                RecordProperty("number", \.number)
                RecordProperty("head", \.head)
            }
        }
        let store = try Store.inMemory(schema: Schema(of: Cell.self))
        let ids = try store.write { transaction in
            let head = try transaction.insert("Cell", ["number": 0])
            return try (1...2_000).map { try transaction.insert("Cell", ["number": .int(Int64($0))], links: ["head": [head]]) }
        }.result
        var edit = store.edit()
        var heads: [Ref<Cell>] = []
        for id in ids {
            var cell = try edit.load(Cell.self, id)
            cell.number = -cell.number
            try edit.save(&cell)
            heads += [cell.head].compactMap(\.self)
        }
        #expect(edit.changes.count == ids.count)
        #expect(try edit.load(Cell.self, ids[9]).number == -10)
        #expect(try heads[9].load().number == 0)
        edit.undo()
        #expect(try edit.load(Cell.self, ids[1_999]).number == 2_000)
    }

    @Test func `a save removes, inserts and moves members in one step of undo`() throws {
        var edit = store.edit()
        var changed = jane
        changed.books = [jane.books[2], Book("Lady Susan"), jane.books[0]]
        try edit.save(&changed)
        let titles = ["Sanditon", "Lady Susan", "Emma"]
        #expect(try edit.load(ref).books.map(\.title) == titles)
        edit.undo()
        #expect(edit.isEmpty)
        edit.redo()
        #expect(try edit.load(ref).books.map(\.title) == titles)
        try store.commit(&edit)
        #expect(try store.graph.load(ref).books.map(\.title) == titles)
    }

    @Test func `a member leaves the list of its former owner`() throws {
        var edit = store.edit()
        var anne = Writer(id: 2, name: "Anne", books: [jane.books[1], Book("Agnes Grey"), jane.books[0]])
        try edit.save(&anne)
        #expect(try edit.load(ref).books.map(\.title) == ["Sanditon"])
        #expect(try edit.load(try #require(anne.ref)).books.map(\.title) == ["Persuasion", "Agnes Grey", "Emma"])
        edit.undo()
        #expect(try edit.load(ref) == store.graph.load(ref))
    }

    @Test func `records with a ref to one owner are appended to its list`() throws {
        var edit = store.edit()
        var books = ["Lady Susan", "The Watsons"].map { Book($0) }
        for index in books.indices { books[index].writer = ref }
        try edit.save(&books)
        #expect(try edit.load(ref).books.map(\.title) == ["Emma", "Persuasion", "Sanditon", "Lady Susan", "The Watsons"])
        books[0].writer = nil
        try edit.save(&books)
        #expect(try edit.load(ref).books.map(\.title) == ["Emma", "Persuasion", "Sanditon", "The Watsons"])
    }

    @Test func `a save that throws leaves the lists unchanged`() throws {
        var edit = store.edit()
        let tooLong = String(repeating: "a", count: 41)
        var writers = [Writer(id: 2, name: "Anne", books: [jane.books[0]]), Writer(id: 3, name: tooLong)]
        #expect(throws: CambiumError.self) { try edit.save(&writers) }
        #expect(edit.isEmpty)
        let book = try edit.insert("Book", ["title": "Lady Susan"])
        try edit.link(ref.id, "books", book)
        #expect(try edit.members("books", of: ref.id) == jane.books.compactMap(\.ref?.id) + [book])
    }
}
