public import CambiumExchange

/// The record of one imported row. See `ImportedRecords` for several rows.
///
/// ```swift
/// let note = try decoder.decode(ImportedRecord<Note>.self, from: data).record
/// ```
public struct ImportedRecord<Record: EntityRecord>: Sendable {
    /// The record, read from the graph directly after the import.
    public let record: Record
    /// The counts of the import.
    public let report: ImportReport
}

extension ImportedRecord: Decodable {
    /// Imports the object of a decoder. Throws as `ImportedRecords` does. Also throws for a row that `onError: .skip` omits.
    public init(from decoder: any Decoder) throws {
        let run = try RecordImport(decoder)
        guard case .object(let members) = try CodingTree(from: decoder).value else {
            let message = "The input is not an object of '\(Record.recordSchema.entity)'. Decode an array as ImportedRecords."
            throw DecodingError.typeMismatch(Record.self, .init(codingPath: decoder.codingPath, debugDescription: message))
        }
        let imported: ImportedRecords<Record> = try run.records(.single(.object(members)))
        guard let record = imported.records.first else {
            let message = imported.report.errors.first?.message ?? "The row was omitted."
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: message))
        }
        self.record = record
        report = imported.report
    }
}
