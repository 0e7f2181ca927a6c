import Cambium
import Foundation
import Testing

@Suite struct ReadmeTests {
    /// Runs the example of the README, word for word.
    private func example(_ path: String) throws {
        let schema = try Schema {
            EntityDefinition("Note", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                AttributeDefinition("title", .string, default: "")
                RelationshipDefinition("items", to: "Item", .toMany, inverse: "note", onDelete: .cascade)
            }
            EntityDefinition("Item") {
                AttributeDefinition("name", .string, .optional)
                RelationshipDefinition("note", to: "Note", inverse: "items")
            }
        }
        let store = try Store.open(at: path, creating: schema)
        if try store.graph.find("Note", identity: [1]) == nil {
            try store.write(Author(actor: "jane", message: "first note")) { transaction in
                let note = try transaction.insert("Note", ["id": 1, "title": "Paris"])
                try transaction.insert("Item", ["name": "tickets"], links: ["note": [note]])
            }
        }
        let graph = store.graph  // a value: it never changes, and to read it never waits
        for id in try graph.objects(of: "Note") {
            print(try graph[id, "title"].text, try graph.members("items", of: id).count)
        }
        try store.close()

        let note = try graph.schema.required("Note")
        let titles = graph.column(try note.requiredAttribute("title"))
        let items = graph.relation(try note.requiredRelationship("items"))
        for place in graph.places(of: note) {
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
        for _ in 1...2 { try example(directory.path) }
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
