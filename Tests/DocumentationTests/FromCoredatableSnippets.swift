import Cambium
import Foundation
import Testing

/// The code of Docs/Guides/FromCoredatable.md, word for word.
@Suite struct FromCoredatableSnippets {
    private let json = """
        {"id": "1", "fullName": "Marco", "tags": [1, {"id": 2, "name": "red"}], "origin": {"country": {"name": "Spain"}}, "extra": 1}
        {"id": "3", "fullName": 3}
        """
    private let mixed = #"{"id": "4", "tags": {}} {"id": "5", "fullName": "Eva"}"#

    struct Person: EntityRecord {
        var id: Int
        var name: String?
        var country: String?
        var ref: Ref<Person>?

        static let recordSchema = RecordSchema<Person>("Person") {
            RecordProperty("id", \.id, .identity)
            RecordProperty("name", \.name)
            RecordProperty("country", \.country)
        }
        init(from row: inout RecordReader) throws {
            id = try row.read("id")
            name = try row.read("name")
            country = try row.read("country")
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write("id", &id)
            try row.write("name", &name)
            try row.write("country", &country)
        }
    }

    private let array = #"[{"id": "11", "fullName": "Zoe", "origin": {"country": {"name": "Peru"}}}, {"id": "1"}]"#

    private func decodeAndEncode(_ store: Store, _ mapping: ImportMapping) throws -> (people: [Person], encoded: Data) {
        var options = ImportOptions.clearingMismatches
        options.mapping = mapping
        let decoder = JSONDecoder()
        decoder.userInfo[.cambiumStore] = store
        decoder.userInfo[.cambiumImportOptions] = options
        let people = try decoder.decode(ImportedRecords<Person>.self, from: Data(array.utf8)).records
        var exportOptions = ExportOptions()
        exportOptions.mapping = mapping
        let encoded = try JSONEncoder().encode(ExportedRecords(people, in: store.graph, exportOptions))
        return (people, encoded)
    }

    private func run() async throws -> (store: Store, reports: [ImportReport], data: [UInt8]) {
        let schema = try Schema {
            EntityDefinition("Person", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                AttributeDefinition("name", .string, .optional)
                AttributeDefinition("country", .string, .optional)
                RelationshipDefinition("tags", to: "Tag", .toMany, inverse: "people")
            }
            EntityDefinition("Tag", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                AttributeDefinition("name", .string, .optional)
                RelationshipDefinition("people", to: "Person", .toMany, inverse: "tags")
            }
        }
        let mapping = ImportMapping(
            entity: "Person",
            attributes: [
                "id": PropertyMapping(.path("id"), functions: [.integer]),
                "name": "fullName",
                "country": "origin.country.name",
            ])
        let store = try Store.inMemory(schema: schema)
        var options = ImportOptions.clearingMismatches
        options.mapping = mapping
        let person = try store.schema.required("Person")
        let report = try await store.importRows(person, from: [.bytes(Array(json.utf8), name: "people.json")], options)
        print(report.counts.inserted, report.counts.updated, report.entities["Tag"]?.stubs ?? 0)
        options.onError = .skip
        let partial = try await store.importRows(person, from: [.bytes(Array(mixed.utf8))], options)
        for error in partial.errors { print(error.row, error.line, error.pointer, error.code, error.message) }
        struct PersonRow: Encodable {
            var id: Int
            var fullName: String?
        }

        let values = try await store.importRows(person, from: [.rows([PersonRow(id: 7, fullName: "Bo")])], options)
        print(values.counts)
        var exportOptions = ExportOptions()
        exportOptions.mapping = mapping
        exportOptions.format = .array
        exportOptions.include = IncludeTree(depth: 1)
        var data: [UInt8] = []
        try store.graph.export(person, exportOptions) { bytes in data += bytes }
        return (store, [report, partial], data)
    }

    private func hooked(_ store: Store) async throws -> [ImportReport] {
        let person = try store.schema.required("Person")
        let joined = ImportMapping(
            entity: "Person", attributes: ["name": PropertyMapping(.join(["first", "second"], separator: " "), functions: [.trim])])
        struct DeletedPerson: Error {}

        let hooks = ImportHooks(
            prepare: { row in if row["deleted"] == .bool(true) { throw DeletedPerson() } },
            finish: { transaction, id, row in try transaction.set(id, "country", to: "ES") })
        var options = ImportOptions.clearingMismatches
        options.mapping = joined
        let row = Array(#"{"id": 9, "first": "Al", "second": "Sol"}"#.utf8)
        let gone = Array(#"{"id": 10, "deleted": true}"#.utf8)
        let report = try await store.importRows(person, from: [.bytes(row)], options, hooks: hooks)
        options.onError = .skip
        return [report, try await store.importRows(person, from: [.bytes(row + gone)], options, hooks: hooks)]
    }

    @Test func `rows are imported and exported by keys and identity as the guide shows`() async throws {
        let (store, reports, data) = try await run()
        let graph = store.graph
        #expect(reports[0].counts.inserted == 2)
        #expect(reports[0].entities["Tag"]?.stubs == 1)
        let marco = try #require(try graph.find("Person", identity: [1]))
        #expect(try graph[marco, "country"] == "Spain")
        #expect(try graph.members("tags", of: marco).count == 2)
        let three = try #require(try graph.find("Person", identity: [3]))
        #expect(try graph[three, "name"] == .null)
        #expect(reports[1].errors.count == 1)
        #expect(try graph.find("Person", identity: [5]) != nil)
        #expect(String(decoding: data, as: UTF8.self).contains(#""origin":{"country":{"name":"Spain"}}"#))
        #expect(try graph.find("Person", identity: [7]) != nil)
    }

    @Test func `records are decoded and encoded as the guide shows`() async throws {
        let (store, _, _) = try await run()
        let mapping = ImportMapping(
            entity: "Person",
            attributes: ["id": PropertyMapping(.path("id"), functions: [.integer]), "name": "fullName", "country": "origin.country.name"])
        let (people, encoded) = try decodeAndEncode(store, mapping)
        #expect(people.map(\.name) == ["Zoe", "Marco"])
        #expect(people.map(\.country) == ["Peru", "Spain"])
        #expect(String(decoding: encoded, as: UTF8.self).contains(#""origin":{"country":{"name":"Peru"}}"#))
    }

    @Test func `texts are joined, and a hook refuses a row`() async throws {
        let (store, _, _) = try await run()
        let reports = try await hooked(store)
        let id = try #require(try store.graph.find("Person", identity: [9]))
        #expect(try store.graph[id, "name"] == "Al Sol")
        #expect(try store.graph[id, "country"] == "ES")
        #expect(reports[1].errors.map(\.code) == [.hookFailed])
    }
}
