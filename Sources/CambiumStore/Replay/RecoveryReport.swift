package import CambiumLog
package import CambiumModel

/// The problems that were found when a store was opened, such as bytes that a crash left at the end of the log. Also contains the number of
/// replayed transactions.
///
/// ```swift
/// let store = try Store.open(at: "notes")
/// for note in store.recovery.notes { print("recovery: \(note)") }
/// print(store.recovery.transactionCount, "transactions replayed")
/// ```
public struct RecoveryReport: Sendable, Equatable {
    /// Sentences about harmless flaws.
    public internal(set) var notes: [String] = []
    /// The number of bytes after the last transaction that passes verification. None of these bytes was known to be durable, and opening
    /// the store for writing cuts them off.
    package internal(set) var cutByteCount = 0
    package var lastTransaction = TransactionNumber.none
    /// The number of transactions that were replayed.
    public internal(set) var transactionCount = 0
    /// The checkpoint with which the replay began; `.none` if the whole log was replayed.
    package internal(set) var checkpoint = TransactionNumber.none

    init() {}

    /// - Parameters:
    ///   - end: the end of the log; `nil` if the log was not read to its end.
    ///   - reached: the last transaction that was read, if `end` is `nil`.
    package init(
        _ reader: LogReader, _ origin: Replay.Origin, _ end: LogReader.End?, reached: TransactionNumber = .none, transactionCount: Int
    ) {
        notes = reader.flaws + origin.flaws
        checkpoint = origin.transaction
        lastTransaction = end?.lastTransaction ?? reached
        self.transactionCount = transactionCount
        guard let end else { return }
        if let flaw = end.headFlaw { notes.append(flaw) }
        switch end.verdict {
        case .clean: break
        case .tornTail(let file, let offset, let byteCount):
            cutByteCount = byteCount
            notes.append(
                "\(file): \(byteCount) bytes at offset \(offset) are not a whole transaction; the store never reported them as durable")
        case .tornCreation(let file):
            notes.append("\(file): a writer ended while it created this file of the log, so the file has no transactions")
        }
    }
}
