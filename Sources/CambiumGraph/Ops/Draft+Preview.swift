import CambiumModel

extension Draft {
    /// The purpose for which a preview is read. A preview is the graph that would result from publishing a draft.
    package enum PreviewUse {
        /// Reading objects that are found by id or by identity, and their members.
        case objects
        /// Queries, which may read ordered indexes.
        case queries
    }

    /// Calls `body` with the graph that would result from publishing the draft. The draft does not change: a second draft updates derived
    /// values and ordered indexes on its own pages, and is dropped afterwards.
    ///
    /// The pages of the graph belong to the drafts, so the graph must not outlive `body`. Throws the errors of `body`. Throws
    /// `.notWritable` if a change of the draft failed, and `.limitExceeded` if a derived value cannot be stored. Complexity: O(objects
    /// whose derived values changed), and for queries O(changed objects x log objects) if the schema has ordered indexes.
    package borrowing func withPreview<Result>(for use: PreviewUse, _ body: (Graph) throws -> Result) throws -> Result {
        try checkUsable()
        let needsIndexes = use == .queries && !(layout.ordered.isEmpty && base.layout.ordered.isEmpty)
        if derived.isEmpty, !needsIndexes { return try body(graph(mayHaveDuplicates: mayHaveDuplicates)) }
        var copy = Draft(continuing: self, epoch: Timeline.nextEpoch())
        try DerivedNotes.updateDerived(&copy)
        if needsIndexes { OrderedWriter.updateIndexes(&copy, rowCountMax: 0) }
        let graph = copy.graph(mayHaveDuplicates: mayHaveDuplicates || copy.mayHaveDuplicates)
        let result = Swift.Result { try body(graph) }
        // `copy` owns pages of the graph, so it must exist until `body` has returned.
        _ = consume copy
        return try result.get()
    }

    /// Returns the current state of the draft as a graph, which is valid until the draft changes.
    private func graph(mayHaveDuplicates: Bool) -> Graph {
        Graph(
            version: Version(epoch: epoch, directory: directory, layout: layout, space: space, mayHaveDuplicates: mayHaveDuplicates))
    }

    /// Whether several objects can have the same unique value. The draft of an import or of a replay does not record every duplicate, so
    /// the result is `true` for such a draft.
    private var mayHaveDuplicates: Bool { pending.isOff || touched != nil || !pending.duplicates.isEmpty }
}
