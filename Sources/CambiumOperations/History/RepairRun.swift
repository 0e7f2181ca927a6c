import CambiumGraph
internal import CambiumLog
import CambiumModel

/// One attempt to repair a store: the state that was verified so far, and the new log to which the verified transactions are written.
struct RepairRun {
    private let log: LogReader
    private let salvage: LogSalvage
    let writer: LogWriter
    /// The versions of the new store. The head is the state after the last transaction that the repair has saved.
    let timeline: Timeline
    private(set) var report = Repair()
    /// The maximum number of lost transactions whose metadata is in memory.
    private let windowCount: UInt64
    /// The checkpoints that earlier attempts could not save, and the reasons.
    private let refused: [TransactionNumber: String]

    /// The error that ends an attempt: no ops lead from the saved state to the state of the checkpoint. For example, the checkpoint has a
    /// schema to which no migration leads, or comes from another history with fewer assigned ids.
    struct RefusedCheckpoint: Error {
        let transaction: TransactionNumber
        /// The reason why the state cannot be written as changes.
        let reason: String
    }

    init(
        _ log: LogReader, _ writer: LogWriter, without refused: [TransactionNumber: String] = [:],
        windowCount: UInt64 = RepairGap.windowCount
    ) throws(CambiumError) {
        (self.log, self.writer, self.refused, self.windowCount) = (log, writer, refused, windowCount)
        salvage = LogSalvage(log)
        timeline = try Timeline(replaying: log)
    }

    /// The last transaction that was saved.
    private var last: TransactionNumber { timeline.head.transaction }

    /// Saves the parts of the log and of the checkpoints that pass verification. Throws `.corrupted` if no part passes verification, and
    /// `RefusedCheckpoint` if a new attempt must omit a checkpoint.
    mutating func save() throws {
        var base: LogPrefix?
        var lastCorruption: CambiumError?
        while true {
            let outcome = try saveLog(after: base)
            lastCorruption = outcome.corruption
            guard let stored = try nextCheckpoint(), let root = stored.pages?.root else { break }
            try save(stored, root)
            base = LogPrefix(root)
        }
        if last == .none { throw lastCorruption == nil ? LogReader.withoutTransaction(log.volume) : nothingSaved() }
        // If the log was read to its end without corruption, the file HEAD may still name later transactions. Another process wrote them
        // after the log was read, so they are not lost.
        if lastCorruption != nil { try reportLostEnd() }
        report.objectCount = timeline.head.objectCount
        report.linkCount = timeline.head.linkCount
    }

    /// Returns the error of a repair that saves nothing. The errors about the corrupt parts advise a repair, so this error has another
    /// remedy, and lists the corrupt parts as its details.
    private func nothingSaved() -> CambiumError {
        CambiumError(
            .corrupted,
            "'\(log.volume.name)' cannot be repaired: its first transaction is corrupt or was retired, and no checkpoint passes "
                + "verification. Restore the store from a backup. If an archive contains the retired changes, pass the archive.",
            details: report.findings)
    }

    // MARK: The log

    private mutating func saveLog(after base: LogPrefix?) throws -> LogSalvage.Outcome {
        let outcome = try salvage.read(after: base) { record in
            if case .redacted = record.payload {
                let message = "The changes of transaction \(record.number) were retired. If an archive contains them, pass the archive."
                throw CambiumError(.corrupted, message, place: .init(file: record.file))
            }
            var draft = timeline.draft()
            try Replay.replay(&draft, record)
            // Publishes the graph only after the record was written, because the graph must match the content of the new log.
            try writer.append(record)
            try timeline.publish(draft)
        }
        report.findings += outcome.flaws
        if let end = outcome.end {
            let notes = RecoveryReport(log, Replay.Origin(), end, transactionCount: 0).notes
            report.findings += notes.filter { !log.flaws.contains($0) }
        }
        if let corruption = outcome.corruption { report.findings.append(corruption.description) }
        return outcome
    }

    /// Reports the lost transactions after the last saved one, if the file HEAD or the rest of the log shows that they existed.
    private mutating func reportLostEnd() throws {
        var end = log.lastDurableTransaction
        try salvage.readFrames(of: last.next...TransactionNumber(rawValue: .max)) { end = max(end, $0.number) }
        guard end > last else { return }
        report.missing.append(last.next...end)
        report.findings.append("The changes of \(Self.name(last.next...end)) are missing, and no checkpoint contains their result.")
    }

    // MARK: Checkpoints

    /// Returns the oldest checkpoint that follows the last saved transaction and passes all checks; `nil` if there is no such checkpoint.
    private mutating func nextCheckpoint() throws -> Replay? {
        for number in try CheckpointRecord.list(log.volume).reversed() where number > last {
            if let reason = refused[number] {
                let finding = "The checkpoint of transaction \(number) is not used: its state cannot be written as changes. \(reason)"
                report.findings.append(finding)
                continue
            }
            do throws(CambiumError) {
                if number.rawValue - last.rawValue > RepairGap.countMax {
                    throw CambiumError(.corrupted, "More than \(RepairGap.countMax) transactions before the checkpoint are missing.")
                }
                let stored = try LoadedCheckpoint(log, of: number, checksAll: true)
                guard let flaw = (stored.timeline.head.invariantFindings() + PageChecker.findings(in: stored.timeline)).first else {
                    return try Replay(stored)
                }
                report.findings.append("The checkpoint of transaction \(number) is not used, because its graph is corrupt: \(flaw)")
            } catch {
                guard error.code == .corrupted || error.code == .notFound else { throw error }
                if error.code == .corrupted { report.findings.append("The checkpoint of transaction \(number) is not used: \(error)") }
            }
        }
        return nil
    }

    /// Saves the state of a checkpoint. The state replaces the missing changes of the transactions up to the checkpoint.
    private mutating func save(_ stored: Replay, _ root: CheckpointRecord) throws {
        let lost = last.next...root.transaction
        var gap = RepairGap(lost, stored.timeline.head, root, salvage, writer.lastTime, windowCount: windowCount)
        do {
            try gap.write(stored.timeline.head, root, to: writer, timeline)
        } catch let error as CambiumError where error.underlying is RepairGap.RefusedOp {
            throw RefusedCheckpoint(transaction: root.transaction, reason: error.description)
        }
        let (graph, expected) = (timeline.head, stored.timeline.head)
        guard graph.digest() == expected.digest(), graph.nextSerials == expected.nextSerials else {
            throw RefusedCheckpoint(transaction: root.transaction, reason: "The changes lead to a graph with another digest.")
        }
        report.missing.append(lost)
        report.findings.append(
            "The changes of \(Self.name(lost)) are missing. Transaction \(root.transaction) now contains the state of its checkpoint.")
    }

    private static func name(_ range: ClosedRange<TransactionNumber>) -> String {
        range.lowerBound == range.upperBound
            ? "transaction \(range.lowerBound)" : "transactions \(range.lowerBound) to \(range.upperBound)"
    }
}
