import Cambium
import TestFixtures
import Testing

/// Rows inside of envelopes, and mistakes in inputs of several lines.
@Suite struct EnvelopeTests {
    private func store() throws -> Store {
        try Store.inMemory(
            schema: Schema {
                EntityDefinition("Order", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    AttributeDefinition("note", .string, .optional)
                    RelationshipDefinition("parts", to: "Order", .toMany)
                }
            })
    }

    @Test(arguments: [
        ("/data", #"{"n":2,"data":[{"id":1},{"id":2}]}{"data":[{"id":3}]}"#),
        ("/items/*", #"{"items":{"a":{"id":1},"b":[{"id":2},{"id":3}]}}"#),
        ("/*", #"[[{"id":1},{"id":2}],[{"id":3}]]"#), ("", #"[{"id":1},{"id":2}][{"id":3}]"#),
    ]) func `all rows of all documents are imported`(rows: String, text: String) throws {
        let store = try store()
        let pointer = try RowPointer(rows)
        let report = try store.importing("Order", text) { $0.rows = pointer }
        #expect(report.rowCount == 3 && report.counts.inserted == 3 && store.graph.objectCount == 3)
    }

    @Test(arguments: [
        (#"{"total":2,"items":[{"id":1}]}"#, "--rows /items,"), (#"{"r":{"a~b":[{"id":1}]}}"#, "--rows /r/a~0b,"),
        (#"[[{"id":1}]]"#, "--rows '/*'"),
    ]) func `an envelope without the option is named with the option`(text: String, remedy: String) throws {
        let error = try #require(try store().refusal("Order", text))
        #expect(error.message.contains(remedy), "\(error.message)")
    }

    @Test func `a pointer for CSV and a pointer to nothing are refused`() throws {
        let store = try store()
        var options = ImportOptions()
        options.rows = try RowPointer("/data")
        let csv = ImportSource.bytes(Array("id\n1".utf8), format: .csv)
        #expect(throws: CambiumError.self) { try store.importRows(try store.schema.required("Order"), from: [csv], options) }
        let error = try #require(store.refusal("Order", #"{"items":[{"id":1}]}"#) { $0.rows = options.rows })
        #expect(error.message.contains("/data, leads to nothing in the object; its keys are 'items'"), "\(error.message)")
    }

    @Test(arguments: [(",\n  \"note\": \"b\",", "\"note\" twice"), ("", "before \"parts\"")])
    func `a mistake in the first document of several lines is one bad row`(end: String, message: String) throws {
        let store = try store()
        let text = "{\n  \"id\": 1,\n  \"note\": \"a\"\(end)\n  \"parts\": [\n    {\"id\": 7},\n    {\"id\": 8}\n  ]\n}\n{\n\"id\":9}"
        let report = try store.importing("Order", text) { $0.onError = .skip }
        #expect(report.errors.map(\.line) == [4] && report.errors[0].message.contains(message), "\(report.errors)")
        #expect(report.rowCount == 2 && store.graph.objectCount == 1)
    }
}
