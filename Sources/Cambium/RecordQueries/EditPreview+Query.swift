extension EditPreview {
    /// Returns the records that a query asks for, in its order. Their refs are those of the edit.
    ///
    ///     let notes = try store.preview(edit) { try $0.fetch(RecordQuery<Note> { $0.rating >= 4 }) }
    ///
    /// Throws as `Graph.fetch(_:)` does.
    public borrowing func fetch<Record: EntityRecord>(_ query: RecordQuery<Record>) throws -> [Record] {
        try graph.load(try graph.find(resolved(query.query)), UncommittedOrigins(graph, provisionalIDs: provisionalIDs))
    }
}
