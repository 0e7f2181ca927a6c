internal import CambiumBytes
package import CambiumGraph
package import CambiumLog
import CambiumModel

/// The graphs of a store at earlier moments, read while another process may be writing to the store. Any thread may use this object.
///
///     let past = EarlierGraphs(of: "notes")
///     let before = try past.graph(at: .transaction(TransactionNumber(rawValue: 41)))
///     let after = try past.graph(at: .transaction(TransactionNumber(rawValue: 42)))  // replays one transaction
///
/// The graphs of the last few requests are kept. A replay continues from the latest of these graphs that is not after the requested moment.
/// See Docs/Formats/CHECKPOINTS.md.
package final class EarlierGraphs: Sendable {
    package let volume: any Volume
    private let viewCountMax: Int
    private let byteCountMax: Int
    package let budget: MemoryBudget
    private let state: Guarded<State>

    private struct State {
        /// The views (graphs at earlier moments) that are kept for later requests. No thread is using them. The least recently used view
        /// comes first.
        var views: [EarlierView] = []
        /// The number of times that all views were released.
        var forgottenCount = 0
        /// Whether the store was closed. If so, views are no longer kept.
        var isEnded = false
        var replayedCount = 0
        /// The id of the store that is read; `nil` before the first read.
        var store: [UInt8]?
        /// The touches that were asked for last.
        var touches: (range: ClosedRange<TransactionNumber>, set: TouchSet)?
    }

    /// Creates an object that has read nothing yet.
    ///
    /// - Parameters:
    ///   - viewCountMax: the maximum number of moments that are kept.
    ///   - byteCountMax: the maximum number of bytes of memory that the kept moments may hold, not counting mapped pages.
    ///   - budget: the budget for the memory of the graphs.
    package convenience init(
        of path: String, viewCountMax: Int = 4, byteCountMax: Int = 256 << 20, budget: MemoryBudget = .standard
    ) {
        self.init(SystemVolume(root: path), viewCountMax: viewCountMax, byteCountMax: byteCountMax, budget: budget)
    }

    /// - Parameter store: the id of the store; `nil` for the store that the first call finds.
    package init(
        _ volume: any Volume, store: [UInt8]? = nil, viewCountMax: Int = 4, byteCountMax: Int = 256 << 20,
        budget: MemoryBudget = .standard
    ) {
        state = Guarded(State(store: store))
        self.budget = budget
        self.volume = volume
        self.viewCountMax = viewCountMax
        self.byteCountMax = byteCountMax
    }

    /// Returns the graph at a moment. The graph stays unchanged as long as any code holds it, even if the store changes.
    ///
    /// The graph is durable, because the log is synced before it is read. Throws `.notFound` if there is no store or no such moment, or if
    /// another store has taken the place of the store. Also throws `.notFound` if the transactions that lead to the moment were retired,
    /// even if the graph was returned earlier. Throws `.corrupted` if the log up to the moment is corrupt. Complexity: O(bytes of the log
    /// between the moment and the preceding checkpoint or kept moment).
    package func graph(at point: Point) throws -> Graph {
        try graph(at: EarlierMoment(point) { try EarlierView.labels(volume, memory: budget) })
    }

    /// Releases everything that is kept: the memory, and the checkpoints that the kept moments use.
    package func forget() { release { $0.forgottenCount += 1 } }

    /// Releases everything that is kept, and keeps nothing from now on. Call this method when the store is closed: a program may hold the
    /// closed store for a long time, and other processes cannot drop a checkpoint that a kept graph uses.
    func end() { release { $0.isEnded = true } }

    private func release(_ change: (inout State) -> Void) {
        let released = state.withLock { state in
            change(&state)
            state.touches = nil
            defer { state.views = [] }
            return state.views
        }
        // The views are released outside of the lock, because their release may free many pages.
        _ = consume released
    }

    /// The number of kept moments, and the number of bytes of memory that they hold, not counting mapped pages.
    package var memory: (viewCount: Int, byteCount: Int) {
        state.withLock { state in (state.views.count, state.views.reduce(0) { $0 + $1.byteCount }) }
    }

    /// The number of transactions that all calls for graphs have replayed.
    var replayedCount: Int { state.withLock { $0.replayedCount } }

    package func graph(at moment: EarlierMoment) throws -> Graph {
        let reader = try LogReader(volume)
        try check(reader)
        let forgottenCount = state.withLock { $0.forgottenCount }
        let (view, countBefore) = try view(at: moment, reader, forgottenCount)
        return keep(view, replayedCount: view.transactionCount - countBefore, forgottenCount)
    }

    /// A transaction with the graphs before and after it, which share all pages that the transaction did not change.
    package typealias Step = (before: Graph, after: Graph, record: LogRecord)

    /// Returns transactions with the graphs before and after them.
    ///
    /// Throws as `graph(at:)` does. Also throws `.corrupted` if the log ends before one of the transactions. Complexity: that of
    /// `graph(at:)` for the last transaction, if no checkpoint lies between the first and the last one.
    ///
    /// - Parameter numbers: at least one number, in ascending order.
    package func steps(_ numbers: [TransactionNumber]) throws -> [Step] {
        let reader = try LogReader(volume)
        try check(reader)
        let forgottenCount = state.withLock { $0.forgottenCount }
        var (view, countBefore) =
            numbers[0].rawValue == 1
            ? (try EarlierView(beforeFirst: reader, memory: budget), 0)
            : try view(at: EarlierMoment(number: TransactionNumber(rawValue: numbers[0].rawValue - 1)), reader, forgottenCount)
        var steps: [Step] = []
        for number in numbers {
            if view.graph.transaction.next < number {
                try view.advance(reader, to: EarlierMoment(number: TransactionNumber(rawValue: number.rawValue - 1)))
            }
            let before = view.graph
            var found: LogRecord?
            try view.advance(reader, stepwiseTo: number) { _, record in
                found = record
                return false
            }
            guard let found else { preconditionFailure("A view that was advanced must have read a transaction.") }
            steps.append((before, view.graph, found))
        }
        keep(view, replayedCount: view.transactionCount - countBefore, forgottenCount)
        return steps
    }

    /// Returns the objects that each transaction of a range may have changed, and possibly also those of later transactions.
    ///
    /// The touches are kept. If a later range begins with the same transaction, only the transactions after the known ones are replayed.
    /// Throws as `graph(at:)` does. Throws `.limitExceeded` if too many objects were changed. Complexity: O(bytes of the log of the
    /// transactions that are not known, and from the checkpoint before them).
    package func touches(_ range: ClosedRange<TransactionNumber>) throws -> (range: ClosedRange<TransactionNumber>, set: TouchSet) {
        var (known, forgottenCount) = state.withLock { ($0.touches, $0.forgottenCount) }
        if known?.range.lowerBound != range.lowerBound { known = nil }
        if let known, known.range.upperBound >= range.upperBound { return known }
        let reader = try LogReader(volume)
        try check(reader)
        let start = known?.range.upperBound ?? TransactionNumber(rawValue: range.lowerBound.rawValue - 1)
        var set = known?.set ?? TouchSet()
        var view =
            try start == .none
            ? EarlierView(beforeFirst: reader, memory: budget) : view(at: EarlierMoment(number: start), reader, forgottenCount).view
        try view.advance(reader, notingObjectsThrough: range.upperBound) { number, touches, changesSchema in
            set.track(touches, number, changesSchema: changesSchema)
            if set.entryCount > Self.touchCountMax { throw CambiumError(.limitExceeded, "Too many objects were changed.") }
        }
        keep(view, replayedCount: 0, forgottenCount)
        let found = (range: range, set: set)
        state.withLock { if $0.forgottenCount == forgottenCount, !$0.isEnded { $0.touches = found } }
        return found
    }

    /// The maximum number of touches and runs of touches in memory, each of which takes at most 32 bytes.
    private static let touchCountMax = 1 << 20

    /// Returns a view of a moment that no other thread uses, and the number of transactions that it had replayed before this call.
    private func view(
        at moment: EarlierMoment, _ reader: LogReader, _ forgottenCount: Int
    ) throws -> (view: EarlierView, countBefore: Int) {
        if var view = take(notAfter: moment) {
            let countBefore = view.transactionCount
            if try LoadedCheckpoint.hasCheckpoint(reader, notAfter: moment, after: view.graph.transaction) {
                keep(view, replayedCount: 0, forgottenCount)
            } else if try advance(&view, reader, moment) {
                return (view, countBefore)
            }
        }
        return (try EarlierView(reader, at: moment, memory: budget), 0)
    }

    /// Returns the graph before each range of transactions, and the graph after it, in order. The ranges must ascend, and none of them may
    /// begin with transaction 1. The two graphs of a range share all pages that did not change.
    ///
    /// Throws as `graph(at:)` does. Complexity: O(bytes of the log from the checkpoint or kept moment before the first range to the last
    /// range). Later checkpoints shorten this.
    package func pairs(around ranges: [ClosedRange<TransactionNumber>]) throws -> [(before: Graph, after: Graph)] {
        let reader = try LogReader(volume)
        try check(reader)
        let forgottenCount = state.withLock { $0.forgottenCount }
        var view: EarlierView?
        var replayedCount = 0
        var pairs: [(before: Graph, after: Graph)] = []
        for range in ranges {
            let start = EarlierMoment(number: TransactionNumber(rawValue: range.lowerBound.rawValue - 1))
            var own = try pairBeginning(view ?? take(notAfter: start), reader, start, &replayedCount)
            let (before, countBefore) = (own.graph, own.transactionCount)
            try own.advance(reader, to: EarlierMoment(number: range.upperBound))
            replayedCount += own.transactionCount - countBefore
            pairs.append((before, own.graph))
            view = own
        }
        if let view { keep(view, replayedCount: replayedCount, forgottenCount) }
        return pairs
    }

    /// Returns a view of a moment: the given view if it can advance to the moment and no checkpoint is nearer, otherwise a new one.
    private func pairBeginning(
        _ kept: EarlierView?, _ reader: LogReader, _ moment: EarlierMoment, _ replayedCount: inout Int
    ) throws -> EarlierView {
        if var view = kept, try !LoadedCheckpoint.hasCheckpoint(reader, notAfter: moment, after: view.graph.transaction) {
            let countBefore = view.transactionCount
            if try view.graph.transaction == moment.number || advance(&view, reader, moment) {
                replayedCount += view.transactionCount - countBefore
                return view
            }
        }
        let view = try EarlierView(reader, at: moment, memory: budget)
        replayedCount += view.transactionCount
        return view
    }

    /// Throws `.notFound` if another store has taken the place of the store. The transactions of the other store do not fit the kept
    /// views.
    private func check(_ reader: LogReader) throws(CambiumError) {
        let store = state.withLock { state -> [UInt8] in
            let store = state.store ?? reader.settings.store
            state.store = store
            return store
        }
        try reader.check(isOf: store)
    }

    /// Advances a view to a moment. Returns `false` if the moment or the transactions that lead to it were retired in the meantime.
    private func advance(_ view: inout EarlierView, _ reader: LogReader, _ moment: EarlierMoment) throws -> Bool {
        do {
            try view.advance(reader, to: moment)
            return try !reader.isRetired(view.graph.transaction)
        } catch let error as CambiumError where error.code == .notFound {
            return false
        }
    }

    /// Removes and returns the latest kept view (the graph at an earlier moment) that is not after `moment`. No other thread uses the view
    /// until `keep` adds it again.
    private func take(notAfter moment: EarlierMoment) -> EarlierView? {
        state.withLock { state in
            let views = state.views.indices.filter { moment.has(state.views[$0].graph.transaction, state.views[$0].time) }
            let nearest = views.max { state.views[$0].graph.transaction < state.views[$1].graph.transaction }
            return nearest.map { state.views.remove(at: $0) }
        }
    }

    /// Keeps a view (the graph at an earlier moment) for later calls, and returns its graph.
    @discardableResult
    private func keep(_ view: EarlierView, replayedCount: Int, _ forgottenCount: Int) -> Graph {
        // Reads the graph first: as soon as the view is kept, another thread may take it and advance it.
        let graph = view.graph
        let released = state.withLock { state -> [EarlierView] in
            state.replayedCount += replayedCount
            // If `forget` or `end` was called while this thread used the view, the view is released, too.
            guard state.forgottenCount == forgottenCount, !state.isEnded else { return [] }
            state.views.append(view)
            var released: [EarlierView] = []
            var byteCount = state.views.reduce(0) { $0 + $1.byteCount }
            while state.views.count > viewCountMax || byteCount > byteCountMax, !state.views.isEmpty {
                let oldest = state.views.removeFirst()
                byteCount -= oldest.byteCount
                released.append(oldest)
            }
            return released
        }
        _ = consume released
        return graph
    }
}
