import Cambium
import Testing

/// The code of README.md, word for word.
@Suite struct READMESnippets {
    private func example(_ path: String) throws {
        let store = try Store.open(at: path)
        let note = try store.graph.find("Note", identity: [2]) ?? store.write { try $0.insert("Note", ["id": 2, "title": "Paris"]) }.result
        print(try store.graph[note, "title"].text, try store.graph.members("items", of: note).count)
        try store.close()
    }

    @Test func `the objects of the README are used by names`() async throws {
        try await withFolder { folder in
            let path = "\(folder)/notes"
            let schema = try Schema {
                EntityDefinition("Note", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    AttributeDefinition("title", .string, default: "")
                    RelationshipDefinition("items", to: "Item", .toMany, inverse: "note", onDelete: .cascade)
                }
                EntityDefinition("Item") { RelationshipDefinition("note", to: "Note", inverse: "items") }
            }
            try Store.create(at: path, schema: schema).close()
            try example(path)
            try example(path)
            #expect(try ReadOnlyStore(at: path).graph.objectCount == 1)
        }
    }

    @Test func `the schema of the document about schemas is valid`() throws {
        let document = try #require(try Document.references().first { $0.name == "SCHEMA" })
        let block = try #require(document.blocks.first { $0.kind == "json" })
        let schema = try Schema(try SchemaDefinition(json: Array(block.code.utf8)))
        #expect(schema.entities.map(\.name) == ["Note", "Item"])
    }
}
