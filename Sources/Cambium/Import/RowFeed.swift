internal import CambiumBytes

/// Reads the rows of an import ahead of who plans and applies them, on a thread of its own where they are more than a few.
///
/// At most `batchCountMax` batches and `byteCountMax` bytes of them are under way, and the one that goes beyond that.
///
/// SENDABLE: the source is used by who calls `begin` and `next`, until there is a thread; from then on by the thread.
final class RowFeed: @unchecked Sendable {
    static let batchCountMax = 4
    static let byteCountMax = 8 << 20
    /// Batches that took more are not used again.
    private static let spareByteCountMax = 1 << 20

    private let source: RowSource
    private let isAhead: Bool
    private let queue = BoundedQueue<RowBatch>(countMax: batchCountMax, weightMax: byteCountMax)
    /// Batches that were planned, to be used again.
    private let spare = Guarded<[RowBatch]>([])
    private var isBegun = false
    /// Whether the first rows were read, and not asked for yet.
    private var hasFirst = false
    private var thread: OwnThread?

    /// - Parameter isAhead: whether rows may be read before they are asked for.
    init(_ source: RowSource, isAhead: Bool) {
        self.source = source
        self.isAhead = isAhead
    }

    /// Waits for rows, so that the store is not asked to before there are some; has the others read meanwhile, if there are any.
    func begin() {
        if thread != nil { queue.waitForElement() }
        guard isAhead, !isBegun else { return }
        isBegun = true
        hasFirst = true
        if readBatch() { thread = OwnThread { self.readAll() } }
    }

    /// The next rows. Not to be called where nothing comes behind those before.
    func next() -> RowBatch {
        if thread == nil, !hasFirst { _ = readBatch() }
        hasFirst = false
        guard let batch = queue.take() else { preconditionFailure("The queue of rows does not end before them.") }
        return batch
    }

    /// Takes a batch back that is no longer needed.
    func giveBack(_ batch: inout RowBatch) {
        let byteCount = batch.byteCount
        batch.removeAll()
        if byteCount <= Self.spareByteCountMax { spare.withLock { $0.append(batch) } }
        batch = RowBatch()
        queue.giveBack(weight: byteCount)
    }

    /// Ends the reading: nothing of it goes on when this returns.
    func stop() {
        queue.close()
        thread?.join()
        thread = nil
    }

    private func readAll() {
        while queue.waitForRoom(), readBatch() {}
    }

    /// Reads a batch. Returns whether more comes behind it.
    private func readBatch() -> Bool {
        var batch = spare.withLock { $0.popLast() } ?? RowBatch()
        source.read(into: &batch)
        let hasMore = batch.end.isMore
        queue.put(batch, weight: batch.byteCount)
        return hasMore
    }
}
