import CambiumGraph
package import CambiumLog
import CambiumModel
package import CambiumProofs

/// Creates the graph of a log, beginning with a checkpoint or with the first transaction. No other code creates a graph from a log. A
/// reader begins with a loaded checkpoint, and a writer with an owned checkpoint.
package struct Replay {
    package let timeline: Timeline
    package let origin: Origin
    /// The pages with which the replay began; `nil` if it began before the first transaction.
    package let pages: PageFile?
    private let reader: LogReader
    /// The newest transaction that had a checkpoint when the replay began, even if that checkpoint was skipped. The log must not end before
    /// this transaction.
    private let storedEnd: TransactionNumber
    /// The number of transactions that were applied.
    package private(set) var transactionCount = 0
    /// The work that `run(makesDurable:until:observe:)` has done, in units of `ReplayWork`.
    private(set) var work = 0
    /// The time of the last transaction.
    package private(set) var lastTime: Timestamp
    /// The position in the log at which reading continues; `nil` if the position is not known.
    private var place: SegmentPlace?

    /// The checkpoint with which a replay began.
    package struct Origin {
        /// The last transaction in the checkpoint; `.none` if the whole log is replayed.
        package var transaction = TransactionNumber.none
        /// The flaws of checkpoints, such as the reason why a checkpoint was skipped.
        package var flaws: [String] = []

        package init(transaction: TransactionNumber = .none, flaws: [String] = []) {
            (self.transaction, self.flaws) = (transaction, flaws)
        }
    }

    /// Creates a replay that begins with a loaded checkpoint, or with an empty graph before the first transaction.
    package init(_ loaded: consuming LoadedCheckpoint) throws(CambiumError) {
        // The record of a skipped checkpoint may be the only evidence that the log has lost its end.
        storedEnd = try loaded.skippedCheckpoints.isEmpty ? loaded.transaction : loaded.reader.newestCheckpoint()
        (timeline, pages, reader) = (loaded.timeline, loaded.pages, loaded.reader)
        origin = Origin(transaction: loaded.transaction, flaws: loaded.flaws)
        lastTime = pages.map { Timestamp(microsecondsSince1970: $0.root.time) } ?? .min
    }

    /// Calls `body` with a replay that begins with the newest checkpoint that is not later than a moment. If a writer has retired the
    /// transactions after that checkpoint in the meantime, another checkpoint replaces them. In that case, `body` is called again with a
    /// replay that begins with that other checkpoint.
    ///
    /// - Parameter body: applies transactions; throws `.notFound` if they were retired.
    static func reading<Result>(
        _ reader: LogReader, notAfter moment: EarlierMoment = .latest, memory: MemoryBudget = .standard,
        _ body: (inout Replay) throws -> Result
    ) throws -> Result {
        var replay = try Replay(LoadedCheckpoint(reader, notAfter: moment, memory: memory))
        while true {
            do {
                return try body(&replay)
            } catch let error as CambiumError where error.code == .notFound {
                let nearer = try Replay(LoadedCheckpoint(reader, notAfter: moment, memory: memory))
                guard nearer.origin.transaction > replay.origin.transaction else {
                    // The moment lies between a checkpoint of a retired part of the log and the next one.
                    if try moment == .latest || nearer.origin.transaction >= reader.retiredEnd() { throw error }
                    throw try LoadedCheckpoint.retired(reader, moment) ?? error
                }
                replay = nearer
            }
        }
    }

    /// The part of the log that the checkpoint contains; `nil` if the replay began before the first transaction.
    var base: LogPrefix? { pages.map { LogPrefix($0.root) } }

    /// Applies every transaction up to a point, or every transaction of the log, and returns the end of the log.
    ///
    /// Throws `.corrupted` if the log is corrupt or a transaction cannot be applied. Complexity: O(bytes of the log).
    ///
    /// - Parameters:
    ///   - isEarlier: returns whether the point is before a transaction. If so, neither that transaction nor a later one is applied.
    ///   - observe: receives every transaction and its `leafHash`, including the transactions after the point. If the log is long, another
    ///     thread computes the hashes.
    ///   - stops: the transactions whose graphs `show` receives.
    package mutating func run(
        makesDurable: Bool = false, until isEarlier: (LogRecord) -> Bool = { _ in false },
        observe: ((LogRecord, TreeHash) throws -> Void)? = nil, at stops: Set<TransactionNumber> = [], show: (Graph) -> Void = { _ in }
    ) throws -> LogReader.End {
        let first = timeline.head.transaction
        var draft = ReplayDraft(timeline)
        let base = base
        var isStopped = false
        var stops = stops.sorted()[...]
        let preparation: LogBatch.Preparation = observe == nil ? .ops : [.ops, .leafHashes]
        let end = try reader.scanAhead(after: base, makesDurable: makesDurable, preparing: preparation) { batch in
            try batch.forEachRecord { record, place in
                try observe?(record, batch.leafHashes[place])
                if isStopped || isEarlier(record) {
                    isStopped = true
                    return
                }
                work += try draft.replay(record, batch, place)
                transactionCount += 1
                guard let stop = stops.first, stop <= record.number else { return }
                stops = stops.drop { $0 <= record.number }
                if stop < record.number { return }
                try draft.publish()
                show(timeline.head)
                draft.begin()
            }
        }
        try end.requireTransactions(of: max(first, storedEnd), in: reader.volume)
        if transactionCount > 0 || base == nil {
            try draft.publish()
            work += draft.publishedWork
        }
        return end
    }

    /// Applies the transactions up to a moment while another process may write, and then stops reading. A later call can continue to a
    /// later moment.
    ///
    /// Throws as `run(makesDurable:until:observe:)` does. Complexity: O(bytes of the log up to the moment).
    ///
    /// - Parameter check: is called before each transaction, and throws if the caller no longer wants the result.
    /// - Returns: the end of the log; `nil` if the log was not read to its end.
    package mutating func run(_ reader: LogReader, to moment: EarlierMoment, _ check: () throws -> Void) throws -> LogReader.End? {
        struct Reached: Error {}
        let first = timeline.head.transaction
        if moment.number == first { return nil }
        var draft = ReplayDraft(timeline)
        var count = 0
        var end: LogReader.End?
        do {
            let base = transactionCount == 0 ? base : nil
            end = try reader.scanAhead(from: first.next, through: moment.number, after: base, at: &place, preparing: .ops) { batch in
                try batch.forEachRecord { record, place in
                    if moment.isBefore(record) { throw Reached() }
                    try check()
                    try draft.replay(record, batch, place)
                    count += 1
                    lastTime = record.metadata.time
                }
            }
        } catch is Reached {}  // Transactions after the moment do not matter.
        try end?.requireTransactions(of: max(first, storedEnd), in: reader.volume)
        if count > 0 { try draft.publish() }
        transactionCount += count
        return end
    }

    /// Applies the transactions up to `last` one by one, publishes a version after each of them, and then stops reading. A later call
    /// continues after the last applied transaction.
    ///
    /// Throws as `run(makesDurable:until:observe:)` does. Also throws `.corrupted` if the log ends before `last`. Complexity: O(bytes of
    /// the log up to `last`).
    ///
    /// - Parameter body: receives each version and its transaction, and returns whether to continue.
    mutating func run(
        _ reader: LogReader, stepwiseTo last: TransactionNumber, _ body: (Graph, LogRecord) throws -> Bool
    ) throws {
        struct Reached: Error {}
        let timeline = timeline
        let first = timeline.head.transaction
        if first >= last { return }
        var count = 0
        defer { transactionCount += count }
        do {
            let base = transactionCount == 0 ? base : nil
            let end = try reader.scan(from: first.next, after: base, makesDurable: true, at: &place) { record in
                var draft = timeline.draft()
                try Self.replay(&draft, record)
                let graph = try timeline.publish(draft)
                count += 1
                lastTime = record.metadata.time
                if try !body(graph, record) || record.number >= last { throw Reached() }
            }
            throw CambiumError(
                .corrupted,
                "The log ends with transaction \(end.lastTransaction), but transaction \(last) was committed. "
                    + "Restore the store from a backup.", place: .init(file: LogDirectory.name))
        } catch is Reached {}  // The caller continues later, or has all that it needs.
    }
}

