public import CambiumGraph
internal import CambiumLog
public import CambiumModel
import Glibc

/// A transaction with the graphs before and after it.
///
/// ```swift
/// var transactions = try trail.transactions()
/// while let step = try transactions.next() { print(step.entry.number, step.changes.count) }
/// ```
public struct TransactionStep: Sendable {
    /// The number, the time and the author of the transaction.
    public let entry: TransactionLog.Entry
    /// The graph before the transaction.
    public let before: Graph
    /// The graph after the transaction.
    public let after: Graph

    /// The effects of the transaction. Each use compares the graphs. Complexity: that of `Graph.changes(since:)`.
    public var changes: Changes { after.changes(since: before) }
}

/// Reads the transactions of a store one by one, in order, each with the graphs before and after it.
///
/// A cursor has the position at which it continues, and no lock: a compaction may retire the transactions that follow. The cursor replays a
/// limited number of transactions at a time. It keeps only their graphs.
///
/// ```swift
/// var transactions = try trail.transactions(from: TransactionNumber(rawValue: 100))
/// while let step = try transactions.next() {
///     for object in step.changes { print(step.entry.number, object.kind, object.id) }
/// }
/// ```
public struct TransactionCursor: ~Copyable {
    private let trail: AuditTrail
    /// The last transaction that `next` returned, or the one before the first.
    public private(set) var position: TransactionNumber
    /// The last transaction to return.
    private var last: TransactionNumber
    private var view: EarlierView?
    /// The graph after `position`; `nil` if it must be read again.
    private var before: Graph?
    /// The versions after `before` that were already replayed, in reverse order.
    private var upcoming: [(graph: Graph, record: LogRecord)] = []

    /// The maximum number of transactions that are replayed at a time.
    private static let countMax = 256
    /// The replay pauses after at least this number of bytes of the log.
    private static let logByteCountMax = 1 << 20
    /// The replay pauses once the pages that later versions have replaced take at least this number of bytes.
    private static let pinnedByteCountMax = 16 << 20
    /// If at least this number of checkpoints is newer than the checkpoint in use, the cursor moves to a newer one.
    private static let newerCountMin = 2

    init(_ trail: AuditTrail, after position: TransactionNumber, through last: TransactionNumber) {
        (self.trail, self.position, self.last) = (trail, position, last)
    }

    /// Returns the next transaction, or `nil` after the last one.
    ///
    /// Throws `.expired` if a compaction has retired the transaction in the meantime. The underlying error is a `RetiredTransactions`.
    /// Throws `.corrupted` if the log is corrupt, and `.ioFailure` if it cannot be read. After an error, the next call tries again.
    /// Complexity: O(bytes of the transaction). The first call also replays the log between a checkpoint and the first transaction.
    public mutating func next() throws -> TransactionStep? {
        if position >= last { return nil }
        if upcoming.isEmpty { try read() }
        guard let before, let next = upcoming.popLast() else { return nil }
        position = next.record.number
        self.before = next.graph
        return TransactionStep(entry: TransactionLog.Entry(next.record), before: before, after: next.graph)
    }

    /// Lets the cursor continue up to a later transaction, which must exist.
    mutating func extend(through number: TransactionNumber) { last = max(last, number) }

    private mutating func read() throws {
        do {
            try readLog()
        } catch let error as CambiumError where error.code == .notFound {
            // A compaction may have replaced the part of the log before the position with a checkpoint.
            do {
                try readLog()
            } catch let later as CambiumError where later.code == .notFound {
                let oldest = try trail.oldest()
                throw position.next < oldest ? trail.gone(position.next, oldest: oldest) : error
            }
        }
    }

    private mutating func readLog() throws {
        let reader = try LogReader(trail.volume)
        var view: EarlierView
        if let own = self.view, try !isOutdated(own) {
            view = own
        } else {
            view =
                position == .none
                ? try EarlierView(beforeFirst: reader, memory: trail.memory)
                : try EarlierView(reader, at: EarlierMoment(number: position), memory: trail.memory)
        }
        // After an error, the view can no longer be used.
        self.view = nil
        before = view.graph
        var (read, byteCount): ([(graph: Graph, record: LogRecord)], Int) = ([], 0)
        let timeline = view.timeline
        try view.advance(reader, stepwiseTo: last) { graph, record in
            read.append((graph, record))
            byteCount += record.byteCount
            return read.count < Self.countMax && byteCount < Self.logByteCountMax
                && timeline.totals.pinnedByteCount < Self.pinnedByteCountMax
        }
        upcoming = read.reversed()
        self.view = view
    }

