import CambiumExchange
internal import CambiumJSON

/// The export of single records through an encoder.
struct RecordExport {
    private let graph: Graph
    private let entity: Entity
    private var rows: ObjectRows

    /// Throws `.unknownName` if the record does not fit the schema, and `.invalidInput` if the mapping does not fit the schema.
    init<Record: EntityRecord>(
        _ graph: Graph, _ type: Record.Type, _ options: ExportOptions, _ hooks: ExportHooks
    ) throws(CambiumError) {
        self.graph = graph
        entity = try graph.binding(type).entity
        rows = try ObjectRows(graph, of: entity, options, hooks)
    }

    /// Returns the row of a record's object, or `nil` if the hook omits the row. An error that concerns the object becomes an
    /// `EncodingError`.
    mutating func row<Record: EntityRecord>(_ record: Record, _ codingPath: [any CodingKey]) throws -> CodingTree? {
        do {
            return try rows.row(place(of: record)).map(CodingTree.init)
        } catch let error as CambiumError {
            throw Self.error(record, codingPath, error.message, error)
        }
    }

    private func place<Record: EntityRecord>(of record: Record) throws(CambiumError) -> ObjectPlace {
        guard let ref = record.ref else {
            throw CambiumError(
                .objectDeleted, "The record of '\(entity.name)' was never saved, so no graph has its object. Save the record first.")
        }
        try ref.check(graph.storeKey)
        guard let place = graph.place(of: ref.id) else {
            let reason =
                ref.id.isProvisional
                ? "it exists only in the edit that inserted it. Commit the edit, and export the permanent ref of the record."
                : "the object was deleted, or was not inserted yet. Export from a graph that contains the object."
            throw CambiumError(.objectDeleted, "\(entity.name)/\(ref.id.serialText) does not exist in this graph: \(reason)")
        }
        return place
    }

    static func error<Record: EntityRecord>(
        _ record: Record, _ codingPath: [any CodingKey], _ message: String, _ underlying: CambiumError? = nil
    ) -> EncodingError {
        .invalidValue(record, .init(codingPath: codingPath, debugDescription: message, underlyingError: underlying))
    }
}
