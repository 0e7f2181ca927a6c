import Cambium
import Foundation
import Testing

/// The code of the documents about imports and exports, of rows and of records.
extension ReferenceSnippets {
    private func importPeople(_ store: Store, _ person: Entity, _ path: String) throws -> ImportReport {
        var options = ImportOptions.clearingUnusableValues
        options.mapping = ImportMapping(
            entity: "Person", attributes: ["fullName": "name.full", "born": PropertyMapping(.path("dob"), dates: [.secondsSince1970])])
        struct DeletedPerson: Error {}

        let hooks = ImportHooks(
            prepare: { row in if row["deleted"] == .bool(true) { throw DeletedPerson() } },
            finish: { transaction, id, row in try transaction.set(id, "source", to: "feed") })
        let report = try store.importRows(person, from: [.file(path)], options, hooks: hooks)
        return report
    }

    private func export(_ store: Store, _ person: Entity) throws -> [UInt8] {
        var output: [UInt8] = []
        var options = ExportOptions()
        options.mapping = ImportMapping(entity: "Person", attributes: ["fullName": "name.full"])
        let hooks = ExportHooks { graph, id, row in row["source"] == .string("feed") ? .write : .leaveOut }
        try store.graph.export(person, options, hooks: hooks) { bytes in output += bytes }
        return output
    }

    struct Person: Encodable {
        var personId: Int
        var fullName: String?
        var born: Date?
    }

    /// Needs files and sequences of the caller, so it is compiled only.
    private func importSequences(
        _ store: Store, _ person: Entity, feed: AsyncStream<Person>, body: AsyncStream<[UInt8]>
    ) async throws -> [ImportReport] {
        let report = try await store.importRows(person, from: [.file("people.json.gz"), .rows([Person(personId: 7)])])
        let people = try await store.importRows(person, rows: feed)  // an AsyncSequence of Encodable values
        let uploaded = try await store.importRows(person, bytes: body, format: .csv)  // or of pieces of bytes, cut anywhere
        return [report, people, uploaded]
    }

    private func code(_ store: Store, _ json: Data) throws -> Data {
        let decoder = JSONDecoder()
        decoder.userInfo[.cambiumStore] = store
        let tags = try decoder.decode(ImportedRecords<Tag>.self, from: json).records
        let data = try JSONEncoder().encode(ExportedRecords(tags, in: store.graph))
        return data
    }

    private func recordHooks() -> (ImportHooks, ExportHooks) {
        let importHooks = ImportHooks(Tag.self) { transaction, tag, row in try transaction.set(tag.id, "name", to: "new") }
        let exportHooks = ExportHooks(Tag.self) { tag, row in tag.books.isEmpty ? .leaveOut : .write }
        return (importHooks, exportHooks)
    }

    @Test func `the code of the documents about imports and exports runs`() async throws {
        let store = try Store.inMemory(schema: schema)
        let person = try store.schema.required("Person")
        try await withFolder { folder in
            let path = "\(folder)/people.json"
            try #"{"personId":1,"name":{"full":"Ana"},"dob":0}"#.write(toFile: path, atomically: true, encoding: .utf8)
            #expect(try importPeople(store, person, path).counts.inserted == 1)
            let deleted = #"{"personId":3,"deleted":true}"#
            try deleted.write(toFile: path, atomically: true, encoding: .utf8)
            #expect(throws: CambiumError.self) { try importPeople(store, person, path) }
        }
        try await store.write { _ = try $0.insert("Person", ["personId": 2, "source": "hand"]) }
        let row = #"{"personId":1,"name":{"full":"Ana"},"born":"1970-01-01T00:00:00Z","source":"feed"}"# + "\n"
        #expect(String(decoding: try export(store, person), as: UTF8.self) == row)
    }

    @Test func `the code of the document about records runs`() throws {
        let store = try Store.inMemory(schema: Schema(of: Tag.self))
        try store.migrate(to: SchemaDefinition(of: Tag.self), Author(actor: "deploy"))
        let data = try code(store, Data(#"[{"name":"b"},{"name":"a","books":[{"title":"x"}]}]"#.utf8))
        #expect(String(decoding: data, as: UTF8.self).contains(#""_id":"Tag\/2""#))
        let hooks = recordHooks()
        let tags = try store.importRecords(Tag.self, from: [.bytes(Array(#"{"name":"c"}"#.utf8))], hooks: hooks.0).records
        #expect(tags.map(\.name) == ["new"])
        #expect(try JSONEncoder().encode(ExportedRecords(tags, in: store.graph, hooks: hooks.1)) == Data("[]".utf8))
    }
}
