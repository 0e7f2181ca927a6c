public import CambiumModel

/// The result of making a checkpoint.
public struct CheckpointReceipt: Sendable, Equatable {
    /// The last transaction in the checkpoint.
    public let transaction: TransactionNumber
    /// The number of bytes that were written. It is 0 if the transaction had a checkpoint already, or if a reader kept that from being
    /// replaced.
    public let byteCount: Int
    /// The number of older checkpoints that were dropped.
    public let droppedCount: Int
}
