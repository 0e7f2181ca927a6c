import CambiumBytes
public import CambiumModel

/// Appends transactions to the log of a store. One thread at a time; one process at a time, which the store's lock sees to.
///
/// After a write or a sync that failed the writer is poisoned: what the disk holds is not known, so every later call throws.
///
/// SENDABLE: who owns the writer lets one thread at a time use it, so no access overlaps another, which need not be checked.
public final class LogWriter: @unchecked Sendable {
    public let volume: any Volume
    let settings: StoreSettings
    let makeSaltSeed: () -> [UInt8]
    @exclusivity(unchecked) var file: any VolumeFile
    /// Of the segment that is written to.
    @exclusivity(unchecked) var path: String
    @exclusivity(unchecked) var headFile: any VolumeFile
    /// Whether HEAD has slots of version 1.
    @exclusivity(unchecked) var isHeadOfOldestFormat: Bool
    /// What HEAD says of the tree.
    @exclusivity(unchecked) var headTree: Head.Tree?
    @exclusivity(unchecked) var header: SegmentHeader
    @exclusivity(unchecked) var headerChecksum: UInt32
    @exclusivity(unchecked) var codec: TransactionCodec
    @exclusivity(unchecked) var position: Int
    @exclusivity(unchecked) var lastChecksum: UInt32
    /// The joint that the log ends with, by its offset; `nil` if the log ends with transactions.
    @exclusivity(unchecked) var jointOffset: Int?
    @exclusivity(unchecked) var durablePosition: Int
    @exclusivity(unchecked) var headSequence: UInt64
    @exclusivity(unchecked) var headTime: Int64
    @exclusivity(unchecked) var poison: CambiumError?
    @exclusivity(unchecked) var writer = ByteWriter(capacity: 1024)
    /// The last frame; kept for its memory.
    @exclusivity(unchecked) var frame = ByteWriter(capacity: 1024)
    @exclusivity(unchecked) var staged = Staged()
    /// The length of the segment's file: where room is kept, zeros follow `position`.
    @exclusivity(unchecked) var roomEnd: Int
    let keepsRoom: Bool
    let tuning: LogTuning

    /// The number of the last transaction that was staged.
    @exclusivity(unchecked) public internal(set) var lastTransaction: TransactionNumber
    /// That of the last one that is durable.
    @exclusivity(unchecked) public internal(set) var durableTransaction: TransactionNumber
    @exclusivity(unchecked) public internal(set) var lastTime: Int64
    /// Behind the last frame of the segment that names a file of ops.
    @exclusivity(unchecked) var namedEnd = 0
    /// Whether the log is as it was closed, and HEAD says so.
    @exclusivity(unchecked) var isAsClosed = false
    /// The transactions of the segment that was ended last, if nobody has taken note of it yet.
    @exclusivity(unchecked) var endedSegment: ClosedRange<TransactionNumber>?
    /// The end of the segment that was full, until the next one has its file.
    @exclusivity(unchecked) var rotation: SegmentRotation?
    @exclusivity(unchecked) var ownByteCount = 0
    /// Bytes in frames and headers that this writer has appended.
    public var appendedByteCount: Int { ownByteCount }

    /// The file whose lock the writing process has.
    public static let lockFileName = "LOCK"
    /// How long HEAD may lag behind, in microseconds of the transactions' time.
    static let headInterval: Int64 = 1_000_000

    // MARK: Making and opening

    /// Goes on where a scan of the whole log ended. What the scan found torn is cut first; everything that is kept is made
    /// durable before this returns.
    ///
    /// - Parameter keepsRoom: whether zeros are written ahead of the frames, which spares each sync the file's new length.
    public init(
        _ reader: LogReader, _ end: LogReader.End, keepsRoom: Bool, tuning: LogTuning = .standard,
        saltSeed makeSaltSeed: @escaping () -> [UInt8]
    ) throws(CambiumError) {
        guard let tail = end.tail else { throw LogReader.withoutSegment(reader.volume) }
        volume = reader.volume
        settings = reader.settings
        self.makeSaltSeed = makeSaltSeed
        header = tail.header
        headerChecksum = tail.headerChecksum
        codec = tail.codec
        position = tail.position
        roomEnd = tail.position
        self.keepsRoom = keepsRoom
        self.tuning = tuning
        lastChecksum = tail.lastChecksum
        jointOffset = tail.jointOffset
        durablePosition = tail.position
        lastTransaction = end.lastTransaction
        durableTransaction = end.lastTransaction
        lastTime = end.lastTime
        headSequence = reader.head?.sequence ?? 0
        isHeadOfOldestFormat = reader.head?.isOfOldestFormat ?? false
        // An older HEAD may be of a copy that went on in another way.
        headTree = end.headFlaw == nil ? reader.head?.tree : nil
        headTime = end.lastTime
        path = LogFileName.path(tail.header.firstTransaction, .segment)
        file = try volume.open(path, .update)
        headFile = try volume.open(Head.fileName, try volume.exists(Head.fileName) ? .update : .create)
        if let head = reader.head, head.isClosed, reader.flaws.isEmpty, end.headFlaw == nil, end.verdict == .clean,
            !tail.header.kind.isSealed, lastTransaction != .none, try file.byteCount() == tail.position
        {
            // Whoever closed it made all of it durable; not so who made the store, and ended before its first transaction.
            isAsClosed = true
            try Self.removeLeftovers(volume, end)
            return
        }
        if tail.header.kind.isSealed {
            // What follows it was being made, and is made again.
            try beginSegment(time: lastTime)
        } else {
            try takeOver(tail, end.verdict)
        }
        try Self.removeLeftovers(volume, end)
        // Whoever made the files may have ended before their entries were durable. HEAD must not name one that can still be lost.
        try volume.syncDirectory(LogReader.directory)
        try volume.syncDirectory("")
        try noteOpen()
    }

