import Cambium
import CambiumJSON
import CambiumLog
import Foundation
import TestFixtures
import Testing

/// An import as a file of `Tests/ImportCases` describes it: the existing objects, the rows and the expected result.
struct ImportCase: CustomTestStringConvertible {
    static let directory = PackageFolder.url.appending(path: "Tests/ImportCases")

    static let all: [ImportCase] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []  // An empty list fails a test.
        return names.filter { $0.hasSuffix(".json") }.sorted().map { ImportCase(name: String($0.dropLast(5))) }
    }()

    let name: String
    var testDescription: String { name }

    func read() throws -> JSONValue {
        try JSONValue(parsing: Data(contentsOf: Self.directory.appending(path: name + ".json")))
    }
}

@Suite struct ImportCaseTests {
    @Test func `the directory has more than 60 import cases`() { #expect(ImportCase.all.count > 60) }

    @Test(arguments: ImportCase.all) func `an import case has the result that its file states`(file: ImportCase) throws {
        let description = try file.read()
        let schema = try Schema(try SchemaDefinition(json: Array(try #require(description["schema"]).text.utf8)))
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: schema, durability: .synced, environment: fixedEnvironment())
        let entity = try store.schema.required(description["entity"]?.string ?? "")
        for row in description["before"]?.elements ?? [] {
            let other = row["_entity"]?.string
            let own = JSONValue.object(row.members.filter { $0.key != "_entity" })
            try store.importing(other ?? entity.name, own.text)
        }
        var options = try ImportOptions(case: description["options"] ?? .object([]))
        options.mapping = try description["mapping"].map { try ImportMapping(json: Array($0.text.utf8), file: "mapping.json") }
        let rows = ImportSource.bytes(Array((description["rows"]?.elements ?? []).map(\.text).joined(separator: "\n").utf8))
        if let error = description["error"] {
            try expect(error) { try store.importRows(entity, from: [rows], options, reached: $0) }
        } else {
            let report = try store.importRows(entity, from: [rows], options)
            for expected in description["report"]?.members ?? [] { try expect(expected, in: report) }
        }
        let objects = description["objects"]?.elements ?? []
        #expect(store.graph.export.split(separator: "\n").map(String.init) == objects.map(\.text))
        if description["error"] == nil, description["repeats"] == nil {
            for _ in 1...2 {
                let again = try store.importRows(entity, from: [rows], options)
                #expect(again.transaction == nil && again.logByteCount == 0)
            }
        }
        #expect(store.graph.invariantFindings().isEmpty)
        #expect(try Store.reopened(volume).graph.digest() == store.graph.digest())
    }

    private func expect(_ error: JSONValue, _ body: ((ImportReport) -> Void) throws -> ImportReport) throws {
        var reached = ImportReport()
        do {
            _ = try body { reached = $0 }
            Issue.record("The import must fail.")
        } catch let thrown as CambiumError {
            guard let row = error["row"] else { return #expect(thrown.code.rawValue == error["code"]?.string) }
            let failure = try #require(reached.errors.last)
            #expect(failure.code.rawValue == error["code"]?.string, "\(thrown)")
            #expect(.number(String(failure.row)) == row && failure.line == failure.row && failure.pointer == error["pointer"]?.string)
        }
    }

    private func expect(_ expected: JSONValue.Member, in report: ImportReport) throws {
        var writer = JSONWriter()
        report.write(to: &writer)
        let found = try #require(try JSONValue(parsing: writer.bytes)[expected.key], "\(expected.key)")
        guard expected.key == "errors" else { return #expect(found == expected.value, "\(expected.key)") }
        #expect(found.elements.count == expected.value.elements.count)
        for (error, wanted) in zip(found.elements, expected.value.elements) {
            for member in wanted.members { #expect(error[member.key] == member.value) }
        }
    }
}

extension ImportOptions {
    /// Creates options from their names in Swift, beginning with the set that `set` names.
    fileprivate init(case json: JSONValue) throws {
        let sets = ["vokoder": ImportOptions.clearingUnusableValues, "vokoderKeepingNulls": .keepingUnusableValues]
        self = json["set"]?.string.flatMap { sets[$0] } ?? ImportOptions()
        for member in json.members where member.key != "set" {
            let text = try #require(member.value.string)
            switch member.key {
            case "missing": missing = try #require(MissingKey(rawValue: text))
            case "null": null = try #require(NullValue(rawValue: text))
            case "mismatch": mismatch = try #require(Mismatch(rawValue: text))
            case "existing": existing = try #require(Existing(rawValue: text))
            case "absent": absent = try #require(Absent(rawValue: text))
            case "absentMax": absentMax = try #require(AbsentLimit(text))
            case "toMany": toMany = try #require(ToMany(rawValue: text))
            case "references": references = try #require(Reference(rawValue: text))
            case "unknown": unknown = try #require(UnknownKey(rawValue: text))
            case "onError": onError = try #require(RowError(rawValue: text))
            case "effect": effect = text == "dryRun" ? .dryRun : .commit
            default: Issue.record("The case has the unknown option '\(member.key)'.")
            }
        }
    }
}

extension JSONValue {
    var string: String? { if case .string(let text) = self { text } else { nil } }
    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
    var members: [Member] { if case .object(let members) = self { members } else { [] } }
}
