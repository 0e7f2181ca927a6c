import CambiumModel

/// The properties of the newest checkpoint that decide when the next one is due.
struct NewestCheckpoint {
    /// The last transaction in the checkpoint.
    var transaction = TransactionNumber.none
    /// The number of bytes of the chunks with pages in the checkpoint.
    var storedByteCount = 0
    /// The number of bytes that the store had logged when the checkpoint was begun. Bytes that were logged before the store was opened make
    /// it negative.
    var loggedByteCount: Int
    /// The number of bytes of memory that pages took when the checkpoint was complete.
    var heapByteCount = 0
}
