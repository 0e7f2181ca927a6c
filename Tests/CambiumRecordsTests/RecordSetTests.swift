import Cambium
import TestFixtures
import Testing

/// The order in which the new records of a set are inserted.
@Suite struct RecordSetTests {
    private struct Leaf: BlankRecord, Hashable {
        var color: String?
        var size = 0
        var ref: Ref<Leaf>?

        static let recordSchema = RecordSchema<Leaf>("Leaf") {
            RecordProperty("color", \.color)
            RecordProperty("size", \.size)
        }

        init() {}
        init(_ color: String?, _ size: Int) { (self.color, self.size) = (color, size) }
    }

    private struct Branch: BlankRecord, Equatable {
        var leaves: Set<Leaf> = []
        var ref: Ref<Branch>?

        static let recordSchema = RecordSchema<Branch>("Branch") { RecordProperty("leaves", \.leaves) }

        init() {}
        init(_ leaves: Set<Leaf>) { self.leaves = leaves }
    }

    @Test func `new records of a set are inserted in the order of their identity`() throws {
        let store = try Library.store()
        let names = (10..<30).map { "tag \($0)" }
        var book = Book("Emma", tags: Set(names.map { Tag($0) }))
        try store.save(&book)
        #expect(try store.graph.objects(of: "Tag").map { try store.graph[$0, "name"].text } == names)
        #expect(book.tags.allSatisfy { $0.ref != nil })
        // Records that were saved before come first.
        book.tags.formUnion([Tag("a"), Tag("b")])
        try store.save(&book)
        #expect(try store.graph.objects(of: "Tag").map { try store.graph[$0, "name"].text } == names + ["a", "b"])
    }

    @Test func `new records without an identity are inserted in the order of their attributes`() throws {
        let store = try Store.inMemory(schema: Schema(of: Branch.self))
        let leaves = [Leaf(nil, 7), Leaf(nil, 9), Leaf("green", -3), Leaf("green", 2), Leaf("green", 10), Leaf("red", 1)]
        var branch = Branch(Set(leaves))
        try store.save(&branch)
        let saved: [Leaf] = try store.graph.load(Array(store.graph.objects(of: "Leaf")))
        #expect(saved.map(\.color) == leaves.map(\.color) && saved.map(\.size) == leaves.map(\.size))
        var edit = store.edit()
        var other = Branch(Set(leaves))
        try edit.save(&other)
        let committed = try store.commit(&edit)
        #expect(try store.graph.load(committed.ref(of: try #require(other.ref))).leaves.count == 6)
        #expect(try store.graph.objects(of: "Leaf").dropFirst(6).map { try store.graph[$0, "size"] } == [7, 9, -3, 2, 10, 1])
    }

    @Test func `two equal members of a set are an error, because a save would unlink one of them`() throws {
        struct Label: BlankRecord, Hashable {
            var text = ""
            var ref: Ref<Label>?
            static let recordSchema = RecordSchema<Label>("Label") { RecordProperty("text", \.text) }
            static func == (left: Label, right: Label) -> Bool { left.text == right.text }
            func hash(into hasher: inout Hasher) { hasher.combine(text) }
        }
        struct Jar: BlankRecord {
            var labels: Set<Label> = []
            var ref: Ref<Jar>?
            static let recordSchema = RecordSchema<Jar>("Jar") { RecordProperty("labels", \.labels) }
        }
        let store = try Store.inMemory(schema: Schema(of: Jar.self))
        let (jar, labels) = try store.write { transaction in
            let labels = try ["salt", "rice"].map { try transaction.insert("Label", ["text": .string($0)]) }
            return (try transaction.insert("Jar", links: ["labels": labels]), labels)
        }.result
        #expect(try store.graph.load(Jar.self, jar).labels.count == 2)
        try store.write { try $0.set(labels[0], "text", to: "rice") }
        let error = try #require(throws: CambiumError.self) { try store.graph.load(Jar.self, jar) }
        #expect(error.code == .unexpectedValue)
        #expect(error.message.contains("Jar/1.labels"))
    }

    /// A note as a record that ignores the order of its memos.
    private struct Jotter: BlankRecord {
        var id = 0
        var memos: Set<Ref<Slip>> = []
        var ref: Ref<Jotter>?
        static let recordSchema = RecordSchema<Jotter>("Note") {
            RecordProperty("id", \.id, .identity)
            RecordProperty("memos", \.memos)
        }
    }

    private struct Slip: BlankRecord {
        var text: String?
        var ref: Ref<Slip>?
        static let recordSchema = RecordSchema<Slip>("Memo") { RecordProperty("text", \.text) }
    }

    @Test(arguments: [false, true])
    func `a set keeps the order of an ordered relationship, and new members follow`(usesEdit: Bool) throws {
        let store = try Store.inMemory(schema: Notes.schema)
        let (note, memos) = try store.write { transaction in
            let memos = try (0..<4).map { _ in try transaction.insert("Memo") }
            return (try transaction.insert("Note", ["id": 1], links: ["memos": [memos[2], memos[0], memos[3]]]), memos)
        }.result
        var jotter = try store.graph.load(Jotter.self, note)
        let unchanged = try store.save(&jotter)
        #expect(!unchanged.hasChanges)
        jotter.memos = try Set([memos[1], memos[2], memos[3]].map { try #require(try store.graph.load(Slip.self, $0).ref) })
        if usesEdit {
            var edit = store.edit()
            try edit.save(&jotter)
            try store.commit(&edit)
        } else {
            try store.save(&jotter)
        }
        #expect(try store.graph.members("memos", of: note) == [memos[2], memos[3], memos[1]])
    }
}
