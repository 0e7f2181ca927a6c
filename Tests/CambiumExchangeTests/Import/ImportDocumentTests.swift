import Cambium
import Foundation
import TestFixtures
import Testing

/// The examples of Docs/Use/IMPORT.md.
@Suite struct ImportDocumentTests {
    private static let path = "Docs/Use/IMPORT.md"
    private static let text = PackageFolder.text(path)

    private func block(_ name: String) throws -> String {
        let parts = Self.text.split(separator: "```json \(name)\n")
        let part = try #require(parts.dropFirst().first)
        return String(try #require(part.split(separator: "```").first))
    }

    private func schema() throws -> Schema {
        try Schema(
            SchemaDefinition {
                EntityDefinition("Person", identity: ["personId"]) {
                    AttributeDefinition("personId", .int64)
                    AttributeDefinition("fullName", .string, .optional)
                    AttributeDefinition("born", .date, .optional)
                    AttributeDefinition("height", .double, .optional)
                    AttributeDefinition("mail", .string, .optional)
                    RelationshipDefinition("country", to: "Country")
                    RelationshipDefinition("friends", to: "Person", .toMany)
                }
                EntityDefinition("Country", identity: ["code"]) {
                    AttributeDefinition("code", .string)
                    AttributeDefinition("title", .string, .optional)
                }
            })
    }

    @Test func `the mapping results in the objects that the page shows`() throws {
        let store = try Store.inMemory(schema: try schema())
        let mapping = try ImportMapping(json: Array(block("mapping").utf8))
        let report = try store.importing("Person", try block("rows")) { $0.mapping = mapping }
        #expect(store.graph.export == (try block("objects")))
        #expect(report.counts.inserted == 2 && report.counts.stubs == 1 && report.unknownKeys.isEmpty)
        let again = try store.importing("Person", try block("rows")) { $0.mapping = mapping }
        #expect(again.transaction == nil)
    }

    @Test func `a row names objects as the page shows`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Note", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    AttributeDefinition("title", .string)
                    RelationshipDefinition("tags", to: "Tag", .toMany)
                    RelationshipDefinition("stock", to: "Stock")
                    RelationshipDefinition("items", to: "Item", .orderedToMany)
                }
                EntityDefinition("Tag", identity: ["name"]) {
                    AttributeDefinition("name", .string)
                    AttributeDefinition("color", .string, .optional)
                }
                EntityDefinition("Stock", identity: ["sku", "place"]) {
                    AttributeDefinition("sku", .string)
                    AttributeDefinition("place", .string)
                }
                EntityDefinition("Item") { AttributeDefinition("name", .string) }
            })
        let report = try store.importing("Note", try block("naming"))
        #expect(report.entities["Tag"]?.stubs == 1 && report.entities["Tag"]?.inserted == 1 && report.unknownKeys.isEmpty)
        let again = try store.importing("Note", try block("naming"))
        #expect(again.entities["Item"]?.inserted == 2 && again.entities["Stock"]?.unchanged == 1)
        #expect(again.entities["Tag"]?.inserted == 0 && store.graph.objectCount == 8)
    }

    @Test func `rows that the mapping of the page writes are read back unchanged`() throws {
        let store = try Store.inMemory(schema: try schema())
        let mapping = try ImportMapping(json: Array(block("mapping").utf8))
        try store.importing("Person", try block("rows")) { $0.mapping = mapping }
        #expect(try store.graph.exported("Person") { $0.mapping = mapping } == (try block("written")))
        let copy = try Store.inMemory(schema: try schema())
        try copy.importing("Person", try block("written")) { ($0.mapping, $0.unknown) = (mapping, .error) }
        #expect(try copy.graph.exported("Person") { $0.mapping = mapping } == (try block("written")))
    }
}
