internal import CambiumBytes
public import CambiumGraph
package import CambiumLog
public import CambiumModel
import Glibc

/// The transactions of a store and their effects: each change of an object with its author, its time and the value before it.
///
/// An audit trail only reads. It takes no lock for which a writer waits, and works while another process is writing to the store. Every
/// question is answered from the same source: the difference between the graphs before and after a transaction. So a trail finds effects
/// that no op names, such as cascades, derived attributes and migrations.
///
/// ```swift
/// let trail = AuditTrail(of: "notes")
/// for entry in try trail.history(of: note) { print(entry.transaction, entry.author.actor ?? "-", entry.change) }
/// ```
public struct AuditTrail: Sendable {
    let volume: any Volume
    let past: EarlierGraphs
    let memory: MemoryBudget
    /// Returns the last transaction that readers of an open store see; `nil` if the files of the store determine it.
    private let bound: (@Sendable () -> TransactionNumber)?
    private let end = KnownEnd()

    /// The end of the log when `newest()` last read it.
    private final class KnownEnd: Sendable {
        /// The last transaction, and the position from which reading continues.
        let value = Guarded<(last: TransactionNumber, place: SegmentPlace?)>((.none, nil))
    }

    /// The trail of a store that another process may have open. Reads nothing yet. Complexity: O(1).
    ///
    /// - Parameters:
    ///   - path: The directory of the store.
    ///   - memory: The memory budget for the pages of earlier graphs.
    public init(of path: String, memory: MemoryBudget = .standard) { self.init(SystemVolume(root: path), memory: memory) }

    package init(_ volume: any Volume, memory: MemoryBudget = .standard) {
        self.init(volume, EarlierGraphs(volume, budget: memory), memory, bound: nil)
    }

    /// - Parameter last: the last transaction to read, if a later one is corrupt.
    package init(_ past: EarlierGraphs, through last: TransactionNumber?) {
        var bound: (@Sendable () -> TransactionNumber)?
        if let last { bound = { last } }
        self.init(past.volume, past, past.budget, bound: bound)
    }

    init(_ volume: any Volume, _ past: EarlierGraphs, _ memory: MemoryBudget, bound: (@Sendable () -> TransactionNumber)?) {
        (self.volume, self.past, self.memory, self.bound) = (volume, past, memory, bound)
    }

    // MARK: The range

    static let first = TransactionNumber(rawValue: 1)

    /// Returns the number of the newest transaction. Throws as `TransactionLog.forEach` does.
    ///
    /// Complexity: O(bytes of the log between two joints), and later O(bytes written since the last call).
    public func newest() throws -> TransactionNumber {
        if let bound { return bound() }
        let reader = try LogReader(volume)
        let stored = try reader.newestCheckpoint()
        var known = self.end.value.withLock { $0 }
        let start = max(Self.first, reader.lastDurableTransaction, stored, known.last)
        let end = try reader.scan(from: start, after: nil, makesDurable: true, at: &known.place) { _ in }
        try end.requireTransaction(in: volume)
        try end.requireTransactions(of: stored, in: volume)
        known.last = end.lastTransaction
        self.end.value.withLock { $0 = known }
        return end.lastTransaction
    }

    /// Returns the oldest transaction whose changes can still be read. It is 1 as long as no compaction has retired transactions. It is one
    /// more than `newest()` if all transactions were retired.
    ///
    /// Throws `.notFound` if there is no store, and `.corrupted` or `.ioFailure` if its files cannot be read. Complexity: O(files).
    public func oldest() throws -> TransactionNumber {
        let retiredEnd = try LogReader(volume).retiredEnd()
        if retiredEnd == .none { return Self.first }
        // The state before the first change comes from the oldest checkpoint that contains all retired transactions.
        let base = try CheckpointRecord.list(volume).last { $0 >= retiredEnd }
        return (base ?? retiredEnd).next
    }

    /// Returns the error for a transaction whose changes a compaction retired.
    func gone(_ number: TransactionNumber, oldest: TransactionNumber) -> CambiumError {
        let hint = (try? LogReader(volume).archiveHint()) ?? ""  // The error is complete without the name of the archive.
        return CambiumError(
            .expired,
            "The changes of transaction \(number) are gone, the oldest is \(oldest). Read the state before it, and continue with \(oldest)."
                + hint,
            underlying: RetiredTransactions(oldest: oldest))
    }

    /// Returns the first transaction that is not before a point. Throws as `graph(at:)` does, except that a time before the creation of the
    /// store means transaction 1. Complexity: that of `graph(at:)` for a time or a label, otherwise O(1). For a time
    /// in the retired part of the log, O(transactions before it).
    package func firstTransaction(from point: Point) throws -> TransactionNumber {
        switch point {
        case .latest: return try newest()
        case .transaction(let number): return max(Self.first, number)
        case .label: return try past.graph(at: point).transaction
        case .time(let time):
            do {
                return try past.graph(at: .time(time - .microseconds(1))).transaction.next
            } catch let error as CambiumError where error.code == .notFound {
                // The time is before the first transaction, or in the retired part of the log.
                return try LogReader(volume).retiredEnd() == .none ? Self.first : firstEntry(notBefore: time)
            }
        }
    }

