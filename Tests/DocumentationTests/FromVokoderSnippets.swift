import Cambium
import Foundation
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
                "born": PropertyMapping(.path("dob"), dates: [.pattern("dd MMM yy HH:mm"), .iso8601]),
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

    private func find(_ store: Store) async throws -> ([ObjectID], ObjectID?, Int) {
        let graph = store.graph
        let some = try graph.find(Query("Person", where: "firstName beginswith $start", ["start": "A"], sort: "-born"))
        let only = try graph.only(Query("Person", where: "firstName == \"Bo\""))
        let count = try graph.count(Query("Person", where: "born != null"))
        var edit = store.edit()
        for person in some { try edit.set(person, "source", to: "form") }
        try store.commit(&edit, policy: .error, author: Author(actor: "form"))
        let old = try graph.find(Query("Person", where: "born < \"1970-01-01T00:00:00Z\""))
        try await store.write(Author(actor: "jane")) { try $0.delete(old) }
        return (some, only, count)
    }

    @Test func `people are found, edited and deleted as the guide shows`() async throws {
        let schema = try Schema {
            EntityDefinition("Person", identity: ["personId"]) {
                AttributeDefinition("personId", .int64)
                AttributeDefinition("firstName", .string, .optional)
                AttributeDefinition("born", .date, .optional)
                AttributeDefinition("source", .string, .optional)
            }
        }
        let store = try Store.inMemory(schema: schema)
        let ids = try await store.write { transaction in
            [
                try transaction.insert("Person", ["personId": 1, "firstName": "Ada", "born": .date(Date(timeIntervalSince1970: -1))]),
                try transaction.insert("Person", ["personId": 2, "firstName": "Al", "born": .date(Date(timeIntervalSince1970: 1))]),
                try transaction.insert("Person", ["personId": 3, "firstName": "Bo"]),
            ]
        }.result
        let (some, only, count) = try await find(store)
        #expect(some == [ids[1], ids[0]])
        #expect(only == ids[2])
        #expect(count == 2)
        #expect(try store.graph[ids[1], "source"] == "form")
        #expect(!store.graph.contains(ids[0]))
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
