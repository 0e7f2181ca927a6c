internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel

/// Replays the log for an observer that is so slow that the store no longer keeps the versions that the observer needs next.
///
/// Each call to `read` replays a limited number of transactions. All versions are in one separate page space, so that consecutive versions
/// share pages.
final class CatchUp: Sendable {
    private struct State {
        var view: EarlierView?
        /// The version after the last transaction that the observer has received.
        var before: Graph
        /// The versions after `before` that have already been replayed, in reverse order.
        var upcoming: [(graph: Graph, metadata: TransactionMetadata)] = []
    }

    private let volume: any Volume
    /// The id of the store.
    private let store: [UInt8]
    private let budget: MemoryBudget
    private let state: Guarded<State>

    /// The maximum number of transactions that one call to `read` replays.
    private static let countMax = 256
    /// A call to `read` ends once it has replayed at least this number of bytes of the log.
    private static let logByteCountMax = 1 << 20
    /// A call to `read` ends once the pages that later versions have replaced take at least this number of bytes.
    private static let pinnedByteCountMax = 16 << 20

    /// Replays the log up to a transaction. `read` continues from there. Waits for the disk.
    ///
    /// Throws `.notFound` if the log no longer leads to the transaction, or if another store has taken the place of the store. Throws
    /// `.corrupted` if the log is corrupt. Throws `CancellationError` between two transactions if the observer was cancelled.
    ///
    /// - Parameter store: the id of the store.
    init(
        _ volume: any Volume, of store: [UInt8], after number: TransactionNumber, budget: MemoryBudget, _ cancellation: Cancellation
    ) throws {
        (self.volume, self.store, self.budget) = (volume, store, budget)
        let view = try Self.view(volume, of: store, at: number, budget, cancellation)
        state = Guarded(State(view: view, before: view.graph))
    }

    /// Returns the graph after a transaction as a view, from which the replay can continue. If `number` is `.none`, the graph is the one
    /// before the first transaction. Throws as the initializer does.
    static func view(
        _ volume: any Volume, of store: [UInt8], at number: TransactionNumber, _ budget: MemoryBudget, _ cancellation: Cancellation
    ) throws -> EarlierView {
        let reader = try Self.reader(volume, of: store)
        if number == .none { return try EarlierView(beforeFirst: reader, memory: budget) }
        return try EarlierView(reader, at: EarlierMoment(number: number), memory: budget) { try cancellation.check() }
    }

    /// Opens the log of the store. Throws `.notFound` if another store has taken the place of the store. An observer must not receive the
    /// transactions of the other store.
    private static func reader(_ volume: any Volume, of store: [UInt8]) throws(CambiumError) -> LogReader {
        let reader = try LogReader(volume)
        try reader.check(isOf: store)
        return reader
    }

    /// Returns the next replayed transaction with the graphs before and after it, or `nil` if no further transaction has been replayed.
    /// Never waits for the disk.
    func next() -> RecentVersions.Step? {
        state.withLock { state in
            guard let next = state.upcoming.popLast() else { return nil }
            defer { state.before = next.graph }
            return RecentVersions.Step(before: state.before, after: next.graph, metadata: next.metadata)
        }
    }

    /// Replays the next transactions, up to `last` or up to a limit. Waits for the disk. Throws as the initializer does.
    func read(upTo last: TransactionNumber, _ cancellation: Cancellation) throws {
        try state.withLock { state in
            do {
                try read(&state, upTo: last, cancellation)
            } catch let error as CambiumError where error.code == .notFound && state.upcoming.isEmpty {
                // A compaction may have replaced the part of the log before the observer's position with a checkpoint. The new view begins
                // with that checkpoint.
                let view = try Self.view(volume, of: store, at: state.before.transaction, budget, cancellation)
                (state.view, state.before) = (view, view.graph)
                try read(&state, upTo: last, cancellation)
            }
        }
    }

    private func read(_ state: inout State, upTo last: TransactionNumber, _ cancellation: Cancellation) throws {
        guard var view = state.view else { return }
        let reader = try Self.reader(volume, of: store)
        state.view = nil
        var (read, byteCount): ([(graph: Graph, metadata: TransactionMetadata)], Int) = ([], 0)
        let timeline = view.timeline
        try view.advance(reader, stepwiseTo: last) { graph, record in
            try cancellation.check()
            read.append((graph, record.metadata))
            byteCount += record.byteCount
            return read.count < Self.countMax && byteCount < Self.logByteCountMax
                && timeline.totals.pinnedByteCount < Self.pinnedByteCountMax
        }
        state.upcoming = read.reversed()
        state.view = view
    }
}
