import CambiumGraph
import CambiumLog
import CambiumModel

/// The one way from a log to a graph.
struct Replay {
    let timeline: Timeline
    private(set) var transactionCount = 0

    /// Applies every transaction up to `last`, or all of them, and returns how the log ends.
    ///
    /// Throws `.damaged` where the log is corrupt or a transaction cannot be applied. Complexity: O(log).
    mutating func run(
        _ reader: LogReader, until isPast: (LogRecord) -> Bool = { _ in false }, observe: (LogRecord) -> Void = { _ in }
    ) throws -> LogReader.End {
        var draft = timeline.draft()
        var isStopped = false
        let end = try reader.scan { record in
            if isStopped || isPast(record) {
                isStopped = true
                return
            }
            observe(record)
            draft.beginReplayed(record.number.rawValue)
            for op in try record.ops() {
                if case .digest = op {
                    try timeline.publish(draft)
                    draft = timeline.draft()
                    draft.beginReplayed(record.number.rawValue)
                }
                do {
                    try draft.apply(op)
                } catch {
                    let message = "Transaction \(record.number) cannot be applied: \(error.message)"
                    throw CambiumError(.damaged, message, place: .init(file: record.file), underlying: error)
                }
            }
            transactionCount += 1
        }
        try timeline.publish(draft)
        return end
    }
}
