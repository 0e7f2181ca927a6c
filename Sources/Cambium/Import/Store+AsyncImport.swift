internal import CambiumBytes
public import CambiumModel

extension Store {
    /// As the blocking `importRows`, on a thread of its own: nobody's thread waits for the input, another writer or the disk.
    ///
    /// A task that is cancelled gets a `CancellationError`, and nothing was imported (but for the batches before), unless all of it was
    /// on its way into the log.
    public func importRows(
        _ entity: Entity, from sources: [ImportSource], _ options: ImportOptions = ImportOptions(),
        hooks: ImportHooks = ImportHooks(), author: Author = Author()
    ) async throws -> ImportReport {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isBegun = OwnThread.run {
                    var run = ImportRun(store: self, entity: entity, sources: sources, options: options, hooks: hooks, author: author)
                    run.cancellation = cancellation
                    continuation.resume(with: Result { try run.runToEnd() })
                }
                if !isBegun { continuation.resume(throwing: CambiumError(.limitExceeded, "The system has no thread for an import.")) }
            }
        } onCancel: {
            cancellation.cancel()
        }
    }

    /// Imports the values of a sequence as rows, while they come: their coding keys are the keys, what they do not encode is missing.
    ///
    /// At most some megabytes are under way: the sequence is asked for no more until they are imported. The transaction is open from
    /// the first row to the last, and other writers wait for it; where rows come slowly, `batchRowCount` makes several of it.
    /// What the sequence throws ends the import, and so does cancelling the task: nothing was imported (but for the batches before).
    ///
    ///     try await store.importRows(person, rows: feed.people)
    public func importRows<Rows: AsyncSequence & Sendable>(
        _ entity: Entity, rows: Rows, _ options: ImportOptions = ImportOptions(), hooks: ImportHooks = ImportHooks(),
        author: Author = Author()
    ) async throws -> ImportReport where Rows.Element: Encodable {
        try await importing(entity, "rows", .json, options, hooks, author) { channel in
            let encoder = RowEncoder()
            for try await row in rows {
                guard await channel.write(try encoder.line(row)) else { return }
            }
        }
    }

    /// Imports what a sequence has in pieces, cut anywhere: the body of a request, say. All else is as with rows.
    public func importRows<Pieces: AsyncSequence & Sendable>(
        _ entity: Entity, bytes: Pieces, format: ImportSource.Format = .json, _ options: ImportOptions = ImportOptions(),
        hooks: ImportHooks = ImportHooks(), author: Author = Author()
    ) async throws -> ImportReport where Pieces.Element: Sequence<UInt8> {
        try await importing(entity, "bytes", format, options, hooks, author) { channel in
            for try await piece in bytes {
                guard await channel.write(Array(piece)) else { return }
            }
        }
    }

    /// Imports what a task writes into a channel.
    private func importing(
        _ entity: Entity, _ name: String, _ format: ImportSource.Format, _ options: ImportOptions, _ hooks: ImportHooks, _ author: Author,
        _ write: @escaping @Sendable (ByteChannel) async throws -> Void
    ) async throws -> ImportReport {
        let channel = ByteChannel()
        let source = ImportSource(name: name, isRepeatable: false, format: format) { { try channel.read(into: $0) } }
        return try await withThrowingTaskGroup(of: ImportReport?.self) { group in
            group.addTask {
                do {
                    try await write(channel)
                    // A sequence that was cancelled may end as if it had nothing more.
                    channel.end(Result { try Task.checkCancellation() })
                } catch {
                    channel.end(.failure(error))
                }
                return nil
            }
            group.addTask {
                defer { channel.end(.success(())) }
                return try await withTaskCancellationHandler {
                    try await self.importRows(entity, from: [source], options, hooks: hooks, author: author)
                } onCancel: {
                    channel.end(.failure(CancellationError()))
                }
            }
            defer { group.cancelAll() }
            while let report = try await group.next() {
                if let report { return report }
            }
            throw CancellationError()
        }
    }
}
