public import CambiumExchange
public import CambiumJSON

extension ExportHooks {
    /// Creates a hook that receives the object of a row as a record.
    ///
    /// ```swift
    /// let hooks = ExportHooks(Note.self) { note, row in note.isPrivate ? .leaveOut : .write }
    /// ```
    ///
    /// The record is read from the graph of the export. If the record cannot hold a value of the object, the export throws
    /// `.unexpectedValue`.
    ///
    /// - Parameters:
    ///   - type: The type of the record. Rows of objects that are not of the record's entity or a sub-entity are written unchanged.
    ///   - willExport: Receives a record and its row, and may change the row. If `willExport` throws an error, the export ends.
    public init<Record: EntityRecord>(
        _ type: Record.Type, willExport: @escaping @Sendable (Record, inout JSONValue) throws -> Decision
    ) {
        self.init { graph, id, row in
            let family = try graph.binding(type).entity.family
            guard let entity = graph.entity(of: id), family.contains(entity.number) else { return .write }
            return try willExport(try graph.load(type, id), &row)
        }
    }
}
