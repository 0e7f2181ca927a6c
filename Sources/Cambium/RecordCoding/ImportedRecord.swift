public import CambiumExchange

/// The record of one imported row, as `ImportedRecords` for several.
///
///     let note = try decoder.decode(ImportedRecord<Note>.self, from: data).record
public struct ImportedRecord<Record: EntityRecord>: Sendable {
    /// The record, as the graph right after the import has it.
    public let record: Record
    /// The counts of the import.
    public let report: ImportReport
}

extension ImportedRecord: Decodable {
    /// Imports the object of a decoder. Throws as `ImportedRecords` does, and for a row that `onError: .skip` leaves out.
    public init(from decoder: any Decoder) throws {
        let run = try RecordImport(decoder)
        guard case .object(let members) = try CodingTree(from: decoder).value else {
            let message = "An object of '\(Record.recordSchema.entity)' is expected. Decode an array as ImportedRecords."
            throw DecodingError.typeMismatch(Record.self, .init(codingPath: decoder.codingPath, debugDescription: message))
        }
        let imported: ImportedRecords<Record> = try run.records(.single(.object(members)))
        guard let record = imported.records.first else {
            let message = imported.report.errors.first?.message ?? "The row was left out."
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: message))
        }
        self.record = record
        report = imported.report
    }
}
