import Cambium
import CambiumLog
import TestFixtures
import Testing

/// Issues whose number is unique within their project.
@Suite struct OwnedUniqueTests {
    private static func definition(_ unique: [[String]] = [["project", "number"]]) -> SchemaDefinition {
        SchemaDefinition {
            EntityDefinition("Project", identity: ["key"]) {
                AttributeDefinition("key", .string)
                RelationshipDefinition("issues", to: "Issue", .toMany, inverse: "project")
            }
            EntityDefinition("Issue", identity: ["id"], unique: unique) {
                AttributeDefinition("id", .int64, .optional)
                AttributeDefinition("number", .int64, .optional)
                RelationshipDefinition("project", to: "Project", inverse: "issues")
            }
        }
    }

    private static func store(
        _ volume: MemoryVolume = MemoryVolume(), _ definition: SchemaDefinition = OwnedUniqueTests.definition()
    ) throws -> Store {
        let store = try Store.create(volume, schema: try Schema(definition), durability: .synced, environment: fixedEnvironment())
        try store.importing("Project", #"{"key":"A"}"# + "\n" + #"{"key":"B"}"#)
        let rows = [row(1, "A", 1), row(2, "A", 2), row(3, "B", 1), row(4, nil, 1)]
        try store.importing("Issue", rows.joined(separator: "\n"))
        return store
    }

    private static func row(_ id: Int, _ project: String?, _ number: Int) -> String {
        #"{"id":\#(id),"number":\#(number),"project":\#(project.map { "\"\($0)\"" } ?? "null")}"#
    }

    @Test(arguments: [(5, "A", 1), (3, "A", 1), (4, "A", 2), (2, "A", 1)])
    func `two issues of a project cannot have the same number`(id: Int, project: String, number: Int) throws {
        let store = try Self.store()
        let row = Self.row(id, project, number)
        #expect(store.refusal("Issue", row)?.code == .duplicate)
        #expect(store.graph.invariantFindings().isEmpty)
    }

    @Test func `issues of different projects, and issues without a project, may have the same number`() throws {
        let volume = MemoryVolume()
        let store = try Self.store(volume)
        let rows = [Self.row(5, nil, 1), Self.row(1, "B", 1), Self.row(3, "A", 1), Self.row(6, "B", 2)].joined(separator: "\n")
        let report = try store.importing("Issue", rows)
        #expect(report.errors.isEmpty && report.counts.inserted == 2)
        #expect(store.graph.invariantFindings().isEmpty)
        #expect(try Store.reopened(volume).graph.digest() == store.graph.digest())
    }

    @Test func `an import omits only the row that repeats a number`() throws {
        let store = try Self.store()
        let rows = [Self.row(5, "A", 3), Self.row(6, "A", 1), Self.row(7, "B", 3)].joined(separator: "\n")
        let report = try store.importing("Issue", rows) { $0.onError = .skip }
        #expect(report.counts.inserted == 2 && report.errors.count == 1)
        #expect(store.graph.invariantFindings().isEmpty)
    }

    @Test func `an import omits no row that is valid without an earlier bad row`() throws {
        let store = try Self.store()
        try store.importing("Project", #"{"key":"C"}"# + "\n" + #"{"key":"D"}"# + "\n" + #"{"key":"E"}"#)
        try store.importing("Issue", [Self.row(5, "E", 1), Self.row(6, "B", 2)].joined(separator: "\n"))
        // Without the second row, the third one brings the only issue 1 of C.
        let rows = [#"{"key":"D","issues":[2,6]}"#, #"{"key":"C","issues":[1,3]}"#, #"{"key":"C","issues":[5]}"#]
        let report = try store.importing("Project", rows.joined(separator: "\n")) { options in
            options.onError = .skip
            options.toMany = .append
        }
        #expect(report.errors.map(\.row) == [1, 2])
        #expect(store.graph.invariantFindings().isEmpty)
    }

    @Test func `a mapping cannot find objects by a relationship`() throws {
        let mapping = ImportMapping(entity: "Issue", identity: ["project", "number"])
        let store = try Self.store()
        #expect {
            try store.importing("Issue", Self.row(5, "A", 3)) { $0.mapping = mapping }
        } throws: {
            "\($0)".contains("is a relationship")
        }
    }

    @Test func `a deletion of a project frees the numbers of its issues`() throws {
        let store = try Self.store()
        let project = try #require(store.graph.objects(of: try store.schema.required("Project")).first)
        try store.write { try $0.delete(project) }
        let report = try store.importing("Issue", [Self.row(1, "B", 2), Self.row(2, "B", 3)].joined(separator: "\n"))
        #expect(report.errors.isEmpty && store.graph.invariantFindings().isEmpty)
    }

    @Test func `a migration adds a set only if the existing objects obey it`() throws {
        let good = try Self.store(MemoryVolume(), Self.definition([]))
        _ = try good.migrate(to: Self.definition())
        #expect(good.graph.invariantFindings().isEmpty)
        let bad = try Self.store(MemoryVolume(), Self.definition([]))
        try bad.importing("Issue", Self.row(5, "A", 1))
        #expect { _ = try bad.migrate(to: Self.definition()) } throws: { ($0 as? CambiumError)?.code == .ruleViolated }
    }

    @Test(arguments: [
        ("unique", "issues", "is to-many"), ("indexes", "self", "an index consists"), ("identity", "self", "needs itself"),
    ])
    func `a set refuses a relationship that it cannot contain`(key: String, name: String, reason: String) throws {
        let list = key == "identity" ? "[\"\(name)\"]" : "[[\"\(name)\"]]"
        let text = """
            {"entities": {"Project": {"\(key)": \(list), "attributes": {}, "relationships": {
            "issues": {"to": "Project", "many": true, "inverse": "self"}, "self": {"to": "Project", "inverse": "issues"}}}}}
            """
        #expect { try Schema(SchemaDefinition(json: Array(text.utf8))) } throws: { "\($0)".contains(reason) }
    }
}