/// The objects that a transaction changed.
package enum TransactionTouches {
    /// The objects that the ops name. A transaction whose ops set attributes or insert objects changes no other object.
    case named([ObjectID])
    /// The difference between the graphs before and after the transaction.
    case changes(Changes)
}

extension Replay {
    /// The maximum number of transactions in one draft.
    private static let draftedCountMax = 4096

    /// Applies the transactions up to `last`, and then stops reading. Throws as `run(_:stepwiseTo:_:)` does, and the errors of the
    /// closures. Complexity: O(bytes of the log up to `last`).
    ///
    /// - Parameters:
    ///   - endsBatch: receives the objects that the ops of the next transaction name, and returns whether the preceding transactions are
    ///     published before the next one is applied.
    ///   - note: receives each transaction, the objects that it may have changed, and whether it changed the schema.
    ///   - published: receives the graph after the transactions that `note` has received, and returns whether to continue.
    mutating func run(
        _ reader: LogReader, notingObjectsThrough last: TransactionNumber, endsBatch: ([ObjectID]) -> Bool = { _ in false },
        _ note: (TransactionNumber, TransactionTouches, _ changesSchema: Bool) throws -> Void,
        published: (Graph) throws -> Bool = { _ in true }
    ) throws {
        struct Reached: Error {}
        let timeline = timeline
        let first = timeline.head.transaction
        if first >= last { return }
        var draft = ReplayDraft(timeline)
        var (count, draftedCount) = (0, 0)
        var names = OpSubjects(timeline.head.schema)
        defer { transactionCount += count }
        func publish() throws {
            try draft.publish()
            draftedCount = 0
            if try !published(timeline.head) { throw Reached() }
        }
        do {
            let base = transactionCount == 0 ? base : nil
            let end = try reader.scanAhead(from: first.next, through: last, after: base, at: &place, preparing: .ops) { batch in
                try batch.forEachRecord { record, place in
                    let named = try names.objects(of: record) { try batch.forEachOp(of: place, $0) }
                    if draftedCount > 0, named.map(endsBatch) ?? true || draftedCount >= Self.draftedCountMax {
                        try publish()
                        draft.begin()
                    }
                    let before = timeline.head
                    try draft.replay(record, batch, place)
                    (count, draftedCount, lastTime) = (count + 1, draftedCount + 1, record.metadata.time)
                    if let named {
                        try note(record.number, .named(named), false)
                    } else {
                        try draft.publish()
                        let after = timeline.head
                        let changesSchema = after.schemaTransaction == record.number
                        if changesSchema { names = OpSubjects(after.schema) }
                        try note(record.number, .changes(after.changes(since: before)), changesSchema)
                        try publish()
                        draft.begin()
                    }
                    if record.number >= last {
                        if draftedCount > 0 { try publish() }
                        throw Reached()
                    }
                }
            }
            guard let end else { return }
            throw CambiumError(
                .corrupted, "The log ends with transaction \(end.lastTransaction), but transaction \(last) was committed.",
                place: .init(file: LogDirectory.name))
        } catch is Reached {}
    }
}

