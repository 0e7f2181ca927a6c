import CambiumModel

extension Draft {
    /// Calls `body` with the graph that would result from publishing the draft.
    ///
    /// The pages of the graph belong to the draft, so the graph must not outlive `body`. Throws the errors of `body`, `.notWritable` if a
    /// change of the draft failed, and `.limitExceeded` if a derived value cannot be stored.
    package mutating func withPreview<Result>(_ body: (Graph) throws -> Result) throws -> Result {
        try checkUsable()
        try updateDerived()
        updateIndexes(rowCountMax: Timeline.indexedRowCount)
        stamp()
        return try body(Graph(version: Version(epoch: epoch, directory: directory, layout: layout, space: space)))
    }
}
