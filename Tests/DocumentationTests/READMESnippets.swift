import Cambium
import Testing

/// The code of README.md, word for word.
@Suite struct READMESnippets {
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
    }

    @Test func `the example of the README runs again and again`() async throws {
        try await withFolder { folder in
            let path = "\(folder)/notes"
            for _ in 1...2 { try example(path) }
            let graph = try ReadOnlyStore(at: path).graph
            #expect(graph.objectCount == 2 && graph.linkCount == 1)
        }
    }

    @Test func `the schema of the README is valid`() throws {
        let readme = try #require(try Document.all().first { $0.name == "README" })
        let block = try #require(readme.blocks.first { $0.kind == "json" })
        let schema = try Schema(try SchemaDefinition(json: Array(block.code.utf8)))
        #expect(schema.entities.map(\.name) == ["Note", "Item"])
    }
}
