// swift-format-ignore-file: ReplaceForEachWithForLoop

// The log and the map of a clone are not sequences, so a loop cannot replace `forEach`.
import Cambium
import Testing

/// The Swift code of Docs/Guides/FromMOCloner.md, word for word. `GuideTests` runs its commands.
@Suite struct FromMOClonerSnippets {
    private func clone(_ store: Store, _ note: ObjectID) throws -> Clone {
        let request = CloneRequest(excluding: ["memos", "Item.toManyTags"], rootValues: ["name": "Lyon"])
        let (clone, receipt) = try store.write(Author(actor: "jane")) { try $0.clone(note, request) }
        for (entity, count) in clone.summary.counts { print(entity.name, count) }
        clone.forEachCopy { original, copy in print(original, copy) }
        print(try receipt.graph[clone.root, "name"].text, receipt.logByteCount)
        return clone
    }

    /// The schema and the note of the guide.
    private func makeStore() throws -> Store {
        let guide = try #require(try Document.all().first { $0.name == "FromMOCloner" })
        let files = guide.blocks.filter { $0.kind == "json" }.map { Array($0.code.utf8) }
        try #require(files.count == 2)
        let store = try Store.inMemory(schema: try Schema(try SchemaDefinition(json: files[0])))
        let report = try store.importRows(try store.schema.required("Note"), from: [.bytes(files[1])])
        try #require(report.counts.inserted == 1)
        return store
    }

    @Test func `a clone leaves out what the request excludes`() throws {
        let store = try makeStore()
        let note = try #require(try store.graph.objects(of: "Note").first)
        let clone = try clone(store, note)
        #expect(clone.summary.counts.map { "\($0.entity.name) \($0.count)" } == ["Note 1", "Item 2", "NoteDescription 1"])
        #expect(try store.graph[clone.root, "name"] == "Lyon")
        #expect(try store.graph.members("memos", of: clone.root).isEmpty)
        #expect(try store.graph.members("items", of: clone.root).count == 2)
    }
}