    /// Returns the first transaction that is not before a time, also if its changes were retired. Otherwise a reader who asks for them
    /// would not learn that they are gone.
    private func firstEntry(notBefore time: Timestamp) throws -> TransactionNumber {
        var first: TransactionNumber?
        try TransactionLog(volume).read(from: Self.first) { entry in
            if entry.time >= time { first = entry.number }
            return first == nil
        }
        return try first ?? newest().next
    }

    // MARK: Moments

    /// Returns the graph at a moment, which shares pages with other graphs of this trail. Throws as `Store.graph(at:)` does.
    public func graph(at point: Point) throws -> Graph {
        if point == .latest, let bound { return try past.graph(at: .transaction(bound())) }
        return try past.graph(at: point)
    }

    /// Returns the graph after a transaction. `.none` means the empty graph before the first transaction.
    func graph(after number: TransactionNumber) throws -> Graph {
        if number != .none { return try past.graph(at: .transaction(number)) }
        return try EarlierView(beforeFirst: LogReader(volume), memory: memory).graph
    }

    /// Returns a transaction with the graphs before and after it. Throws `.notFound` if there is no such transaction, and `.expired` if its
    /// changes were retired.
    ///
    /// ```swift
    /// let step = try trail.transaction(TransactionNumber(rawValue: 42))
    /// print(step.entry.time, step.changes.count)
    /// ```
    ///
    /// Complexity: O(bytes of the log between the preceding checkpoint and the transaction).
    public func transaction(_ number: TransactionNumber) throws -> TransactionStep {
        let newest = try newest()
        guard number != .none, number <= newest else { throw Self.missing(number, newest) }
        return try step(number)
    }

    /// Returns a transaction that is known to exist.
    func step(_ number: TransactionNumber) throws -> TransactionStep { try steps([number])[0] }

    /// Returns transactions that are known to exist, in ascending order. One replay leads to all of them.
    func steps(_ numbers: [TransactionNumber]) throws -> [TransactionStep] {
        do {
            return try past.steps(numbers).map { step in
                TransactionStep(entry: TransactionLog.Entry(step.record), before: step.before, after: step.after)
            }
        } catch let error as CambiumError where error.code == .notFound {
            let oldest = try oldest()
            throw numbers[0] < oldest ? gone(numbers[0], oldest: oldest) : error
        }
    }

    /// Returns a view of the moment after a transaction, which can advance.
    func view(after number: TransactionNumber) throws -> EarlierView {
        let reader = try LogReader(volume)
        if number == .none { return try EarlierView(beforeFirst: reader, memory: memory) }
        return try EarlierView(reader, at: EarlierMoment(number: number), memory: memory)
    }

    /// Calls `body`. If it throws `.notFound` because a compaction has retired the transactions after `position`, throws `.expired`.
    func reportingRetired(after position: TransactionNumber, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as CambiumError where error.code == .notFound {
            let oldest = try oldest()
            throw position.next < oldest ? gone(position.next, oldest: oldest) : error
        }
    }

    package static func missing(_ number: TransactionNumber, _ newest: TransactionNumber) -> CambiumError {
        let subject = number.rawValue == .max ? "A transaction with this number" : "Transaction \(number)"
        return CambiumError(.notFound, "\(subject) does not exist; the last transaction is \(newest). Name an earlier transaction.")
    }
}

/// The reason why the changes of a transaction cannot be read: a compaction retired them. It is the underlying error of `.expired`.
///
/// ```swift
/// do {
///     _ = try trail.transactions(from: TransactionNumber(rawValue: 3))
/// } catch let error as CambiumError {
///     if let retired = error.underlying as? RetiredTransactions { print("gone, the oldest is", retired.oldest) }
/// }
/// ```
public struct RetiredTransactions: Error, Sendable, Hashable {
    /// The oldest transaction whose changes can be read.
    public let oldest: TransactionNumber
}

extension Store {
    /// The audit trail of this store: its transactions with their changes, histories of objects, and blame. It shows the transactions that
    /// readers of the store see.
    ///
    /// ```swift
    /// for row in try store.audit().blame(of: note) { print(row.property, row.transaction ?? .none, row.author?.actor ?? "-") }
    /// ```
    ///
    /// Throws `.invalidInput` if the store is in memory, because such a store has no log. Complexity: O(1).
    public func audit() throws(CambiumError) -> AuditTrail {
        guard let past, let volume = writer.volume else {
            throw CambiumError(.invalidInput, "A store in memory has no log, so it has no history. Use a store on disk.")
        }
        return AuditTrail(volume, past, writer.timeline.budget) { [self] in graph.transaction }
    }
}
