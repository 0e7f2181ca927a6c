internal import CambiumBytes

/// Reads the rows of an import ahead of who plans and applies them, on a thread of its own where they are more than a few.
///
/// At most `batchCountMax` batches and `byteCountMax` bytes of them are under way, and the one that goes beyond that.
///
/// SENDABLE: what is not under the lock is the reader's: who calls `next`, until there is a thread; then the thread's.
final class RowFeed: @unchecked Sendable {
    private struct State {
        /// Batches that were read, the first one first.
        var full: [RowBatch] = []
        /// Batches that were planned, to be used again.
        var spare: [RowBatch] = []
        var byteCount = 0
        var isStopped = false
    }

    static let batchCountMax = 4
    static let byteCountMax = 8 << 20

    private let state = Guarded(State())
    /// Goes on with every change of the state.
    private let turn = WaitWord(0)
    private let source: RowSource
    private let isAhead: Bool
    private var isBegun = false
    private var thread: OwnThread?

    /// - Parameter isAhead: whether rows may be read before they are asked for.
    init(_ source: RowSource, isAhead: Bool) {
        self.source = source
        self.isAhead = isAhead
    }

    /// Waits for rows, so that the store is not asked to before there are some; has the others read meanwhile, if there are any.
    func begin() {
        guard isAhead else { return }
        if thread != nil { return wait { $0.full.isEmpty ? nil : () } }
        if isBegun { return }
        isBegun = true
        if read(RowBatch()) { thread = OwnThread { self.readAll() } }
    }

    /// The next rows. Not to be called where nothing comes behind those before.
    func next() -> RowBatch {
        // Without a thread there are those that were read before it was wanted.
        if thread == nil, state.withLock({ $0.full.isEmpty }) { _ = read(state.withLock { $0.spare.popLast() } ?? RowBatch()) }
        return wait { $0.full.isEmpty ? nil : $0.full.removeFirst() }
    }

    /// Takes a batch back that is no longer needed.
    func giveBack(_ batch: inout RowBatch) {
        let byteCount = batch.byteCount
        batch.removeAll()
        change { state in
            state.byteCount -= byteCount
            if byteCount <= 2 * RowSource.byteCountMax { state.spare.append(batch) }
        }
        batch = RowBatch()
    }

    /// Ends the reading: nothing of it goes on when this returns.
    func stop() {
        change { $0.isStopped = true }
        thread?.join()
        thread = nil
    }

    // MARK: Reading

    private func readAll() {
        while true {
            let batch: RowBatch? = wait { state in
                if state.isStopped { return .some(nil) }
                guard state.full.count < Self.batchCountMax, state.byteCount < Self.byteCountMax else { return nil }
                return state.spare.popLast() ?? RowBatch()
            }
            guard let batch, read(batch) else { return }
        }
    }

    /// Reads a batch. Returns whether more comes behind it.
    private func read(_ spare: consuming RowBatch) -> Bool {
        var batch = spare
        source.read(into: &batch)
        let hasMore = batch.end.isMore
        change { state in
            state.byteCount += batch.byteCount
            state.full.append(batch)
        }
        return hasMore
    }

    // MARK: Waiting

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            turn.value = turn.value &+ 1
        }
        turn.wakeAll()
    }

    /// Sleeps until `body` returns something.
    private func wait<Result: Sendable>(until body: (inout State) -> Result?) -> Result {
        while true {
            let seen = turn.value
            if let result = state.withLock({ body(&$0) }) { return result }
            turn.wait(while: seen)
        }
    }
}
