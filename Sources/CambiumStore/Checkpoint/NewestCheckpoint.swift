import CambiumModel

/// The properties of the newest checkpoint. They decide when the next checkpoint is due.
struct NewestCheckpoint {
    /// The last transaction in the checkpoint.
    var transaction = TransactionNumber.none
    /// The time of this transaction; `nil` if there is no checkpoint.
    var time: Timestamp?
    /// The number of bytes of the chunks (64 KiB of pages) that the checkpoint contains.
    var storedByteCount = 0
    /// The number of bytes that the store had logged when the checkpoint began, counted since the store was opened. The value is negative
    /// for the checkpoint from which the store was opened: minus the size of the log after that checkpoint.
    var loggedByteCount: Int
    /// The work of replaying the transactions that the store had committed when the checkpoint began, counted in the same way.
    var replayWork: Int
    /// The number of bytes of memory that pages took when the checkpoint was complete.
    var heapByteCount = 0
}
