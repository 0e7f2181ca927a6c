public import CambiumModel

/// The result of making a checkpoint.
public struct CheckpointReceipt: Sendable, Equatable {
    /// The last transaction in the checkpoint.
    public let transaction: TransactionNumber
    /// The bytes that were written. They are 0 if the transaction had a checkpoint already, or if a reader kept it from being replaced.
    public let byteCount: Int
    /// How many older checkpoints were dropped.
    public let droppedCount: Int
}
