import Cambium
import Foundation
import Testing

@Suite struct ReadmeTests {
    /// Runs the example of the README, word for word.
    private func example(_ path: String) throws {
        let definition = SchemaDefinition {
            EntityDefinition("Note", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                AttributeDefinition("title", .string, default: .string(""))
                RelationshipDefinition("items", to: "Item", .toMany, inverse: "note", onDelete: .cascade)
            }
            EntityDefinition("Item") {
                AttributeDefinition("name", .string, .optional)
                RelationshipDefinition("note", to: "Note", inverse: "items")
            }
        }
        let schema = try Schema(definition)
        let store = try Store.create(at: path, schema: schema)
        try store.write(Author(actor: "jane", message: "first note")) { transaction in
            let note = try transaction.insert("Note", ["id": .int(1), "title": .string("Paris")])
            try transaction.link(transaction.insert("Item", ["name": .string("tickets")]), "note", note)
        }
        let graph = store.graph  // a value: it never changes, and to read it never waits
        let note = try graph.schema.required("Note")
        print(graph.count(of: note), graph.find(note, identity: [.int(1)]) != nil)
        try store.close()

        let titles = graph.column(try note.requiredAttribute("title"))
        let items = graph.relation(try note.requiredRelationship("items"))
        for id in graph.objects(of: note) {
            let place = graph.place(of: id)!
            print(titles.string(at: place) ?? "", items.count(of: place))
        }
    }

    private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test func `the examples of the README are compiled here`() throws {
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        func trimmed(_ text: some StringProtocol) -> String {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
        }
        let parts = readme.split(separator: "```swift\n").dropFirst()
        #expect(parts.count == 2)
        for part in parts {
            let block = try #require(part.split(separator: "```").first)
            let example = trimmed(block.replacing("import Cambium\n", with: ""))
            #expect(example.count > 200 && trimmed(source).contains(example), "\(example)")
        }
    }

    @Test func `the example of the README runs`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }  // The operating system removes leftovers.
        try example(directory.path)
        let graph = try ReadOnlyStore(at: directory.path).graph
        #expect(graph.objectCount == 2 && graph.linkCount == 1)
    }

    @Test func `the schema of the README is valid`() throws {
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let block = try #require(readme.split(separator: "```json\n").dropFirst().first?.split(separator: "```").first)
        let schema = try Schema(try SchemaDefinition(json: Array(block.utf8)))
        #expect(schema.entities.map(\.name) == ["Note", "Item"])
    }
}
