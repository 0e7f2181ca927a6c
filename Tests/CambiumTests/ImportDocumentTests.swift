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

    @Test func `the example in Swift runs`() throws {
        var definition = SchemaDefinition {
            EntityDefinition("Person", identity: ["personId"]) {
                AttributeDefinition("personId", .int64)
                AttributeDefinition("fullName", .string, .optional)
                AttributeDefinition("born", .date, .optional)
            }
        }
        definition.entities[0].attributes.append(AttributeDefinition("source", .string, .optional))
        let store = try Store.inMemory(schema: try Schema(definition))
        let person = try store.schema.required("Person")
        let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: directory) }  // The operating system removes leftovers.
        try Data(#"{"personId":1,"name":{"full":"Ana"},"dob":0}"#.utf8).write(to: directory)
        let people = directory.path
        func example() throws -> ImportReport {
            var options = ImportOptions.clearingUnusableValues
            options.mapping = ImportMapping(
                entity: "Person", attributes: ["fullName": "name.full", "born": PropertyMapping(from: "dob", dates: [.secondsSince1970])])
            let hooks = ImportHooks(
                prepare: { row in if row["deleted"] == .bool(true) { throw CambiumError(.invalidInput, "it is deleted") } },
                finish: { transaction, id, row in try transaction.set(id, "source", to: .string("feed")) })
            let report = try store.importRows(person, from: [.file(people)], options, hooks: hooks)
            return report
        }
        #expect(try example().counts.inserted == 1)
        #expect(store.graph.export.contains(#""fullName":"Ana","born":"1970-01-01T00:00:00Z","source":"feed""#))
        try expectShown(1)
        var output: [UInt8] = []
        func export() throws {
            var options = ExportOptions()
            options.mapping = ImportMapping(entity: "Person", attributes: ["fullName": "name.full"])
            let hooks = ExportHooks { graph, id, row in row["source"] == .string("feed") ? .write : .leaveOut }
            try store.graph.export(person, options, hooks: hooks) { bytes in output += bytes }
        }
        try export()
        let rows = #"{"personId":1,"name":{"full":"Ana"},"born":"1970-01-01T00:00:00Z","source":"feed"}"# + "\n"
        #expect(String(decoding: output, as: UTF8.self) == rows)
        try expectShown(2)
    }

    /// Expects that the page's Swift example with this number is in this file.
    private func expectShown(_ number: Int) throws {
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        func lines(_ text: some StringProtocol) -> [String] { text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) } }
        let shown = try #require(Self.text.split(separator: "```swift\n").dropFirst(number).first?.split(separator: "```").first)
        let compiled = lines(source).map { $0.replacing(".file(people)", with: ".file(\"people.json\")") }.joined(separator: "\n")
        #expect(compiled.contains(lines(shown).joined(separator: "\n")))
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