/// Finds the objects of transactions whose ops change only the objects that they name.
package struct OpSubjects {
    /// The ops of a transaction with at least this number of bytes are not searched for names.
    private static let byteCountMax = 4096

    /// Whether the schema has derived attributes, which change without an op.
    private let hasDerived: Bool

    package init(_ schema: Schema) { hasDerived = schema.entities.contains { $0.attributes.contains(where: \.isDerived) } }

    /// Returns the objects that a transaction may have changed. Returns `nil` if only a comparison of graphs shows them.
    package func objects(of record: LogRecord) throws -> [ObjectID]? { try objects(of: record) { try record.forEachOp($0) } }

    /// - Parameter forEachOp: calls its argument with each op of the transaction.
    fileprivate func objects(of record: LogRecord, _ forEachOp: ((Op) throws -> Void) throws -> Void) throws -> [ObjectID]? {
        struct Other: Error {}
        if hasDerived || record.byteCount >= Self.byteCountMax { return nil }
        var ids: [ObjectID] = []
        do {
            try forEachOp { op in
                switch op {
                case .set(let id, _), .insert(let id, entity: _, _), .mark(let id, _, _): if ids.last != id { ids.append(id) }
                case .label, .digest, .undo: break
                case .schema, .link, .unlink, .move, .delete, .upsert, .relink, .clone: throw Other()
                }
            }
        } catch is Other { return nil }
        return ids
    }
}
