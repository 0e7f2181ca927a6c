internal import CambiumBytes
public import CambiumGraph
package import CambiumLog
import CambiumModel

/// The graphs of a store as they were, read beside whoever writes to it. Any thread.
///
///     let past = PastGraphs(of: "notes")
///     let before = try past.graph(at: .transaction(TransactionNumber(rawValue: 41)))
///     let after = try past.graph(at: .transaction(TransactionNumber(rawValue: 42)))  // replays one transaction
///
/// The last few moments that were asked for are gone on from where a later one is asked for. Docs/CHECKPOINTS.md.
public final class PastGraphs: Sendable {
    private let volume: any Volume
    private let viewCountMax: Int
    private let byteCountMax: Int
    private let budget: MemoryBudget
    private let state = Guarded(State())

    private struct State {
        /// Those that nobody works with, the one that was used longest ago first.
        var views: [PastView] = []
        /// How often all were let go of.
        var forgottenCount = 0
        var replayedCount = 0
    }

    /// Reads nothing yet.
    ///
    /// - Parameters:
    ///   - viewCountMax: how many moments are gone on from.
    ///   - byteCountMax: the most memory that they may hold beside pages that are mapped.
    ///   - budget: what that counts against.
    public convenience init(
        of path: String, viewCountMax: Int = 4, byteCountMax: Int = 256 << 20, budget: MemoryBudget = .standard
    ) {
        self.init(SystemVolume(root: path), viewCountMax: viewCountMax, byteCountMax: byteCountMax, budget: budget)
    }

    package init(
        _ volume: any Volume, viewCountMax: Int = 4, byteCountMax: Int = 256 << 20, budget: MemoryBudget = .standard
    ) {
        self.budget = budget
        self.volume = volume
        self.viewCountMax = viewCountMax
        self.byteCountMax = byteCountMax
    }

    /// The graph as it was at a moment. It stays what it is as long as somebody has it, whatever becomes of the store.
    ///
    /// What is shown is durable: the log is synced first. Throws `.notFound` where there is no store or no such moment, or what led to it
    /// was retired, even if it was shown before; `.damaged` where the log up to there is corrupt. Complexity: O(log between the moment and
    /// the checkpoint or the kept moment before it).
    public func graph(at point: Point) throws -> Graph {
        try graph(at: PastMoment(point) { try ReadOnlyStore(volume).graph.labels })
    }

    /// Lets go of all that is kept: memory, and the roots that it holds.
    public func forget() {
        state.withLock { state in
            state.views = []
            state.forgottenCount += 1
        }
    }

    /// How many moments are kept, and the memory that they hold beside pages that are mapped, in bytes.
    public var memory: (viewCount: Int, byteCount: Int) {
        state.withLock { state in (state.views.count, state.views.reduce(0) { $0 + $1.byteCount }) }
    }

    /// Transactions that were replayed for all that was asked.
    var replayedCount: Int { state.withLock { $0.replayedCount } }

    func graph(at moment: PastMoment) throws -> Graph {
        let reader = try LogReader(volume)
        let forgottenCount = state.withLock { $0.forgottenCount }
        if var view = take(notAfter: moment) {
            let countBefore = view.transactionCount
            if try StoredGraph.isThereOne(reader, notAfter: moment, behind: view.graph.transaction) {
                keep(view, replayedCount: 0, forgottenCount)
            } else if try advance(&view, reader, moment) {
                return keep(view, replayedCount: view.transactionCount - countBefore, forgottenCount)
            }
        }
        let view = try PastView(reader, at: moment, memory: budget)
        return keep(view, replayedCount: view.transactionCount, forgottenCount)
    }

    /// False where what leads from a kept view to a moment was retired since, or the moment itself was.
    private func advance(_ view: inout PastView, _ reader: LogReader, _ moment: PastMoment) throws -> Bool {
        do {
            try view.advance(reader, to: moment)
            return try !reader.isRetired(view.graph.transaction)
        } catch let error as CambiumError where error.code == .notFound {
            return false
        }
    }

    /// The kept view from which a moment is reached soonest. Nobody else has it until it is kept again.
    private func take(notAfter moment: PastMoment) -> PastView? {
        state.withLock { state in
            let views = state.views.indices.filter { moment.has(state.views[$0].graph.transaction, state.views[$0].time) }
            let nearest = views.max { state.views[$0].graph.transaction < state.views[$1].graph.transaction }
            return nearest.map { state.views.remove(at: $0) }
        }
    }

    @discardableResult
    private func keep(_ view: PastView, replayedCount: Int, _ forgottenCount: Int) -> Graph {
        state.withLock { state in
            state.replayedCount += replayedCount
            // Who lets go of all means those that somebody worked with too.
            guard state.forgottenCount == forgottenCount else { return }
            state.views.append(view)
            var byteCount = state.views.reduce(0) { $0 + $1.byteCount }
            while state.views.count > viewCountMax || byteCount > byteCountMax, !state.views.isEmpty {
                byteCount -= state.views.removeFirst().byteCount
            }
        }
        return view.graph
    }
}

extension Store {
    /// The graph as it was at a moment that is no later than the newest graph. The last moments that were asked for are gone on from.
    ///
    ///     let yesterday = try store.graph(at: .time(Timestamp(Date.now) - .seconds(86_400)))
    ///
    /// Writers and readers go on meanwhile. Throws `.notFound` where there is no such moment, or what led to it was retired, even if it was
    /// shown before; `.invalidInput` for a moment of the past of a store in memory, which has none; `.damaged` where the log up to there is
    /// corrupt. Complexity: O(log between the moment and the checkpoint or the kept moment before it).
    public func graph(at point: Point) throws -> Graph {
        let newest = graph
        if point == .latest { return newest }
        var moment = try PastMoment(point) { newest.labels }
        if moment.number == newest.transaction { return newest }
        guard let past else { throw CambiumError(.invalidInput, "A store in memory has no past.") }
        if let number = moment.number { try moment.check(newest.transaction, isLogRead: number > newest.transaction) }
        // What is behind it may be taken back.
        moment.number = moment.number ?? newest.transaction
        return try past.graph(at: moment)
    }

    /// The moments of the past that are kept; nil for a store in memory.
    public var past: PastGraphs? { committer.past }
}
