public import CambiumExchange
public import CambiumGraph

/// The exported object of one record, which any encoder can write. Use `ExportedRecords` for several records.
///
/// ```swift
/// let data = try JSONEncoder().encode(ExportedRecord(note, in: store.graph))
/// ```
public struct ExportedRecord<Record: EntityRecord>: Sendable {
    private let record: Record
    private let graph: Graph
    private let options: ExportOptions
    private let hooks: ExportHooks

    /// - Parameters:
    ///   - record: The record of the object.
    ///   - graph: The graph that contains the values.
    ///   - options: The form of the object: references, includes, nulls and the mapping.
    ///   - hooks: The functions of the program that change or omit the row.
    public init(_ record: Record, in graph: Graph, _ options: ExportOptions = ExportOptions(), hooks: ExportHooks = ExportHooks()) {
        self.record = record
        self.graph = graph
        self.options = options
        self.hooks = hooks
    }
}

extension ExportedRecord: Encodable {
    /// Encodes one object. Throws as `ExportedRecords` does. Also throws an `EncodingError` if the hook omits the record.
    public func encode(to encoder: any Encoder) throws {
        var export = try RecordExport(graph, Record.self, options, hooks)
        guard let row = try export.row(record, encoder.codingPath) else {
            let message = "The hook omitted the only record. Encode ExportedRecords, which may be empty."
            throw RecordExport.error(record, encoder.codingPath, message)
        }
        try row.encode(to: encoder)
    }
}
