import Cambium
import CambiumLog
import TestFixtures
import Testing

/// People with an identity, and with two more unique keys.
@Suite struct UniqueValueImportTests {
    private static func store(_ volume: MemoryVolume = MemoryVolume()) throws -> Store {
        var definition = SchemaDefinition {
            EntityDefinition("Person", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                AttributeDefinition("mail", .string, .optional)
                AttributeDefinition("seat", .int64, .optional)
                AttributeDefinition("row", .int64, .optional)
            }
        }
        definition.entities[0].unique = [["mail"], ["seat", "row"]]
        let store = try Store.create(volume, schema: try Schema(definition), durability: .synced, environment: fixedEnvironment())
        try store.importing(
            "Person", "{\"id\":1,\"mail\":\"a\",\"seat\":1,\"row\":1}\n{\"id\":2,\"mail\":\"b\",\"seat\":2,\"row\":1}\n{\"id\":3}")
        return store
    }

    private func mails(_ store: Store) throws -> [String?] {
        let mail = try store.schema.required("Person").requiredAttribute("mail")
        return store.graph.objects(of: try store.schema.required("Person")).map { id in
            if case .string(let text)? = store.graph.value(of: mail, of: id) { text } else { nil }
        }
    }

    private static let swap = "{\"id\":1,\"mail\":\"b\",\"seat\":2}\n{\"id\":2,\"mail\":\"a\",\"seat\":1}"

    @Test(arguments: ImportOptions.RowError.allCases)
    func `two rows of an import swap a unique value`(onError: ImportOptions.RowError) throws {
        let volume = MemoryVolume()
        let store = try Self.store(volume)
        let report = try store.importing("Person", Self.swap) { $0.onError = onError }
        #expect(report.counts.updated == 2 && report.errors.isEmpty)
        #expect(try mails(store) == ["b", "a", nil])
        #expect(store.graph.invariantFindings().isEmpty)
        #expect(try Store.reopened(volume).graph.digest() == store.graph.digest())
        #expect(try store.importing("Person", Self.swap).transaction == nil)
    }

    @Test func `a swap in CSV or with a mapping works`() throws {
        let store = try Self.store()
        try store.importing("Person", csv: "id,mail\n1,b\n2,a\n")
        #expect(try mails(store) == ["b", "a", nil])
        try store.importing("Person", csv: "number,address\n1,a\n2,b\n") { options in
            options.mapping = ImportMapping(entity: "Person", attributes: ["id": "number", "mail": "address"])
        }
        #expect(try mails(store) == ["a", "b", nil])
    }

    @Test(arguments: [
        "{\"id\":3,\"mail\":\"a\"}\n{\"id\":1,\"mail\":\"c\"}", "{\"id\":4,\"mail\":\"a\"}\n{\"id\":1,\"mail\":null}",
        "{\"id\":1,\"mail\":\"b\"}\n{\"id\":2,\"mail\":\"c\"}\n{\"id\":3,\"mail\":\"a\"}",
        "{\"id\":1,\"mail\":\"b\"}\n{\"id\":1,\"mail\":\"a\"}",
    ])
    func `a unique value moves to an object of an earlier row`(rows: String) throws {
        let store = try Self.store()
        let report = try store.importing("Person", rows) { $0.onError = .skip }
        #expect(report.errors.isEmpty)
        #expect(store.graph.invariantFindings().isEmpty)
    }

