import CambiumGraph
internal import CambiumLog
import CambiumModel

/// Finds the last transaction of a target in the log of a source, and writes the transactions that follow it to the target.
struct ApplyRun {
    let store: Store
    let source: any Volume
    let pace: Pace
    private(set) var report = ApplyReport()
    private let past: EarlierGraphs
    /// The last transaction of the target before this run.
    private var present = TransactionNumber.none
    /// The number of source transactions that the creation of the target has already written: 1 if the target was created for this run,
    /// otherwise 0.
    private let createdCount: Int
    private var lastPending: PendingCommit?
    /// The number of transactions that were written since the target was last made durable.
    private var waitingCount = 0
    /// The number of bytes that the transactions in `waitingCount` have in the log of the source.
    private var waitingByteCount = 0

    /// The maximum number of transactions, and of bytes of log, that the run writes between two waits for the disk.
    struct Pace {
        var transactionCountMax = 4096
        var byteCountMax = 16 << 20

        static let standard = Pace()
    }

    init(_ store: Store, _ source: any Volume, _ pace: Pace, createdCount: Int) {
        self.createdCount = createdCount
        self.store = store
        self.source = source
        self.pace = pace
        past = EarlierGraphs(source, viewCountMax: 1)
    }

    mutating func run() throws {
        guard let volume = store.writer.volume else {
            throw CambiumError(.invalidInput, "A store in memory has no log to compare with. Apply to a store on disk.")
        }
        let reader = try LogReader(source)
        // Waits for the disk, so that the log of the target contains everything that was committed before this run.
        try store.waitForDisk()
        let last = try lastRecord(of: volume)
        do {
            let first = last?.number ?? TransactionNumber(rawValue: 1)
            let stored = try reader.newestCheckpoint()
            let end = try reader.scan(from: first, makesDurable: true) { record in
                if let last, record.number == last.number { try compare(record, last) } else { try take(record) }
            }
            try end.requireTransaction(in: source)
            // Without this check, the target would seem to be complete, although the source has lost durable transactions.
            try end.requireTransactions(of: stored, in: source)
            report.lastTransaction = end.lastTransaction
        } catch {
            // The transactions that were applied before the error stay in the target, so the run waits until they are durable. An error
            // while it waits is ignored: the caller needs the error that ended the run.
            try? store.waitForDisk()
            throw error
        }
        try store.waitForDisk(for: lastPending)
        try compareEnds()
    }

    private mutating func lastRecord(of target: any Volume) throws -> LogRecord? {
        present = store.graph.transaction
        (report.presentCount, report.appliedCount) = (Int(present.rawValue) - createdCount, createdCount)
        if present == .none { return nil }
        var last: LogRecord?
        _ = try LogReader(target).scan(from: present, makesDurable: true) { record in last = record }
        return last
    }

    // MARK: Writing

    private mutating func take(_ record: LogRecord) throws {
        if report.appliedCount == createdCount, present.rawValue > 1 { try comparePresent() }
        do {
            let (pending, time) = try store.pipeline.copy(record)
            if time > record.metadata.time { report.laterTimeCount += 1 }
            lastPending = pending
        } catch {
            // If the previous transaction was rolled back, this transaction cannot follow it. In that case, `checkLast` throws the error
            // that caused the rollback.
            try checkLast()
            throw error
        }
        report.appliedCount += 1
        waitingCount += 1
        waitingByteCount += record.byteCount
        if waitingCount >= pace.transactionCountMax || waitingByteCount >= pace.byteCountMax {
            try store.waitForDisk(for: lastPending)
            (waitingCount, waitingByteCount) = (0, 0)
        }
    }

    private func checkLast() throws { _ = try lastPending?.outcome?.get() }

    // MARK: Comparing

    private func compare(_ record: LogRecord, _ last: LogRecord) throws {
        if try record.commitment() == last.commitment() { return }
        let isFirst = record.number.rawValue == 1
        // A target that contains only the first schema of the source counts as empty.
        if isFirst, let schema = try Self.onlySchema(last), try Self.onlySchema(record) == schema { return }
        let difference =
            isFirst
            ? "The first schema of the target differs from that of the source"
            : "Transaction \(record.number) of the target differs from transaction \(record.number) of the source"
        throw CambiumError(
            .conflict,
            "\(difference), so the target is not an earlier state of the source. Choose an empty target. Nothing was applied.")
    }

    private static func onlySchema(_ record: LogRecord) throws -> SchemaCatalog? {
        let ops = try record.ops()
        guard ops.count == 1, case .schema(let catalog) = ops[0] else { return nil }
        return catalog
    }

    /// Compares the graphs of both stores as they are after the target's last transaction. Two copies of one store may have been changed
    /// separately. Their last transactions can then be equal although their graphs differ.
    private func comparePresent() throws {
        guard try past.graph(at: .transaction(present)).digest() == store.graph.digest() else {
            throw CambiumError(
                .conflict,
                "The graphs of the target and the source differ at transaction \(present), so the stores were changed in different ways. "
                    + "Choose an empty target. Nothing was applied.")
        }
    }

    private mutating func compareEnds() throws {
        let last = report.lastTransaction
        let graph = store.graph
        guard graph.transaction == last else {
            throw CambiumError(
                .conflict,
                "The target has \(graph.transaction) transactions, and the source has \(last). Another program wrote to the target, "
                    + "or the source is an older copy. Choose an empty target. Nothing was applied.")
        }
        report.digest = graph.digest()
        report.objectCount = graph.objectCount
        report.linkCount = graph.linkCount
        guard try past.graph(at: last == .none ? .latest : .transaction(last)).digest() == report.digest else {
            let why = report.appliedCount == 0 ? "another program wrote to one store, or one store is corrupt" : "one store is corrupt"
            throw CambiumError(
                report.appliedCount == 0 ? .conflict : .corrupted,
                "The target and the source have different graphs at transaction \(last): \(why). Run 'cambium verify' on both stores.")
        }
    }
}
