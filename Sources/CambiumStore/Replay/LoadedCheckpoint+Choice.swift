internal import CambiumLog
import CambiumModel

/// Chooses a checkpoint by a moment.
extension LoadedCheckpoint {
    /// Whether there is a checkpoint that is later than a transaction but not later than a moment. Complexity: O(checkpoints). If the
    /// moment is a time, the records of the checkpoints are read.
    static func hasCheckpoint(
        _ reader: LogReader, notAfter moment: EarlierMoment, after transaction: TransactionNumber
    ) throws(CambiumError) -> Bool {
        for number in try CheckpointRecord.list(reader.volume) where number > transaction {
            if try !isLater(number, than: moment, reader) { return true }
        }
        return false
    }

    /// Whether a checkpoint is later than a moment. Returns `false` if the record of the checkpoint is corrupt; the later attempt to open
    /// the checkpoint reports the corruption.
    static func isLater(
        _ number: TransactionNumber, than moment: EarlierMoment, _ reader: LogReader
    ) throws(CambiumError) -> Bool {
        if let last = moment.number, number > last { return true }
        guard let time = moment.time?.microsecondsSince1970 else { return false }
        do throws(CambiumError) {
            return try PageFile.root(reader.volume, store: reader.settings.store, number).map { $0.record.time > time } ?? false
        } catch {
            guard error.code == .notFound else { throw error }
            return true  // A writer has dropped the checkpoint.
        }
    }

    /// Returns the error for a log without its first transactions, which cannot be replayed from the beginning. The error is `.notFound` if
    /// an early moment was requested, and `.corrupted` if the checkpoints that replace these transactions cannot be used.
    static func withoutCheckpoint(
        _ reader: LogReader, _ moment: EarlierMoment, after retiredEnd: TransactionNumber, flaws: [String]
    ) throws(CambiumError) -> CambiumError {
        let hint = reader.archiveHint()
        if moment != .latest, flaws.isEmpty, let error = try retired(reader, moment) { return error }
        // Removes the remedy from each flaw. The remedy would be wrong here, because neither an older checkpoint nor the log can be used.
        let list = flaws.map { $0.replacing(". " + CambiumError.checkpointRemedy, with: "") }.joined(separator: "; ")
        let reasons = flaws.isEmpty ? "" : " The reasons are: \(list)"
        return CambiumError(
            .corrupted,
            "The changes of transactions 1 to \(retiredEnd) were retired from the log, and no checkpoint that replaces them can be used. "
                + "Restore the store from a backup.\(hint)\(reasons)")
    }
}

extension LoadedCheckpoint {
    /// Returns the error for a moment in the retired part of the log, or `nil` if nothing was retired. The error names the states that can
    /// be shown: every state since the compaction, and the moments of days that the store's policy has kept.
    static func retired(_ reader: LogReader, _ moment: EarlierMoment) throws(CambiumError) -> CambiumError? {
        let retiredEnd = try reader.retiredEnd()
        let checkpoints = try CheckpointRecord.list(reader.volume)
        guard retiredEnd != .none, let first = checkpoints.last(where: { $0 >= retiredEnd }) ?? checkpoints.last else { return nil }
        let kept = checkpoints.filter { $0 < retiredEnd }
        // The kept moment before the requested one, and the one after it, as far as they exist.
        var (earlier, later): (TransactionNumber?, TransactionNumber?)
        for number in kept where earlier == nil {
            if try isLater(number, than: moment, reader) { later = number } else { earlier = number }
        }
        let near = [earlier, later].compactMap { $0?.description }.joined(separator: " and ")
        let sentence =
            kept.isEmpty
            ? "The earliest state that can be shown is the one after transaction \(first)."
            : "Of the states before transaction \(first), only \(kept.count) can be shown, one a day. The nearest: \(near)."
        return CambiumError(
            .notFound, "The changes of transactions 1 to \(retiredEnd) were retired from the log. \(sentence)\(reader.archiveHint())")
    }
}

extension LogReader {
    /// Returns a sentence, preceded by a space, that names the archive of everything that was retired. Returns an empty text if the archive
    /// is not known.
    package func archiveHint() -> String {
        // The caller appends the sentence to an error. If the name of the archive cannot be read, the caller must still throw that error.
        guard let archive = try? archive() else { return "" }
        return " The retired changes were archived in '\(archive)'. Run 'cambium restore' with '--archive' to make a store with them."
    }
}
