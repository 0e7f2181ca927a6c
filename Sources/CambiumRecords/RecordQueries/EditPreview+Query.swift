extension EditPreview {
    /// Returns the records of a query's answer, in the order of the query. The refs of inserted objects have the provisional ids of the
    /// edit.
    ///
    /// ```swift
    /// let notes = try store.preview(edit) { try $0.fetch(RecordQuery<Note> { $0.rating >= 4 }) }
    /// ```
    ///
    /// Throws as `Graph.fetch(_:)` does.
    public borrowing func fetch<Record: EntityRecord>(_ query: RecordQuery<Record>) throws -> [Record] {
        try graph.load(try graph.find(resolved(query.query)), UncommittedOrigins(graph, moment, provisionalIDs: provisionalIDs))
    }
}
