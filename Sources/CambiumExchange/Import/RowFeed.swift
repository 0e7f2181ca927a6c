internal import CambiumBytes

/// Reads the rows of an import before they are planned and applied. A dedicated thread reads them, unless the first batch has all rows or
/// `isAhead` is false.
///
/// Reading pauses when `batchCountMax` batches wait for the import, or when the batches in use have `byteCountMax` bytes or more. The
/// thread first completes the batch that it is reading.
///
/// SENDABLE: before the dedicated thread starts, only the caller of `begin` and `next` uses the source; afterwards, only the thread uses
/// it.
package final class RowFeed: @unchecked Sendable {
    static let batchCountMax = 4
    static let byteCountMax = 8 << 20
    /// The maximum size of a batch that is kept for reuse.
    private static let spareByteCountMax = 1 << 20

    private let source: RowSource
    private let isAhead: Bool
    private let isSingle: Bool
    private let queue = BoundedQueue<RowBatch>(countMax: batchCountMax, weightMax: byteCountMax)
    /// Emptied batches. A later read reuses their memory.
    private let spare = Guarded<[RowBatch]>([])
    /// Whether `begin` has read the first rows, and `next` has not returned them yet.
    private var hasFirst = false
    private var thread: DedicatedThread?

    /// - Parameters:
    ///   - isAhead: whether a thread may read rows before the import needs them.
    ///   - isSingle: whether only `next` reads rows, because a hook examines each row in the transaction.
    init(_ source: RowSource, isAhead: Bool, isSingle: Bool) {
        self.source = source
        self.isAhead = isAhead
        self.isSingle = isSingle
    }

    /// Waits for the first rows of a transaction, so that the import does not lock the store before there are rows. If more rows follow and
    /// may be read ahead, starts the thread that reads them. Does nothing if only `next` reads rows.
    package func begin() {
        if thread != nil { queue.waitForElement() }
        guard thread == nil, !hasFirst, !isSingle else { return }
        hasFirst = true
        if readBatch(), isAhead { thread = DedicatedThread { self.readAll() } }
    }

    /// Returns the next rows. The caller must not call this method after it has received the last rows.
    package func next() -> RowBatch {
        if thread == nil, !hasFirst { _ = readBatch() }
        hasFirst = false
        guard let batch = queue.take() else { preconditionFailure("The queue of rows must not end before the last batch.") }
        return batch
    }

    /// Receives a batch that the import no longer needs. A later read can then reuse the memory of the batch.
    package func recycle(_ batch: inout RowBatch) {
        let byteCount = batch.byteCount
        batch.removeAll()
        if byteCount <= Self.spareByteCountMax { spare.withLock { $0.append(batch) } }
        batch = RowBatch()
        queue.release(weight: byteCount)
    }

    /// Ends reading. When this method returns, the thread has ended.
    package func stop() {
        queue.close()
        thread?.join()
        thread = nil
    }

    private func readAll() {
        while queue.waitForCapacity(), readBatch() {}
    }

    /// Reads a batch. Returns whether more rows follow the batch.
    private func readBatch() -> Bool {
        var batch = spare.withLock { $0.popLast() } ?? RowBatch()
        source.read(into: &batch)
        let hasMore = batch.end.isMore
        queue.put(batch, weight: batch.byteCount)
        return hasMore
    }
}
