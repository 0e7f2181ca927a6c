import CambiumLog

/// The shapes of the attacked stores. All shapes have the same transactions.
enum SampleKind: String, CaseIterable, Sendable {
    /// One segment without a checkpoint.
    case small
    /// Three checkpoints, and more log after the last one.
    case checkpointed
    /// Sealed segments, and a transaction that has its ops in a separate file. There is no checkpoint.
    case sealed
    /// Sealed segments and checkpoints. Compaction has retired the changes in the first segments.
    case compacted
    /// A compacted store with an archive.
    case archived
    /// Checkpoints with compressed pages.
    case compressed
    /// A store like `sealed` that its writer has not closed, so nothing proves that the last transactions were durable.
    case unclosed

    var tuning: LogTuning {
        var tuning = LogTuning()
        (tuning.checkpointsInBackground, tuning.sealsInBackground) = (false, false)
        (tuning.closingCheckpointByteCount, tuning.checkpointByteCount) = (.max, .max)
        if [.sealed, .compacted, .archived, .unclosed].contains(self) {
            (tuning.largeByteCount, tuning.opsFrameByteCount) = (1500, 600)
            (tuning.segmentByteCount, tuning.mergedByteCountMax, tuning.sealedFrameByteCount) = (900, 0, 500)
        }
        return tuning
    }

    /// The moments that replace placeholders in the arguments of commands. A compacted sample shows only moments from transaction 11 on.
    var moments: [String: String] {
        isCompacted
            ? ["{moment}": "12", "{next}": "13", "since:{kept}": "since:12"]
            : ["{moment}": "5", "{next}": "6", "since:{kept}": "since:9"]
    }

    var hasCheckpoints: Bool { [.checkpointed, .compacted, .archived, .compressed].contains(self) }

    var isCompacted: Bool { [.compacted, .archived].contains(self) }
}
