import Cambium
import Testing

/// The code of Docs/Guides/FromVokoder.md, word for word.
@Suite struct FromVokoderSnippets {
    private let rows = """
        [{"num": 1, "name": {"first": "Ana"}, "dob": "31 Jan 69 12:00"}, {"num": 2, "name": {"first": "Bo"}},
        {"num": 1, "dob": "1970-01-02"}]
        """

    private func run() async throws -> (graph: Graph, reports: [ImportReport], output: String) {
        let schema = try Schema {
            EntityDefinition("Person", identity: ["personId"]) {
                AttributeDefinition("personId", .int64)
                AttributeDefinition("firstName", .string, .optional)
                AttributeDefinition("born", .date, .optional)
                AttributeDefinition("source", .string, .optional)
            }
        }
        let mapping = ImportMapping(
            entity: "Person",
            attributes: [
                "personId": "num",
                "firstName": "name.first",
                "born": PropertyMapping(from: "dob", dates: [.pattern("dd MMM yy HH:mm"), .iso8601]),
            ])
        let store = try Store.inMemory(schema: schema)
        var options = ImportOptions.clearingUnusableValues
        options.mapping = mapping
        options.rowObjects = .report
        let people = try store.schema.required("Person")
        let report = try await store.importRows(people, from: [.bytes(Array(rows.utf8))], options, author: Author(actor: "feed"))
        print(report.counts, report.rowObjects.count)
        let hooks = ImportHooks(finish: { transaction, person, row in try transaction.set(person, "source", to: "feed") })
        let hooked = try await store.importRows(people, from: [.bytes(Array(rows.utf8))], options, hooks: hooks)
        print(hooked.counts)
        var exportOptions = ExportOptions()
        exportOptions.mapping = mapping
        exportOptions.nulls = .omit
        exportOptions.keyPaths = .nested
        var output: [UInt8] = []
        try store.graph.export(people, exportOptions) { bytes in output += bytes }
        print(String(decoding: output, as: UTF8.self))
        return (store.graph, [report], String(decoding: output, as: UTF8.self))
    }

    @Test func `rows are imported and exported by the mapping as the guide shows`() async throws {
        let (graph, reports, output) = try await run()
        #expect(reports[0].counts.inserted == 2)
        #expect(reports[0].rowObjects.count == 3)
        let ana = try #require(try graph.find("Person", identity: [1]))
        // The third row has no name, which clears it, as in Vokoder.
        #expect(try graph[ana, "firstName"] == .null)
        #expect(try graph[ana, "source"] == "feed")
        #expect(output.contains(#""name":{"first":"Bo"}"#))
    }
}
