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
                <relationship name="note" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Note"
                    inverseName="items" inverseEntity="Note"/>
            </entity>
        </model>
        """
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

    private func insert(_ store: Store) async throws -> ObjectID {
        let note = try await store.write(Author(actor: "jane")) { transaction in
            let note = try transaction.insert("Note", ["id": 1, "title": "Paris"])
            try transaction.insert("Item", ["name": "tickets"], links: ["note": [note]])
            return note
        }.result
        return note
    }

    private func read(_ store: Store) throws -> Int {
        let graph = store.graph
        if let note = try graph.find("Note", identity: [1]) {
            let names = try graph.members("items", of: note).map { try graph[$0, "name"].text }
            print(try graph[note, "title"].text, names)
        }
        let entity = try graph.schema.required("Note")
        let titles = graph.column(try entity.requiredAttribute("title"))
        let found = graph.places(of: entity).filter { titles.string(at: $0)?.hasPrefix("Par") == true }
        print(found.map { titles.string(at: $0) ?? "" }.sorted())
        return found.count
    }

    private func delete(_ store: Store, _ note: ObjectID) async throws {
        try await store.write(Author(actor: "jane", message: "the trip is over")) { try $0.delete(note) }
    }

    private func observe(_ store: Store, _ graph: Graph) {
        for object in store.graph.changes(since: graph) {
            print(object.kind, object.entity.name, object.attributes.map(\.attribute.name))
        }
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
            let note = try await insert(store)
            #expect(try read(store) == 1)
            let before = store.graph
            try await delete(store, note)
            observe(store, before)
            #expect(store.graph.objectCount == 0)
            #expect(try await bring(store, folder).counts.inserted == 1)
            let rome = try #require(try store.graph.find("Note", identity: [2]))
            #expect(try store.graph[rome, "created"] == .date(Date(timeIntervalSinceReferenceDate: 86400.5)))
            try migrate(store, folder)
            #expect(try store.graph[rome, "text"] == .null)
            try store.close()
        }
    }
}
