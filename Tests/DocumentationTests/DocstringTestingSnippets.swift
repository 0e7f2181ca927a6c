import Cambium
import CambiumTesting
import Testing

/// The examples of the docstrings of `CambiumTesting`, word for word. The code is compiled only.
enum DocstringTestingSnippets {
    static func summarize(_ store: Store, since before: Graph) {
        #expect(store.graph.changes(since: before).summary == ["+ Note/3", "~ Note/1.title: Paris -> Rome", "- Item/2"])
    }

    static func load() throws -> Store {
        let store = try Store.testing(Schema(of: Note.self), fixtures: #"{"Note": [{"id": 1, "title": "Paris"}]}"#)
        return store
    }

    static func fix(_ schema: Schema) throws -> Store {
        let store = try Store.inMemory(schema: schema, environment: .fixed())
        return store
    }

    static func fail(_ schema: Schema) throws -> Store {
        let disk = TestDisk()
        let store = try disk.create(schema: schema)
        disk.fail(after: 3)
        #expect(throws: CambiumError.self) { for _ in 0..<9 { try store.write { _ = try $0.insert("Note") } } }
        let again = try disk.afterPowerFailure(seed: 1).open()
        return again
    }
}
