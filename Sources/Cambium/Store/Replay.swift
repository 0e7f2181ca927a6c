import CambiumGraph
internal import CambiumLog
import CambiumModel

/// The one way from a log to a graph.
struct Replay {
    let timeline: Timeline
    /// What the graph stands for before; nil where that is nothing.
    private let base: LogReader.Prefix?
    /// Those that were applied.
    private(set) var transactionCount = 0

    /// Begins before the first transaction.
    init(timeline: Timeline) {
        self.timeline = timeline
        base = nil
    }

    init(_ stored: StoredGraph) {
        timeline = stored.timeline
        base = stored.pages.map { LogReader.Prefix($0.root) }
    }

    /// Applies every transaction up to a point, or all of them, and returns how the log ends.
    ///
    /// `observe` sees every transaction, those behind the point too. Throws `.damaged` where the log is corrupt or a transaction
    /// cannot be applied. Complexity: O(log).
    mutating func run(
        _ reader: LogReader, makesDurable: Bool = false, until isPast: (LogRecord) -> Bool = { _ in false },
        observe: (LogRecord) throws -> Void = { _ in }
    ) throws -> LogReader.End {
        var draft = timeline.draft()
        // A log without transactions comes to the graph before the first one.
        let first = timeline.head.transaction
        draft.beginReplayed(first.rawValue)
        var isStopped = false
        let end = try reader.scan(after: base, makesDurable: makesDurable) { record in
            try observe(record)
            if isStopped || isPast(record) {
                isStopped = true
                return
            }
            try draft.replay(record)
            transactionCount += 1
        }
        guard end.lastTransaction >= first else {
            throw CambiumError(
                .damaged,
                "A checkpoint has transaction \(first), and the log ends with \(end.lastTransaction): it has lost what was durable.",
                place: .init(file: LogReader.directory))
        }
        if transactionCount > 0 || base == nil { try timeline.publish(draft) }
        return end
    }
}

extension Draft {
    /// Applies a transaction of a log. Throws `.damaged` where it cannot be applied.
    ///
    /// - Parameter observe: sees each op that was applied.
    mutating func replay(_ record: LogRecord, observe: (Op) -> Void = { _ in }) throws {
        beginReplayed(record.number.rawValue)
        try record.forEachOp { op in
            do throws(CambiumError) {
                try apply(op)
                observe(op)
            } catch {
                let message = "Transaction \(record.number) cannot be applied: \(error.message)"
                throw CambiumError(.damaged, message, place: .init(file: record.file), underlying: error)
            }
        }
    }
}
