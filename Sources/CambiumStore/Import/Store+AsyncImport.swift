internal import CambiumBytes
public import CambiumExchange
public import CambiumModel

extension Store {
    /// Imports rows as the blocking `importRows` does, but on a dedicated thread. Only this thread waits for the input, for other writers
    /// and for the disk.
    ///
    /// If the task is cancelled, the call throws `CancellationError`, and nothing was imported except earlier batches. If the first
    /// transaction has not begun, the call throws at once, even if other writers are busy. In that case, the thread of the import ends
    /// later, and may still read the input. If the import is already being written to the log, it completes. Throws `.limitExceeded` if the
    /// operating system has no thread left. Otherwise throws as the blocking `importRows` does.
    public func importRows(
        _ entity: Entity, from sources: [ImportSource], _ options: ImportOptions = ImportOptions(),
        hooks: ImportHooks = ImportHooks(), author: Author = Author()
    ) async throws -> ImportReport {
        let cancellation = Cancellation()
        let call = WaitingCall()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                call.wait { continuation.resume(throwing: CancellationError()) }
                let isBegun = DedicatedThread.run {
                    if call.isCancelled { return }
                    var run = ImportRun(store: self, entity: entity, sources: sources, options: options, hooks: hooks, author: author)
                    (run.cancellation, run.call) = (cancellation, call)
                    let result = Result { try run.runToEnd() }
                    if call.begin() { continuation.resume(with: result) }
                }
                if !isBegun, call.begin() {
                    let error = CambiumError(
                        .limitExceeded, "The operating system has no thread left for the import. Repeat the import later.")
                    continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            cancellation.cancel()
            call.cancel()
        }
    }

    /// Imports the values of a sequence as rows while they arrive. The coding keys become the keys of a row. If a value does not encode a
    /// key, the key is missing.
    ///
    /// The import buffers at most a few megabytes, and requests more values from the sequence only after it has read the buffered ones. The
    /// transaction is open from the first row to the last, and other writers wait for it. If rows arrive slowly, `batchRowCount` can divide
    /// the import into several transactions. If there are no hooks, a batch of at most 512 rows is read before its transaction begins.
    ///
    /// An error of the sequence ends the import, and so does the cancellation of the task. In both cases nothing was imported, except
    /// earlier batches. Throws the error of the sequence or of a value that cannot be encoded, `CancellationError`, or the errors of the
    /// blocking `importRows`. Complexity: O(bytes of the rows).
    ///
    /// ```swift
    /// let report = try await store.importRows(person, rows: feed.people)
    /// ```
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

    /// Imports rows from bytes that arrive in pieces, such as the body of a request. A piece may end anywhere, even inside a row.
    /// Otherwise, this method works like the import of a sequence of rows. Throws the same errors. Complexity: O(bytes).
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

    /// Imports the rows in the bytes that `write` passes to a channel. `write` and the import run in two separate tasks.
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
                    // A cancelled sequence may end as if it had no more values, so this code checks for cancellation before it reports the
                    // end of the input.
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
