public import CambiumExchange
public import CambiumGraph

/// The objects of records, which any encoder can write by the rules of exports.
///
/// ```swift
/// let data = try JSONEncoder().encode(ExportedRecords(notes, in: store.graph, options))
/// ```
///
/// The values come from the graph, so unsaved changes to a record are not written. The encoder chooses the format, so
/// `ExportOptions.format` has no effect. Dates and data are texts as in exports, and the encoder's strategies for them do not apply.
public struct ExportedRecords<Record: EntityRecord>: Sendable {
    private let records: [Record]
    private let graph: Graph
    private let options: ExportOptions
    private let hooks: ExportHooks

    /// - Parameters:
    ///   - records: The records, in the order of the output.
    ///   - graph: The graph that contains the values.
    ///   - options: The form of the objects: references, includes, nulls and the mapping.
    ///   - hooks: The functions of the program that change or omit each row.
    public init(_ records: [Record], in graph: Graph, _ options: ExportOptions = ExportOptions(), hooks: ExportHooks = ExportHooks()) {
        self.records = records
        self.graph = graph
        self.options = options
        self.hooks = hooks
    }
}

extension ExportedRecords: Encodable {
    /// Encodes an array of objects. If the hook omits a record, the array does not contain it.
    ///
    /// Throws an `EncodingError`, with the `CambiumError` as the underlying error, for a record that was never saved or belongs to another
    /// store. Also throws an `EncodingError` if the graph does not contain the object, or if an import with the mapping would read the row
    /// differently. Throws `.unknownName` if the record does not fit the schema, and `.invalidInput` if the mapping does not fit the
    /// schema. Complexity: O(attributes and members of the written objects).
    public func encode(to encoder: any Encoder) throws {
        var export = try RecordExport(graph, Record.self, options, hooks)
        var container = encoder.unkeyedContainer()
        for (index, record) in records.enumerated() {
            let path = encoder.codingPath + [CodingTreeKey(intValue: index)]
            if let row = try export.row(record, path) { try container.encode(row) }
        }
    }
}
