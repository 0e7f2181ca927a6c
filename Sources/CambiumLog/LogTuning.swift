/// The sizes by which a log is cut into files. The format does not depend on them; tests make them small.
public struct LogTuning: Sendable {
    /// From how many bytes on the ops of a transaction go into a file of their own.
    public var largeByteCount = 4 << 20
    /// Bytes of ops in one frame of such a file.
    public var opsFrameByteCount = 1 << 20
    /// A segment that has more is followed by another one.
    public var segmentByteCount = 64 << 20
    /// Whether segments that get no more frames are sealed and merged. Compaction seals what it retires in any case.
    public var sealsSegments = true
    /// Bytes of transactions in one frame of a sealed segment.
    public var sealedFrameByteCount = 256 << 10
    /// The most bytes of neighbouring segments that are merged into one; 0 if none are.
    public var mergedByteCountMax = 64 << 20
    /// The most bytes of segments that are sealed or merged if the store is being closed already.
    public var closingMergeByteCountMax = 1 << 20
    /// Whether segments are sealed and merged while others write, or before the call that gives cause to it returns.
    public var sealsInBackground = true

    /// Whether checkpoints are made by themselves while others write, or at closing only.
    public var checkpointsInBackground = true
    /// From how many bytes of log behind the newest checkpoint on another one is made, if they are a sixteenth of what it has, too.
    public var checkpointByteCount = 4 << 20
    /// From how many on another one is made when the last one is so long ago: in microseconds.
    public var oldByteCount = 64 << 10
    public var checkpointInterval: Int64 = 300_000_000
    /// From how many on one is made when the store is closed.
    public var closingCheckpointByteCount = 1 << 20
    /// Closing hashes at most so much log for the tree in HEAD.
    public var closingTreeByteCountMax = 128 << 10
    /// The checksums of a stored graph of at most so many bytes are checked when it is opened, those of a larger one where it is read.
    public var checkedByteCountMax = 8 << 20
    /// Stored graphs of at most so many bytes are proven when they are opened, pages and values: about 3 ms for each MiB.
    public var provenByteCountMax = 1 << 20
    /// The schema and the table of chunks stand in the record of a checkpoint if they have at most so many bytes, and no more than it has
    /// room for.
    public var recordedTableByteCountMax = 4096
    /// What is used of a chunk that has a part of such a table.
    public var tablePartByteCountMax = 65_536
    /// The most chunks of 64 KiB that the pages of the graph take.
    public var chunkCountMax = 1 << 20
    /// How many checkpoints are kept whatever the settings say: the newest, and one to go back to.
    public var newestRootCount = 2
    /// What checkpoints of the past may take however little the newest one has.
    public var pastByteCountMin = 64 << 20

    public static let standard = LogTuning()

    public init() {}
}
