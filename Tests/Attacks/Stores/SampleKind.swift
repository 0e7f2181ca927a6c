import CambiumLog

/// The shapes of stores that are attacked. All have the same transactions.
enum SampleKind: String, CaseIterable, Sendable {
    /// One segment, and no checkpoint.
    case small
    /// Three checkpoints, and log after the last one.
    case checkpointed
    /// Sealed segments, a transaction with a file of its own, and no checkpoint.
    case sealed
    /// Sealed segments of which compaction retired the first ones.
    case compacted
    /// The same, with an archive.
    case archived
    /// Checkpoints whose pages are compressed.
    case compressed
    /// As `sealed`, and its writer has not closed it: nothing proves that the last transactions were durable.
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

    /// The moments that commands name. A compacted sample shows those from transaction 11 on.
    var moments: [String: String] {
        isCompacted
            ? ["{moment}": "12", "{next}": "13", "since:{kept}": "since:12"]
            : ["{moment}": "5", "{next}": "6", "since:{kept}": "since:9"]
    }

    var hasCheckpoints: Bool { [.checkpointed, .compacted, .archived, .compressed].contains(self) }

    var isCompacted: Bool { [.compacted, .archived].contains(self) }
}
