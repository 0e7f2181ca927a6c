import CambiumGraph
internal import CambiumLog
import CambiumModel

/// The one way from a log to a graph.
struct Replay {
    let timeline: Timeline
    private(set) var transactionCount = 0

    /// Applies every transaction up to `last`, or all of them, and returns how the log ends.
    ///
    /// `observe` sees every transaction, those behind the point too. Throws `.damaged` where the log is corrupt or a transaction
    /// cannot be applied. Complexity: O(log).
    mutating func run(
        _ reader: LogReader, makesDurable: Bool = false, until isPast: (LogRecord) -> Bool = { _ in false },
        observe: (LogRecord) throws -> Void = { _ in }
    ) throws -> LogReader.End {
        var draft = timeline.draft()
        // A log without transactions comes to the graph before the first one.
        draft.beginReplayed(0)
        var isStopped = false
        let end = try reader.scan(makesDurable: makesDurable) { record in
            try observe(record)
            if isStopped || isPast(record) {
                isStopped = true
                return
            }
            try draft.replay(record)
            transactionCount += 1
        }
        try timeline.publish(draft)
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
