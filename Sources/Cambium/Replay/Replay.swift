import CambiumGraph
internal import CambiumLog
import CambiumModel

/// The only way to make a graph from a log.
struct Replay {
    let timeline: Timeline
    /// The part of the log that the stored graph stands for; `nil` if the replay begins before the first transaction.
    private let base: LogPrefix?
    /// The number of transactions that were applied.
    private(set) var transactionCount = 0
    /// The time of the last transaction.
    private(set) var lastTime: Timestamp
    /// The place in the log at which reading continues; `nil` if it is not known.
    private var place: SegmentPlace?

    /// Begins with a stored graph, or before the first transaction.
    init(_ stored: StoredGraph) throws(CambiumError) {
        try stored.completePages()
        timeline = stored.timeline
        base = stored.pages.map { LogPrefix($0.root) }
        lastTime = stored.pages.map { Timestamp(microsecondsSince1970: $0.root.time) } ?? .min
    }

    /// Applies every transaction up to a point, or all of them, and returns the end of the log.
    ///
    /// Throws `.damaged` if the log is corrupt or a transaction cannot be applied. Complexity: O(log).
    ///
    /// - Parameters:
    ///   - isEarlier: whether a transaction is after the point. No later transaction is applied then.
    ///   - observe: receives every transaction, including those after the point.
    mutating func run(
        _ reader: LogReader, makesDurable: Bool = false, until isEarlier: (LogRecord) -> Bool = { _ in false },
        observe: (LogRecord) throws -> Void = { _ in }
    ) throws -> LogReader.End {
        var draft = timeline.draft()
        // The result of a log without transactions is the graph before the first one.
        let first = timeline.head.transaction
        draft.beginReplayed(first.rawValue)
        var isStopped = false
        let end = try reader.scanAhead(after: base, makesDurable: makesDurable) { record in
            try observe(record)
            if isStopped || isEarlier(record) {
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

    /// Applies the transactions up to a moment while another process may write, and reads no further. A later call can continue to a later
    /// moment.
    ///
    /// Throws as the other `run` does. Complexity: O(log up to the moment).
    ///
    /// - Returns: the end of the log; `nil` if the log was not read to its end.
    mutating func run(_ reader: LogReader, to moment: EarlierMoment) throws -> LogReader.End? {
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
        } catch is Reached {}  // Transactions after the moment do not matter.
        if let end { try check(end, isAtLeast: first) }
        if count > 0 { try timeline.publish(draft) }
        transactionCount += count
        return end
    }

    private func check(_ end: LogReader.End, isAtLeast first: TransactionNumber) throws(CambiumError) {
        guard end.lastTransaction < first else { return }
        throw CambiumError(
            .damaged,
            "A checkpoint has transaction \(first), but the log ends with \(end.lastTransaction): durable transactions are lost.",
            place: .init(file: LogDirectory.name))
    }
}

extension Draft {
    /// Applies a transaction of a log. Throws `.damaged` if it cannot be applied.
    ///
    /// - Parameter observe: receives each op that was applied.
    mutating func replay(_ record: LogRecord, observe: (Op) -> Void = { _ in }) throws {
        beginReplayed(record.number.rawValue)
        var count = 0
        try OpDecoding.forEachOp(of: record) { op in
            count += 1
            do throws(CambiumError) {
                try apply(op)
                observe(op)
            } catch {
                let message = "Transaction \(record.number) cannot be applied because of op \(count): \(error.message)"
                throw CambiumError(.damaged, message, place: .init(file: record.file), underlying: error)
            }
        }
        if let request = record.metadata.requestID { try note(request, record.metadata.requestDigest) }
    }
}
