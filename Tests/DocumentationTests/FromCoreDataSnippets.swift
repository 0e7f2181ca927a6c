import Cambium
import CambiumCoreData
import Foundation
import Testing

/// The code of Docs/Guides/FromCoreData.md, word for word.
@Suite struct FromCoreDataSnippets {
    private static func model(_ attributes: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Note">
                <attribute name="id" attributeType="Integer 64"/>
                <attribute name="title" optional="YES" attributeType="String"/>
                \(attributes)
                <relationship name="items" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Item"
                    inverseName="note" inverseEntity="Item"/>
                <uniquenessConstraints><uniquenessConstraint><constraint value="id"/></uniquenessConstraint></uniquenessConstraints>
            </entity>
            <entity name="Item">
                <attribute name="name" optional="YES" attributeType="String"/>
                <attribute name="weight" optional="YES" attributeType="Double"/>
                <relationship name="note" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Note"
                    inverseName="items" inverseEntity="Note"/>
            </entity>
        </model>
        """
    }

    struct Note: EntityRecord {
        var id: Int
        var title: String?
        var items: Set<Item> = []
        var ref: Ref<Note>?

        static let recordSchema = RecordSchema<Note>("Note") {
            RecordProperty("id", \.id, .identity)
            RecordProperty("title", \.title)
            RecordProperty("items", \.items, .inverse(\Item.note), .onDelete(.cascade))
        }
        init(id: Int, title: String?, items: Set<Item> = []) { (self.id, self.title, self.items) = (id, title, items) }
        init(from row: inout RecordReader) throws {
            id = try row.read("id")
            title = try row.read("title")
            items = try row.read("items")
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write("id", &id)
            try row.write("title", &title)
            try row.write("items", &items)
        }
    }

    struct Item: EntityRecord, Hashable {
        var name: String?
        var weight: Double?
        var note: Ref<Note>?
        var ref: Ref<Item>?

        static let recordSchema = RecordSchema<Item>("Item") {
            RecordProperty("name", \.name)
            RecordProperty("weight", \.weight)
            RecordProperty("note", \.note)
        }
        init(_ name: String, weight: Double? = nil) { (self.name, self.weight) = (name, weight) }
        init(from row: inout RecordReader) throws {
            name = try row.read("name")
            weight = try row.read("weight")
            note = try row.read("note")
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write("name", &name)
            try row.write("weight", &weight)
            try row.write("note", &note)
        }
    }

    private func prepare(_ folder: String) throws {
        let created = #"<attribute name="created" optional="YES" attributeType="Date" usesScalarValueType="NO"/>"#
        let text = #"<attribute name="text" optional="YES" attributeType="String"/>"#
        for (name, attributes) in [("Notes", created), ("Next", created + text)] {
            let model = URL(filePath: folder).appending(path: "\(name).xcdatamodeld/\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
            try Self.model(attributes).write(to: model.appending(path: "contents"), atomically: true, encoding: .utf8)
        }
        let rows = #"[{"id": 2, "title": "Rome", "created": 86400.5}]"#
        try rows.write(toFile: "\(folder)/notes.json", atomically: true, encoding: .utf8)
    }

    private func open(_ folder: String) throws -> Store {
        let definition = try SchemaDefinition(coreDataModel: "\(folder)/Notes.xcdatamodeld")
        for warning in definition.warnings { print(warning) }
        let store = try Store.open(at: "\(folder)/notes.store", creating: Schema(definition))
        return store
    }

    private func save(_ store: Store) async throws -> Note {
        var paris = Note(id: 1, title: "Paris", items: [Item("tickets")])
        try store.save(&paris, Author(actor: "jane"))
        paris.title = "Paris in May"
        paris = try await store.save(paris, Author(actor: "jane"))
        return paris
    }

    private func insert(_ store: Store) async throws -> ObjectID {
        let note = try await store.write(Author(actor: "jane")) { transaction in
            var rome = Note(id: 2, title: "Rome")
            try transaction.save(&rome)
            let note = try transaction.insert("Note", ["id": 3, "title": "Oslo"])
            try transaction.insert("Item", ["name": "coat"], links: ["note": [note]])
            return note
        }.result
        return note
    }

    private func read(_ store: Store) throws -> [Note] {
        let graph = store.graph
        let query = RecordQuery<Note> { $0.title.hasPrefix("Par") && $0.items.count > 0 }.sorted(by: \.title).limited(to: 20)
        let notes = try graph.fetch(query)
        let names = notes.first?.items.map(\.name)
        let one = try graph.find(Note.self, identity: 1)
        let text = try Query("Note", where: "title beginswith $start and items.@count > 0", ["start": "Par"], sort: "title", limit: 20)
        for id in try graph.find(text) { print(try graph[id, "title"].text, try graph.members("items", of: id).count) }
        #expect(names == ["tickets"])
        #expect(one?.ref == notes.first?.ref)
        #expect(try graph.find(text) == notes.compactMap(\.ref?.id))
        return notes
    }

    private func ask(_ graph: Graph) throws -> (Int, Value) {
        let count = try graph.count(RecordQuery<Note> { $0.title != nil })
        let last = try graph.max(\Note.id)
        let lengths = try graph.counts(RecordQuery<Item>()) { $0.note.title }
        for case (.value(let title), let count) in lengths { print(title.text, count) }
        let titles = try graph.column(\Note.title)
        for place in try graph.places(of: Note.self) { print(titles[place] ?? "-") }
        return (count, last)
    }

    private func delete(_ store: Store, _ paris: inout Note, _ note: ObjectID) async throws {
        try store.delete(&paris, Author(actor: "jane", message: "the trip is over"))
        try await store.write(Author(actor: "jane")) { try $0.delete(note) }
    }

    private func follow(_ store: Store, until isDone: (RecordUpdate<Note>) throws -> Bool) async throws {
        for try await update in store.live(RecordQuery<Note> { $0.id > 0 }.sorted(by: \.title)) {
            print(try update.records().map { $0.title ?? "-" })
            for row in try update.inserted() { print("new at \(row.index):", row.record.id) }
            print(update.update.deleted.count, update.update.moved.count)
            if try isDone(update) { break }
        }
    }

    private func observe(_ store: Store, _ graph: Graph) throws -> Changes {
        let changes = store.graph.changes(since: graph)
        for object in changes { print(object.kind, object.entity.name, object.attributes.map(\.attribute.name)) }
        print(try changes.records(of: Note.self).changed.map { "\($0.before.title ?? "-") -> \($0.after.title ?? "-")" })
        return changes
    }

    private func edit(_ store: Store, _ note: ObjectID) throws {
        var edit = store.edit()
        try edit.set(note, "title", to: "Bergen")
        try edit.set(note, "title", to: "Rome")
        edit.undo()
        for conflict in edit.conflicts(with: store.graph) { print(conflict) }
        let committed = try store.commit(&edit, policy: .mine, author: Author(actor: "form"))
        print(committed.receipt.hasChanges)
    }

    private func bring(_ store: Store, _ folder: String) async throws -> ImportReport {
        var options = ImportOptions()
        options.mapping = ImportMapping(entity: "Note", attributes: ["created": PropertyMapping(.name, dates: [.secondsSince2001])])
        let notes = try store.schema.required("Note")
        let report = try await store.importRows(notes, from: [.file("\(folder)/notes.json")], options, author: Author(actor: "move"))
        for error in report.errors { print(error.row, error.pointer, error.message) }
        return report
    }

    private func migrate(_ store: Store, _ folder: String) throws {
        let next = try SchemaDefinition(coreDataModel: "\(folder)/Next.xcdatamodeld")
        for entry in try store.previewMigration(to: next).entries { print(entry.handling, entry.objectCount, entry.lostCount) }
        try store.migrate(to: next, Author(actor: "deploy"))
    }

    @Test func `a model becomes a store that is written, read, filled and migrated as the guide shows`() async throws {
        try await withFolder { folder in
            try prepare(folder)
            let store = try open(folder)
            var paris = try await save(store)
            let note = try await insert(store)
            #expect(try read(store).map(\.title) == ["Paris in May"])
            #expect(try ask(store.graph) == (3, 3))
            let before = store.graph
            try edit(store, note)
            #expect(try store.graph[note, "title"] == "Bergen")
            try await delete(store, &paris, note)
            #expect(try observe(store, before).count == 4)
            #expect(store.graph.objectCount == 1)
            #expect(try await bring(store, folder).counts.updated == 1)
            let rome = try #require(try store.graph.find("Note", identity: [2]))
            #expect(try store.graph[rome, "created"] == .date(Date(timeIntervalSinceReferenceDate: 86400.5)))
            try migrate(store, folder)
            #expect(try store.graph[rome, "text"] == .null)
            try store.close()
        }
    }

    @Test func `a live query delivers the result and then its differences`() async throws {
        let store = try Store.inMemory(schema: Schema(of: Note.self))
        var note = Note(id: 1, title: "Paris")
        try store.save(&note)
        var titles: [[String?]] = []
        try await follow(store) { update in
            titles.append(try update.records().map(\.title))
            var other = Note(id: 2, title: "Oslo")
            try store.save(&other)
            return titles.count == 2
        }
        #expect(titles == [["Paris"], ["Oslo", "Paris"]])
    }

    /// A condition as a text, with its arguments, and the same condition as a closure.
    struct Pair: Sendable {
        let text: String
        let arguments: [String: Operand]
        let condition: @Sendable (RecordFields<Note>) -> Condition

        init(_ text: String, _ arguments: [String: Operand] = [:], _ condition: @escaping @Sendable (RecordFields<Note>) -> Condition) {
            (self.text, self.arguments, self.condition) = (text, arguments, condition)
        }
    }

    @Test(arguments: [
        Pair("title beginswith[cd] $start", ["start": "PÁ"]) { $0.title.hasPrefix("PÁ", [.caseInsensitive, .diacriticInsensitive]) },
        Pair("title == null") { $0.title == nil },
        Pair("id in $ids", ["ids": [1, 9]]) { $0.id.isIn([1, 9]) },
        Pair("id between {1, 2}") { $0.id.isBetween(1, and: 2) },
        Pair("title like \"P*\"") { $0.title.isLike("P*") },
        Pair("any items.name == \"x\"") { $0.items.any { $0.name == "x" } },
        Pair("any items where (name == \"x\" and weight > 3)") { $0.items.any { $0.name == "x" && $0.weight > 3 } },
        Pair("items.@sum.weight > 3") { $0.items.sum(\.weight) > 3 },
    ])
    func `both forms of each condition in the table find the same notes`(pair: Pair) throws {
        let store = try Store.inMemory(schema: Schema(of: Note.self))
        var notes = [
            Note(id: 1, title: "Paris", items: [Item("x", weight: 5)]), Note(id: 2, title: "Rome", items: [Item("x")]),
            Note(id: 3, title: nil, items: [Item("y", weight: 2), Item("y", weight: 2.5)]),
        ]
        try store.save(&notes)
        let found = try store.graph.find(Query("Note", where: pair.text, pair.arguments))
        #expect(try store.graph.fetch(Note.self, where: pair.condition).compactMap(\.ref?.id) == found)
        #expect((1...2).contains(found.count))
    }
}
