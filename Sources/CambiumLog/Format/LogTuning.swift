/// The sizes and times that control the files of a log and its checkpoints. The format does not depend on these values. Tests use small
/// values.
package struct LogTuning: Sendable {
    /// The ops of a transaction go to a separate file if they have at least this number of bytes.
    package var largeByteCount = 4 << 20
    /// The number of bytes of ops at which a frame in a separate file of ops is complete, and another frame follows.
    package var opsFrameByteCount = 1 << 20
    /// The maximum number of transactions that are written in one frame.
    package var frameTransactionCountMax = Format.Frame.transactionCountMax
    /// The number of bytes at which a segment is complete and another segment follows.
    package var segmentByteCount = 64 << 20
    /// The writer appends a joint before a transaction if the log has at least this number of bytes after the last joint. A reader of a
    /// single transaction begins at a joint.
    package var jointByteCount = 32 << 10
    /// A segment is complete when its distinct actors and messages take this number of bytes. A writer and a reader of the segment keep
    /// these texts in memory.
    package var internedByteCount = 16 << 20
    /// Whether segments that get no more frames are sealed and merged. Compaction always seals the segments that it retires.
    package var sealsSegments = true
    /// The number of bytes of transactions at which a frame of a sealed segment is complete.
    package var sealedFrameByteCount = 256 << 10
    /// Neighboring segments are merged if they have at most this number of bytes together; 0 if segments are never merged.
    package var mergedByteCountMax = 64 << 20
    /// While the store is being closed, segments are sealed or merged only if they have at most this number of bytes.
    package var closingMergeByteCountMax = 1 << 20
    /// Whether segments are sealed and merged in the background. If not, the call that completes a segment waits until the segment is
    /// sealed.
    package var sealsInBackground = true

    /// Whether checkpoints are made automatically in the background. If not, they are made only when the store is closed.
    package var checkpointsInBackground = true
    /// If the log after the newest checkpoint takes this number of bytes, another checkpoint is made. This part of the log must also be at
    /// least a sixteenth as large as the newest checkpoint.
    package var checkpointByteCount = 1 << 20
    /// The number of bytes of log that triggers a checkpoint once the last checkpoint is `checkpointInterval` microseconds old.
    package var oldByteCount = 64 << 10
    package var checkpointInterval: Int64 = 300_000_000
    /// If replaying the log after the newest checkpoint takes this work, in units of `ReplayWork`, another checkpoint is made: while the
    /// store is open, and when it is closed. A unit is about a nanosecond, so the standard is 50 ms.
    package var replayWorkMax = 50_000_000
    /// The minimum pause before a checkpoint that only `replayWorkMax` causes, in microseconds.
    package var replayPauseMin: Int64 = 1_000_000
    /// The number of bytes of log that triggers a checkpoint when the store is closed.
    package var closingCheckpointByteCount = 1 << 20
    /// The maximum number of bytes of log that are hashed when the store is closed, to advance the Merkle tree in the file HEAD.
    package var closingTreeByteCountMax = 128 << 10
    /// If a stored graph has at most this number of bytes, all of its checksums are checked when it is opened. The chunks of a larger graph
    /// are checked when they are first read.
    package var checkedByteCountMax = 8 << 20
    /// A stored graph with at most this number of bytes is opened only after all of its pages and values have been proven valid. The limit
    /// keeps the time to open a store short: the proof takes about 3 ms for each MiB.
    package var provenByteCountMax = 1 << 20
    /// A schema and a table of chunks with at most this number of bytes are stored in the checkpoint record itself, if the record has
    /// enough space.
    package var recordedTableByteCountMax = 4096
    /// The number of bytes that a part of a checkpoint's table may use in its chunk.
    package var tablePartByteCountMax = 65_536
    /// The maximum number of chunks of 64 KiB that the pages of the graph may take.
    package var chunkCountMax = 1 << 20
    /// The number of checkpoints that are always kept: the newest one, and one more in case the newest is corrupt.
    package var newestCheckpointCount = 2
    /// The limit on the pages that only time travel needs is at least this number of bytes, unless the setting `historyPercent` is 0.
    package var pastByteCountMin = 64 << 20

    /// The touch index is extended after a checkpoint if at least this number of transactions are not in it.
    package var touchedTransactionCountMin: UInt64 = 4096
    /// While the store is being closed, the touch index is extended by at most this number of transactions.
    package var closingTouchCountMax: UInt64 = 1 << 18
    /// Parts of the touch index are merged if they have at most this number of touches together.
    package var touchPartCountMax = 1 << 21

    package static let standard = LogTuning()

    package init() {}
}
