import Cambium
import CambiumJSON
import Foundation
import TestFixtures
import Testing

/// An export through a mapping, as a file of `Tests/ExportCases` describes it: the existing objects and the expected output.
struct ExportCase: CustomTestStringConvertible {
    static let directory = PackageFolder.url.appending(path: "Tests/ExportCases")

    static let all: [ExportCase] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []  // An empty list fails a test.
        return names.filter { $0.hasSuffix(".json") }.sorted().map { ExportCase(name: String($0.dropLast(5))) }
    }()

    let name: String
    var testDescription: String { name }

    func read() throws -> JSONValue { try JSONValue(parsing: Data(contentsOf: Self.directory.appending(path: name + ".json"))) }
}

@Suite struct ExportCaseTests {
    @Test func `there are cases`() { #expect(ExportCase.all.count > 30) }

    @Test(arguments: ExportCase.all)
    func `a case is written as its file states, and a second import changes nothing`(file: ExportCase) throws {
        let description = try file.read()
        let schema = try Schema(try SchemaDefinition(json: Array(try #require(description["schema"]).text.utf8)))
        let entity = try #require(description["entity"]?.string)
        let mapping = try ImportMapping(json: Array(try #require(description["mapping"]).text.utf8), file: "mapping.json")
        let store = try Store.inMemory(schema: schema)
        for row in description["before"]?.elements ?? [] { try store.importing(row["_entity"]?.string ?? entity, row.text) }
        let options = try ExportOptions(case: description["options"] ?? .object([]), entity, store.schema, mapping)
        if let error = description["error"] {
            let thrown = #expect(throws: CambiumError.self) { try store.graph.exported(entity) { $0 = options } }
            #expect(thrown?.code == .invalidInput && thrown?.place == .init(file: "mapping.json", pointer: error["pointer"]?.string))
            return
        }
        let written = try store.graph.exported(entity) { $0 = options }
        #expect(written.split(separator: "\n").map(String.init) == (description["rows"]?.elements ?? []).map(\.text))
        let copy = try Store.inMemory(schema: schema)
        try copy.importing(entity, written) { ($0.mapping, $0.unknown) = (mapping, .error) }
        #expect(try copy.graph.exported(entity) { $0 = options } == written)
        #expect(try copy.importing(entity, written) { $0.mapping = mapping }.transaction == nil)
    }
}

extension ExportOptions {
    /// Creates options from their names in Swift.
    fileprivate init(case json: JSONValue, _ entity: String, _ schema: Schema, _ mapping: ImportMapping) throws {
        self.init()
        self.mapping = mapping
        for member in json.members {
            let text = try #require(member.value.string)
            switch member.key {
            case "nulls": nulls = try #require(NullValue(rawValue: text))
            case "keyPaths": keyPaths = try #require(KeyPaths(rawValue: text))
            case "content": content = try #require(Content(rawValue: text))
            case "include": include = try IncludeTree([text], from: try schema.required(entity), schema)
            case "depth": include = IncludeTree(depth: try #require(Int(text)))
            default: Issue.record("There is no option '\(member.key)'.")
            }
        }
    }
}