    /// A slot that says "closed here" must not come back from the disk once something follows: not when the other one is torn either.
    func noteOpen() throws(CambiumError) {
        try writeHead(isClosed: false)
        try writeHead(isClosed: false)
        try poisoning { () throws(CambiumError) in try headFile.sync() }
        isAsClosed = false
    }

    /// Cuts what is torn, makes what is kept durable, and sees to it that frames are appended where none were.
    private func takeOver(_ tail: LogReader.SegmentTail, _ verdict: LogReader.End.Verdict) throws(CambiumError) {
        if case .tornCreation(let path) = verdict {
            try volume.remove(path)
            try volume.syncDirectory(LogReader.directory)
        }
        if try file.byteCount() > tail.position { try file.truncate(to: tail.position) }
        try Self.rewrite(file, from: tail.durableOffset, to: tail.position)
        try file.sync()
        // Frames are never written where others were: what is left of those could verify.
        if case .tornTail = verdict { try beginSegment(time: lastTime) }
    }

    /// The segment that is written to, by its first transaction. Those before it get no more frames.
    public var openSegment: TransactionNumber { header.firstTransaction }

    /// Removes what an earlier process was making when it ended, and no frame names.
    private static func removeLeftovers(_ volume: any Volume, _ end: LogReader.End) throws(CambiumError) {
        for name in try volume.list(LogReader.directory) {
            let isLeftover: Bool =
                switch LogFileName.parse(name) {
                case (_, .pending)?: true
                // What is below may be named by a frame; what is above was never committed, or its frame was torn.
                case (let transaction, .ops)?: transaction > end.lastTransaction
                case (_, .segment)?: false
                case nil: name.hasSuffix(LogFileName.replacementSuffix)
                }
            if isLeftover { try volume.remove(LogReader.directory + "/" + name) }
        }
    }

    /// Writes again what no sync is known to have covered. If one failed, the system may have forgotten that these pages never
    /// reached the disk, and a later sync would succeed without them; the same bytes in the same place do no harm.
    private static func rewrite(_ file: any VolumeFile, from start: Int, to end: Int) throws(CambiumError) {
        var offset = start
        while offset < end {
            let bytes = try file.read(at: offset, count: min(FrameReader.windowByteCount, end - offset))
            guard !bytes.isEmpty else { throw CambiumError(.ioFailure, "The log ends before it did a moment ago.") }
            try file.write(bytes, at: offset)
            offset += bytes.count
        }
    }

    /// The settings of the store that is written to.
    public var store: [UInt8] { settings.store }
}

extension Volume {
    /// Gives a file these bytes, all of them or none, whatever is interrupted.
    func replace(_ path: String, _ bytes: [UInt8]) throws(CambiumError) {
        try withReplacement(of: path, bytes) { newPath throws(CambiumError) in try rename(newPath, to: path) }
    }

    /// As `replace`, for a file that others may share. False where somebody does: then it stays.
    func replaceUnlessShared(_ path: String, _ bytes: [UInt8]) throws(CambiumError) -> Bool {
        try withReplacement(of: path, bytes) { newPath throws(CambiumError) in
            if try renameUnlessShared(newPath, to: path) { return true }
            try remove(newPath)
            return false
        }
    }

    /// Calls `body` with the path of a file that has these bytes. If the disk refuses, removes that file again.
    private func withReplacement<Result>(
        of path: String, _ bytes: [UInt8], _ body: (_ newPath: String) throws(CambiumError) -> Result
    ) throws(CambiumError) -> Result {
        let newPath = path + LogFileName.replacementSuffix
        if try exists(newPath) { try remove(newPath) }
        do throws(CambiumError) {
            try create(newPath, bytes)
            return try body(newPath)
        } catch {
            if (try? exists(newPath)) == true { try? remove(newPath) }  // Otherwise the next checkpoint removes it.
            throw error
        }
    }

    /// Makes a file with these bytes and syncs it. The entry in its directory is the caller's to sync.
    func create(_ path: String, _ bytes: [UInt8]) throws(CambiumError) {
        let file = try open(path, .create)
        defer { file.close() }
        try file.write(bytes, at: 0)
        try file.sync()
    }
}
