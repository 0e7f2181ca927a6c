import CambiumJSON
import CambiumModel
import Foundation
import TestFixtures
import Testing

@testable import CambiumExchange

/// The tables of Docs/Use/IMPORT.md.
@Suite struct MappingDocumentTests {
    private static let path = "Docs/Use/IMPORT.md"
    private static let text = PackageFolder.text(path)

    /// Returns the cells of the table rows that begin with a value in backticks.
    private func rows(of header: String) throws -> [[String]] {
        let table = try #require(Self.text.split(separator: header + "\n").dropFirst().first)
        return table.split(separator: "\n").dropFirst().prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: " | ").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " |`")) }
        }
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
}
