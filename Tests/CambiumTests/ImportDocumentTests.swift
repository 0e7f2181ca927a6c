import CambiumJSON
import Foundation
import Testing

@testable import Cambium

/// The examples of Docs/IMPORT.md.
@Suite struct ImportDocumentTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let text = (try? String(contentsOf: root.appending(path: "Docs/IMPORT.md"), encoding: .utf8)) ?? ""  // Empty text fails.

    private func block(_ name: String) throws -> String {
        let parts = Self.text.split(separator: "```json \(name)\n")
        let part = try #require(parts.dropFirst().first)
        return String(try #require(part.split(separator: "```").first))
    }

    /// Returns the cells of the table rows that begin with a value in backticks.
    private func rows(of header: String) throws -> [[String]] {
        let table = try #require(Self.text.split(separator: header + "\n").dropFirst().first)
        return table.split(separator: "\n").dropFirst().prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: " | ").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " |`")) }
        }
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

    @Test func `every function has the result that its row states`() throws {
        let rows = try rows(of: "| function | input | output | |")
        #expect(rows.count == 9)
        for row in rows {
            let function = try MappingReader(file: nil).function(try JSONValue(parsing: row[0].utf8), "")
            let output = try function.apply(try JSONValue(parsing: row[1].utf8))
            #expect(output.text == row[2], "\(row[0])")
            #expect(function.json.text == row[0].replacing(": ", with: ":").replacing(", \"", with: ",\""))
        }
    }

    @Test func `every date is read as its row states`() throws {
        let rows = try rows(of: "| format | value | date |")
        #expect(rows.count == 10)
        for row in rows {
            let format = DateFormat(try #require(try JSONValue(parsing: row[0].utf8).string))
            let reader = try DateReader([format], zone: "UTC", pivot: 1950)
            let value = try JSONValue(parsing: row[1].utf8)
            let text = value.string ?? value.text
            let seconds = Array(text.utf8).withUnsafeBytes { reader.seconds($0, isNumber: value.string == nil) }
            let date = Date(timeIntervalSinceReferenceDate: try #require(seconds, "\(row[0])"))
            #expect(Value.date(date).text == row[2], "\(row[0])")
        }
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
