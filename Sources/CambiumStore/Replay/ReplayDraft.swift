package import CambiumGraph
package import CambiumLog
package import CambiumModel

/// The draft of a replay. The draft contains many transactions, and is published before derived attributes make it expensive: they read
/// the members that changed since the draft began.
struct ReplayDraft: ~Copyable {
    private let timeline: Timeline
    /// `nil` after `publish`.
    private var draft: Draft?

    /// The number of members and groups of rows that derived attributes may read before the draft is published.
    private static let derivedWorkMax = 512

    /// The work of replaying the drafts that were published, as far as it depends on the graph, in units of `ReplayWork`.
    private(set) var publishedWork = 0

    init(_ timeline: Timeline) {
        self.timeline = timeline
        begin()
    }

    /// Applies a transaction. Returns its work, without the part in `publishedWork`.
    ///
    /// - Parameters:
    ///   - batch: the batch of the transaction.
    ///   - place: the place of the transaction in the batch.
    @discardableResult
    mutating func replay(_ record: LogRecord, _ batch: LogBatch, _ place: Int) throws -> Int {
        let work = try draft?.replay(record.number.rawValue) { draft in try Replay.apply(record, batch, place, to: &draft) } ?? 0
        if draft?.derivedWork ?? 0 > Self.derivedWorkMax {
            try publish()
            begin()
        }
        return work
    }

    mutating func publish() throws {
        guard let draft = draft.take() else { return }
        try timeline.publish(draft)
        publishedWork += timeline.publishedReplayWork
    }

    /// Begins with the number of the current graph, because the resulting graph keeps this number if no transaction is replayed.
    mutating func begin() {
        var draft = timeline.draft()
        draft.beginReplayed(timeline.head.transaction.rawValue)
        self.draft = consume draft
    }
}

extension Replay {
    /// Applies a transaction of a log. Throws `.corrupted` if the transaction cannot be applied.
    ///
    /// - Parameter observe: receives each op that was applied.
    /// - Returns: the work of the transaction, without the part in `replayWork`.
    @discardableResult
    package static func replay(_ draft: inout Draft, _ record: LogRecord, observe: (Op) -> Void = { _ in }) throws -> Int {
        try draft.replay(record.number.rawValue) { draft in try apply(record, to: &draft, observe: observe) }
    }

    /// Applies a transaction of a log to a draft that has begun the transaction.
    fileprivate static func apply(_ record: LogRecord, to draft: inout Draft, observe: (Op) -> Void) throws -> Int {
        var applied = AppliedOps()
        try OpDecoding.forEachOp(of: record) { op in
            try applied.apply(op, of: record, to: &draft)
            observe(op)
        }
        return try applied.finish(record, &draft)
    }

    /// The number of ops that are applied between the prefetching of an object's page and its use. When half of them are applied, the cells
    /// are prefetched, to which the page refers.
    private static let prefetchedOpCount = 8

    /// Applies a transaction of a batch to a draft that has begun the transaction. At the same time, the processor loads the memory that
    /// the next ops of the batch will change.
    fileprivate static func apply(_ record: LogRecord, _ batch: LogBatch, _ place: Int, to draft: inout Draft) throws -> Int {
        guard let places = batch.opPlaces(of: place) else { return try apply(record, to: &draft) { _ in } }
        var applied = AppliedOps()
        let (ops, targets) = (batch.ops.span, batch.targets.span)
        for index in places {
            let (page, cells) = (index + prefetchedOpCount, index + prefetchedOpCount / 2)
            if page < targets.count, let target = targets[page] { draft.prefetchPage(of: target) }
            if cells < targets.count, let target = targets[cells] { draft.prefetchCell(of: target) }
            try applied.apply(ops[index], of: record, to: &draft)
        }
        return try applied.finish(record, &draft)
    }
}

/// The ops of one transaction that a replay has applied.
private struct AppliedOps {
    private var count = 0
    private var work = 0
    private var subject: ObjectID?

    mutating func apply(_ op: Op, of record: LogRecord, to draft: inout Draft) throws(CambiumError) {
        count += 1
        do throws(CambiumError) {
            if count > 1, case .schema = op {
                throw CambiumError(.corrupted, "A schema must be the first op of its transaction.")
            }
            try draft.apply(op)
        } catch {
            throw record.corruption("Transaction \(record.number) cannot be applied because of op \(count).", error)
        }
        work += op.replayWork
        if count == 1 { subject = op.subject }
    }

    /// Ends the transaction, and returns its work.
    func finish(_ record: LogRecord, _ draft: inout Draft) throws -> Int {
        do throws(CambiumError) {
            try DerivedNotes.updateDerived(&draft)
        } catch {
            throw record.corruption("The derived attributes of transaction \(record.number) cannot be computed.", error)
        }
        if let request = record.metadata.requestID {
            try RegisterWriter.record(&draft, request, record.metadata.requestDigest, object: subject)
        }
        return work + ReplayWork.work(of: record.metadata)
    }
}

extension LogRecord {
    /// Returns the error for a transaction that cannot be replayed.
    fileprivate func corruption(_ event: String, _ error: CambiumError) -> CambiumError {
        // The process has too little memory, so the log may be sound.
        if error.code == .ioFailure { return error }
        let message = "\(event) Run 'cambium verify'. The cause: " + error.message
        return CambiumError(.corrupted, message, place: .init(file: file), underlying: error)
    }
}

extension LogBatch {
    /// Calls `body` with each record and its place.
    func forEachRecord(_ body: (LogRecord, Int) throws -> Void) throws {
        let records = records.span
        for place in records.indices { try body(records[place], place) }
    }

    /// Calls `body` with each op of a record. Throws as `LogRecord.forEachOp` does.
    func forEachOp(of record: Int, _ body: (Op) throws -> Void) throws {
        guard let places = opPlaces(of: record) else { return try records[record].forEachOp(body) }
        let ops = ops.span
        for place in places { try body(ops[place]) }
    }
}
