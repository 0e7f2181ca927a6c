// swift-format-ignore-file: ReplaceForEachWithForLoop

// The log and the map of a clone are not sequences, so a loop cannot replace `forEach`.
import Cambium
import Foundation
import Testing

/// The code of Sources/Cambium/Cambium.docc/GettingStarted.md, word for word.
@Suite struct GettingStartedSnippets {
    private func place() -> String {
        let path = "notes.store"  // The folder of the store; it need not exist.
        return path
    }

    private func program(_ path: String) async throws -> ImportReport {
        let schema = try Schema {
            EntityDefinition("Note", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                AttributeDefinition("title", .string, default: "", maxLength: 200)
                AttributeDefinition("priority", .int32, default: 3, min: 0, max: 9)
                RelationshipDefinition("items", to: "Item", .orderedToMany, inverse: "note", onDelete: .cascade)
            }
            EntityDefinition("Item") {
                AttributeDefinition("name", .string)
                RelationshipDefinition("note", to: "Note", inverse: "items")
            }
        }
        let store = try Store.open(at: path, creating: schema)
        let rows = #"[{"id": 1, "title": "Paris"}, {"id": 2, "title": "Rome", "priority": 5}]"#
        let report = try await store.importRows(
            store.schema.required("Note"), from: [.bytes(Array(rows.utf8))], author: Author(actor: "jane"))
        print(report.counts.inserted, report.counts.updated, report.counts.unchanged)
        let graph = store.graph
        guard let paris = try graph.find("Note", identity: [1]) else { preconditionFailure("The import has inserted the note 1.") }
        print(try graph[paris, "title"].text)
        for note in try graph.objects(of: "Note") {
            guard case .int(let priority) = try graph[note, "priority"] else { continue }
            print(graph.name(of: note) ?? "", priority)
        }
        let text = graph.name(of: paris) ?? ""
        let found = try graph.first(Query("Note", where: "self == $id", ["id": .value(.string(text))]))
        print(found == paris)
        let entity = try graph.schema.required("Note")
        let titles = graph.column(try entity.requiredAttribute("title"))
        let items = graph.relation(try entity.requiredRelationship("items"))
        for place in graph.places(of: entity) {
            print(titles.string(at: place) ?? "", items.count(of: place))
        }
        if try graph.members("items", of: paris).isEmpty {
            let (item, receipt) = try await store.write(Author(actor: "jane", message: "what to pack")) { transaction in
                try transaction.set(paris, "priority", to: 1)
                return try transaction.insert("Item", ["name": "tickets"], links: ["note": [paris]])
            }
            print(receipt.graph.name(of: item) ?? "", receipt.logByteCount)
        }
        var exportOptions = ExportOptions()
        exportOptions.references = .identity
        var output: [UInt8] = []
        try store.graph.export(store.schema.required("Note"), exportOptions) { bytes in output += bytes }
        print(String(decoding: output, as: UTF8.self))
        if try store.graph.find("Note", identity: [100]) == nil {
            let request = CloneRequest(rootValues: ["id": 100, "title": "Paris again"])
            let (clone, _) = try await store.write(Author(actor: "jane")) { try $0.clone(paris, request) }
            print(clone.root, clone.summary.objectCount)
        }
        try store.label("draft", existing: .move)
        try await store.write(Author(actor: "joe", message: "spelling")) { try $0.set(paris, "title", to: "Paris!") }
        let draft = try store.graph(at: .label("draft"))
        for object in store.graph.changes(since: draft) {
            for change in object.attributes { print(change.attribute.name, change.before.text, change.after.text) }
        }
        try TransactionLog(of: path).forEach { entry in
            print(entry.number, entry.time, entry.author.actor ?? "-", entry.author.message ?? "")
        }
        for try await committed in store.changes(from: draft.transaction) {
            print(committed.transaction, committed.author?.actor ?? "-", committed.changes.count)
            if committed.transaction >= store.graph.transaction { break }
        }
        let follower = try StoreFollower(of: path)
        for try await newer in follower.graphs() {
            print(newer.transaction, newer.objectCount)
            if newer.transaction >= store.graph.transaction { break }
        }
        try store.close()
        let scratch = try Store.inMemory(schema: schema)
        try await scratch.write { try $0.insert("Note", ["id": 7]) }
        print(try scratch.graph.count(of: "Note"))
        return report
    }

    @Test func `the program of the page runs, and a second run inserts and clones nothing`() async throws {
        try await withFolder { folder in
            let path = "\(folder)/\(place())"
            let first = try await program(path)
            #expect(first.counts.inserted == 2)
            let objectCount = try ReadOnlyStore(at: path).graph.objectCount
            #expect(objectCount == 5)
            let second = try await program(path)
            #expect(second.counts.inserted == 0)
            #expect(second.counts.updated == 1)
            #expect(second.counts.unchanged == 1)
            #expect(try ReadOnlyStore(at: path).graph.objectCount == objectCount)
        }
    }

    @Test func `each definition in the table of the page is part of a valid schema`() throws {
        let definitions: [any PropertyDefinition] = [
            AttributeDefinition("due", .date),
            AttributeDefinition("due", .date, .optional),
            AttributeDefinition("code", .string, .optional, minLength: 2, regex: "[a-z]+"),
            AttributeDefinition("state", .string, default: "new", allowed: ["new", "paid"]),
            RelationshipDefinition("tags", to: "Tag", .toMany),
        ]
        for definition in definitions {
            let schema = try Schema {
                EntityDefinition("Note") { definition }
                EntityDefinition("Tag") { AttributeDefinition("name", .string) }
            }
            #expect(schema.entities.count == 2)
        }
        let items = [
            RelationshipDefinition("items", to: "Item", .orderedToMany, inverse: "note", min: 1, max: 9),
            RelationshipDefinition("items", to: "Item", .toMany, inverse: "note", onDelete: .deny),
        ]
        let notes = [
            RelationshipDefinition("note", to: "Note", inverse: "items"),
            RelationshipDefinition("note", to: "Note", inverse: "items", min: 1),
        ]
        for (item, note) in zip(items, notes) {
            let schema = try Schema {
                EntityDefinition("Note") {
                    AttributeDefinition("itemCount", .int64, derived: .count("items"))
                    item
                }
                EntityDefinition("Item") { note }
            }
            #expect(schema.entities.count == 2)
        }
    }

    @Test(
        arguments: [
            (AttributeType.bool, true), (.int16, 3), (.int32, 3), (.int64, 3), (.double, 4.0), (.float, .float(1.5)),
            (.decimal, .decimal(DecimalNumber(4))), (.string, "Paris"), (.date, .date(Date.now)), (.uuid, .uuid(UUID())),
            (.uri, .uri("https://a.org")), (.json, .json("[1]")), (.data, .data([1, 2])), (.string, .null),
        ] as [(AttributeType, Value)])
    func `each value in the table of the page has the type of its attribute`(type: AttributeType, value: Value) throws {
        let schema = try Schema { EntityDefinition("Thing") { AttributeDefinition("value", type, .optional) } }
        let store = try Store.inMemory(schema: schema)
        let thing = try store.write { try $0.insert("Thing", ["value": value]) }.result
        #expect(try store.graph[thing, "value"] == value)
    }
}
