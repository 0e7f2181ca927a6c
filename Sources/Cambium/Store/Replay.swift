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
    /// Of the last transaction.
    private(set) var lastTime: Timestamp
    /// Where the log is read on.
    private var place: SegmentPlace?

    /// Begins with a stored graph, or before the first transaction.
    init(_ stored: StoredGraph) throws(CambiumError) {
        try stored.completePages()
        timeline = stored.timeline
        base = stored.pages.map { LogReader.Prefix($0.root) }
        lastTime = stored.pages.map { Timestamp(microsecondsSince1970: $0.root.time) } ?? .min
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
        let end = try reader.scanAhead(after: base, makesDurable: makesDurable) { record in
            try observe(record)
            if isStopped || isPast(record) {
                isStopped = true
                return
            }
            try draft.replay(record)
            transactionCount += 1
        }
        try check(end, isAtLeast: first)
        if transactionCount > 0 || base == nil { try timeline.publish(draft) }
        return end
    }

    /// Applies the transactions up to a moment, beside who writes, and reads no further. May go on to later moments.
    ///
    /// Throws as the other one. Complexity: O(log up to the moment).
    ///
    /// - Returns: how the log ends, where it was read up to there.
    mutating func run(_ reader: LogReader, to moment: PastMoment) throws -> LogReader.End? {
        struct Reached: Error {}
        let first = timeline.head.transaction
        if moment.number == first { return nil }
        var draft = timeline.draft()
        draft.beginReplayed(first.rawValue)
        var count = 0
        var end: LogReader.End?
        do {
            let base = transactionCount == 0 ? base : nil
            end = try reader.scan(from: first.next, after: base, makesDurable: true, at: &place) { record in
                if moment.isBefore(record) { throw Reached() }
                try draft.replay(record)
                count += 1
                lastTime = record.metadata.time
                if record.number == moment.number { throw Reached() }
            }
        } catch is Reached {}  // What is behind is of no concern.
        if let end { try check(end, isAtLeast: first) }
        if count > 0 { try timeline.publish(draft) }
        transactionCount += count
        return end
    }

    private func check(_ end: LogReader.End, isAtLeast first: TransactionNumber) throws(CambiumError) {
        guard end.lastTransaction < first else { return }
        throw CambiumError(
            .damaged,
            "A checkpoint has transaction \(first), and the log ends with \(end.lastTransaction): it has lost what was durable.",
            place: .init(file: LogReader.directory))
    }
}

extension Draft {
    /// Applies a transaction of a log. Throws `.damaged` where it cannot be applied.
    ///
    /// - Parameter observe: sees each op that was applied.
    mutating func replay(_ record: LogRecord, observe: (Op) -> Void = { _ in }) throws {
        beginReplayed(record.number.rawValue)
        var count = 0
        try OpDecoding.forEachOp(of: record) { op in
            count += 1
            do throws(CambiumError) {
                try apply(op)
                observe(op)
            } catch {
                let message = "Transaction \(record.number) cannot be applied, because of its op \(count): \(error.message)"
                throw CambiumError(.damaged, message, place: .init(file: record.file), underlying: error)
            }
        }
        if let request = record.metadata.requestID { try note(request, record.metadata.requestDigest) }
    }
}