    @Test(arguments: [
        // The rows, the row that is refused, and the object that keeps the value.
        ("{\"id\":3,\"mail\":\"a\"}", 1, "Person/1"), ("{\"id\":2,\"mail\":\"c\"}\n{\"id\":3,\"mail\":\"a\"}", 2, "Person/1"),
        ("{\"id\":4,\"mail\":\"x\"}\n{\"id\":5,\"mail\":\"x\"}", 2, "Person/4"),
        ("{\"id\":3,\"mail\":\"a\"}\n{\"id\":4,\"mail\":\"a\"}\n{\"id\":1,\"mail\":\"c\"}", 2, "Person/3"),
        ("{\"id\":1,\"mail\":\"b\"}\n{\"id\":2,\"mail\":\"c\"}\n{\"id\":2,\"mail\":\"b\"}", 3, "Person/1"),
    ])
    func `only the row that ends up with a taken unique value is refused`(rows: String, row: Int, keeper: String) throws {
        let stopped = try Self.store().refusal("Person", rows)
        #expect(stopped?.row == row && stopped?.code == .duplicate && stopped?.message.contains(keeper) == true)
        let store = try Self.store()
        let report = try store.importing("Person", rows) { $0.onError = .skip }
        #expect(report.errors.map(\.row) == [row] && report.errors.map(\.code) == [.duplicate])
        #expect(store.graph.invariantFindings().isEmpty)
        #expect(report.rowCount == rows.split(separator: "\n").count)
    }

    @Test func `a refused row frees the values that it took`() throws {
        let store = try Self.store()
        let rows = "{\"id\":4,\"mail\":\"a\",\"seat\":9,\"row\":9}\n{\"id\":5,\"seat\":9,\"row\":9}\n{\"id\":6,\"mail\":\"b\"}"
        let report = try store.importing("Person", rows) { $0.onError = .skip }
        #expect(report.errors.map(\.row) == [1, 3] && report.counts.inserted == 1)
        let first = try store.importing("Person", "{\"id\":2,\"mail\":\"b\"}\n{\"id\":5}").counts.unchanged
        #expect(first == 2)
    }

    @Test func `values of many rows shift by one object, and the last one collides`() throws {
        let store = try Self.store()
        let ids = 10..<6000
        func rows(_ step: Int) -> [String] { ids.map { "{\"id\":\($0),\"mail\":\"m\($0 + step)\"}" } }
        try store.importing("Person", rows(0).joined(separator: "\n"))
        #expect(try store.importing("Person", rows(1).joined(separator: "\n")).counts.updated == ids.count)
        let collision = "{\"id\":3,\"mail\":\"m5000\"}"
        let report = try store.importing("Person", (rows(2) + [collision]).joined(separator: "\n")) { $0.onError = .skip }
        #expect(report.errors.map(\.row) == [ids.count + 1] && report.counts.updated == ids.count)
        #expect(store.graph.invariantFindings().isEmpty)
    }

    @Test func `a swap in two transactions is refused, and a dry run refuses the same rows as an import`() throws {
        #expect(try Self.store().refusal("Person", Self.swap) { $0.batchRowCount = 1 }?.row == 1)
        #expect(try Self.store().refusal("Person", "{\"id\":3,\"mail\":\"a\"}") { $0.effect = .dryRun }?.row == 1)
        #expect(try Self.store().importing("Person", Self.swap) { $0.effect = .dryRun }.counts.updated == 2)
    }

    @Test func `a row takes the value of an absent object`() throws {
        let store = try Self.store()
        let report = try store.importing("Person", "{\"id\":2}\n{\"id\":3,\"mail\":\"a\"}") { $0.absent = .delete }
        #expect(report.counts.deleted == 1)
        #expect(try mails(store) == ["b", "a"])
        let kept = store.refusal("Person", "{\"id\":4,\"mail\":\"b\"}\n{\"id\":2}") { $0.absent = .delete }
        #expect(kept?.row == 1 && store.graph.objectCount == 2)
    }

    @Test func `values by which a mapping finds objects are unique at each row`() throws {
        let store = try Self.store()
        let mapping = ImportMapping(entity: "Person", identity: ["mail"])
        let report = try store.importing("Person", "{\"mail\":\"a\",\"id\":2}\n{\"mail\":\"b\",\"id\":1}") { $0.mapping = mapping }
        #expect(report.counts.updated == 2)
        #expect(try mails(store) == ["a", "b", nil])
        #expect(store.refusal("Person", "{\"mail\":\"a\",\"id\":3}") { $0.mapping = mapping }?.row == 1)
    }
}
