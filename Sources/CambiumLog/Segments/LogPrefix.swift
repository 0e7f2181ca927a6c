package import CambiumModel

/// The part of a log before a position, for example the part whose transactions a checkpoint contains.
package struct LogPrefix: Sendable {
    package let transaction: TransactionNumber
    let time: Int64
    let position: LogPosition
    /// Whether the checksum of the position is lost, because an index is corrupt. If so, the checksum in the next segment is not checked.
    let isChecksumLost: Bool

    package init(transaction: TransactionNumber, time: Int64, position: LogPosition, isChecksumLost: Bool = false) {
        self.transaction = transaction
        self.time = time
        self.position = position
        self.isChecksumLost = isChecksumLost
    }
}
