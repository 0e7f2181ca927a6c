public import CambiumModel

/// The result of making a checkpoint.
///
/// ```swift
/// let receipt = try store.checkpoint()
/// print(receipt.transaction, receipt.byteCount)
/// ```
public struct CheckpointReceipt: Sendable, Equatable {
    /// The last transaction in the checkpoint.
    public let transaction: TransactionNumber
    /// The number of bytes that were written. It is 0 if the transaction already had a checkpoint, or if an existing checkpoint could not
    /// be replaced, because a reader was using it.
    public let byteCount: Int
    /// The number of older checkpoints that were dropped.
    package let droppedCount: Int
}