    /// Returns whether a view keeps an old checkpoint in use, although newer ones contain its position. A cursor that follows a store for
    /// a long time would otherwise keep the files of that checkpoint.
    private func isOutdated(_ view: EarlierView) throws -> Bool {
        try CheckpointRecord.list(trail.volume).count { $0 > view.origin.transaction && $0 <= position } >= Self.newerCountMin
    }
}

extension AuditTrail {
    /// Returns a cursor over the transactions from one number to another. The cursor replays nothing before its first use.
    ///
    /// ```swift
    /// var transactions = try trail.transactions(from: TransactionNumber(rawValue: stored.rawValue + 1))
    /// while let step = try transactions.next() { stored = step.entry.number }
    /// ```
    ///
    /// A consumer that stores the number of the last transaction continues with the following number. Nothing keeps the log for a consumer.
    /// Throws `.expired` if the changes of `first` were retired; the underlying error is a `RetiredTransactions`. Throws `.notFound` if
    /// `last` does not exist, or if `first` is greater than the number that the next transaction will get. Complexity: that of `newest()`.
    ///
    /// - Parameters:
    ///   - first: The number of the first transaction to return.
    ///   - last: The number of the last transaction to return; `nil` for the newest one at the time of the call.
    public func transactions(
        from first: TransactionNumber = TransactionNumber(rawValue: 1), through last: TransactionNumber? = nil
    ) throws -> TransactionCursor {
        let newest = try newest()
        if let last, last > newest { throw Self.missing(last, newest) }
        let first = max(Self.first, first)
        let oldest = try oldest()
        if first < oldest { throw gone(first, oldest: oldest) }
        if first > newest.next { throw Self.missing(first, newest) }
        return TransactionCursor(self, after: TransactionNumber(rawValue: first.rawValue - 1), through: last ?? newest)
    }

    /// Returns all objects before a transaction as the changes of the preceding transaction; `nil` if no transaction precedes it. Throws as
    /// `transactions(from:through:)` does. Complexity: that of `graph(at:)`.
    package func snapshot(before number: TransactionNumber) throws -> TransactionStep? {
        let last = try transactions(from: number).position
        guard last != .none, let entry = try TransactionLog(volume).entry(last) else { return nil }
        return TransactionStep(entry: entry, before: try graph(after: .none), after: try graph(after: last))
    }

    /// Calls `body` with each transaction from `first` on, and then with each transaction that another process commits.
    ///
    /// Each transaction is passed to `body` once it is durable. The call returns when `body` returns `false`. The thread sleeps between two
    /// reads of the log, so call this method on a dedicated thread. Throws as `transactions(from:through:)` and `TransactionCursor.next()`
    /// do.
    ///
    /// - Parameters:
    ///   - first: The number of the first transaction to pass to `body`.
    ///   - interval: The time between two reads of the log. A time below a millisecond counts as a millisecond.
    ///   - body: Receives a transaction, and returns whether to continue.
    public func follow(
        from first: TransactionNumber = TransactionNumber(rawValue: 1), every interval: Duration = .milliseconds(50),
        _ body: (TransactionStep) throws -> Bool
    ) throws {
        try follow(from: first, pause: { usleep(UInt32(clamping: interval.microsecondsBetweenReads)) }, body)
    }

    /// Does the same as `follow(from:every:_:)`, but calls `pause` between two reads of the log. Throws the errors of `pause`, too.
    package func follow(
        from first: TransactionNumber, pause: () throws -> Void, _ body: (TransactionStep) throws -> Bool
    ) throws {
        var cursor = try transactions(from: first)
        while let step = try cursor.next() { if try !body(step) { return } }
        try TransactionLog(volume).follow(from: cursor.position.next, pause: pause) { entry in
            cursor.extend(through: entry.number)
            while let step = try cursor.next() { if try !body(step) { return false } }
            return true
        }
    }
}
