import CambiumBytes
public import CambiumModel

/// Appends transactions to the log of a store. One thread at a time; one process at a time, which the store's lock sees to.
///
/// After a write or a sync that failed the writer is poisoned: what the disk holds is not known, so every later call throws.
///
/// SENDABLE: who owns the writer lets one thread at a time use it, so no access overlaps another, which need not be checked.
public final class LogWriter: @unchecked Sendable {
    private let volume: any Volume
    private let settings: StoreSettings
    private let makeSaltSeed: () -> [UInt8]
    private var file: any VolumeFile
    private let headFile: any VolumeFile
    @exclusivity(unchecked) private var header: SegmentHeader
    @exclusivity(unchecked) private var headerChecksum: UInt32
    @exclusivity(unchecked) private var codec: TransactionCodec
    @exclusivity(unchecked) private var position: Int
    @exclusivity(unchecked) private var lastChecksum: UInt32
    @exclusivity(unchecked) private var durablePosition: Int
    private var headSequence: UInt64
    private var headTime: Int64
    @exclusivity(unchecked) private var poison: CambiumError?
    @exclusivity(unchecked) private var writer = ByteWriter(capacity: 1024)

    /// The number of the last transaction that was appended.
    @exclusivity(unchecked) public private(set) var lastTransaction: TransactionNumber
    /// That of the last one that is durable.
    @exclusivity(unchecked) public private(set) var durableTransaction: TransactionNumber
    @exclusivity(unchecked) public private(set) var lastTime: Int64
    /// Bytes in frames and headers that this writer has appended.
    @exclusivity(unchecked) public private(set) var appendedByteCount = 0

    /// How long HEAD may lag behind, in microseconds of the transactions' time.
    private static let headInterval: Int64 = 1_000_000

    // MARK: Making and opening

    /// Makes the files of an empty store. The directory must be there and have none of them.
    public static func create(
        _ volume: any Volume, _ settings: StoreSettings, saltSeed: [UInt8]
    ) throws(CambiumError) {
        guard try !volume.exists(StoreSettings.fileName) else {
            throw CambiumError(.cannotCreate, "There is a store at '\(volume.name)' already.")
        }
        try volume.createDirectory(LogReader.directory)
        let first = TransactionNumber(rawValue: 1)
        let header = SegmentHeader(
            store: settings.store, firstTransaction: first, creationTime: settings.creationTime, saltSeed: saltSeed,
            previousChecksum: 0)
        try volume.create(LogReader.path(first), header.encode())
        try volume.syncDirectory(LogReader.directory)
        let position = UInt64(Format.Segment.headerByteCount)
        let heads = [0, 1].map { sequence in
            Head(sequence: sequence, segment: first, position: position, lastTransaction: .none, isClosed: true).encode(
                store: settings.store)
        }
        try volume.create(Head.fileName, heads[0] + heads[1])
        // The settings come last: they are what makes the directory a store.
        try volume.replace(StoreSettings.fileName, settings.encode())
        try volume.syncDirectory("")
    }

    /// Goes on where a scan of the whole log ended. What the scan found torn is cut first; everything that is kept is made
    /// durable before this returns.
    public init(
        _ reader: LogReader, _ end: LogReader.End, saltSeed makeSaltSeed: @escaping () -> [UInt8]
    ) throws(CambiumError) {
        guard let tail = end.tail else { throw CambiumError(.damaged, "The log has no segment to go on with.") }
        volume = reader.volume
        settings = reader.settings
        self.makeSaltSeed = makeSaltSeed
        header = tail.header
        headerChecksum = tail.headerChecksum
        codec = tail.codec
        position = tail.position
        lastChecksum = tail.lastChecksum
        durablePosition = tail.position
        lastTransaction = end.lastTransaction
        durableTransaction = end.lastTransaction
        lastTime = end.lastTime
        headSequence = reader.head?.sequence ?? 0
        headTime = end.lastTime
        file = try volume.open(LogReader.path(tail.header.firstTransaction), .update)
        headFile = try volume.open(Head.fileName, try volume.exists(Head.fileName) ? .update : .create)
        if case .tornCreation(let path) = end.verdict {
            try volume.remove(path)
            try volume.syncDirectory(LogReader.directory)
        }
        if case .tornTail = end.verdict { try file.truncate(to: tail.position) }
        try file.sync()
        // Frames are never written where others were: what is left of those could verify.
        if case .tornTail = end.verdict { try beginSegment(time: lastTime) }
        try writeHead(isClosed: false)
        if !reader.flaws.isEmpty { try writeHead(isClosed: false) }
    }

    /// The settings of the store that is written to.
    public var store: [UInt8] { settings.store }

    // MARK: Appending

    /// Appends transactions as one frame, which is in the kernel's hands when this returns. Their numbers follow the last one.
    ///
    /// - Returns: the bytes that were appended.
    /// - Throws: `.limitExceeded` where they do not fit a frame (nothing was written); `.ioFailure`, which poisons the writer.
    public func append(_ transactions: [(metadata: TransactionMetadata, payload: [UInt8])]) throws(CambiumError) -> Int {
        try checkPoison()
        guard let last = transactions.last else { return 0 }
        let payloadByteCount = transactions.reduce(0) { $0 + $1.payload.count }
        guard payloadByteCount <= Self.payloadByteCountMax else {
            throw CambiumError(
                .limitExceeded,
                "A transaction takes at most \(Self.payloadByteCountMax >> 20) MiB of log; "
                    + "this one has \(payloadByteCount >> 20). Split it, or import in batches."
            )
        }
        if position >= Format.Segment.fullByteCount { try rotate() }
        writer.removeAll()
        for (metadata, payload) in transactions { codec.encode(metadata, payload, to: &writer) }
        let (bytes, checksum) = Frame.encode(
            region: writer.bytes, transactionCount: transactions.count, at: position, durableOffset: durablePosition,
            headerChecksum: headerChecksum)
        try poisoning { () throws(CambiumError) in try file.write(bytes, at: position) }
        position += bytes.count
        appendedByteCount += bytes.count
        lastChecksum = checksum
        lastTransaction = TransactionNumber(rawValue: lastTransaction.rawValue + UInt64(transactions.count))
        lastTime = last.metadata.time
        return bytes.count
    }

    /// What the ops of one append may take, in bytes before compression.
    static let payloadByteCountMax = Format.Frame.bodyByteCountMax - (16 << 20)

    /// Returns when everything that was appended is durable.
    public func sync() throws(CambiumError) {
        guard let pending = try beginSync() else { return }
        try endSync(pending, pending.run())
    }

    /// A sync that has been decided on and may run while others append.
    public struct PendingSync: Sendable {
        let file: any VolumeFile
        let segment: TransactionNumber
        let position: Int
        public let transaction: TransactionNumber

        /// Waits for the disk. Any thread, without the owner's lock.
        public func run() -> Result<Void, CambiumError> {
            Result { () throws(CambiumError) in try file.sync() }
        }
    }

    /// What has to be synced for everything appended so far to be durable; nil where all of it is.
    public func beginSync() throws(CambiumError) -> PendingSync? {
        try checkPoison()
        guard durablePosition < position else { return nil }
        return PendingSync(
            file: file, segment: header.firstTransaction, position: position, transaction: lastTransaction)
    }

    /// Takes note of how a sync ended.
    public func endSync(_ pending: PendingSync, _ result: Result<Void, CambiumError>) throws(CambiumError) {
        try poisoning { () throws(CambiumError) in try result.get() }
        guard pending.segment == header.firstTransaction, pending.position > durablePosition else { return }
        durablePosition = pending.position
        durableTransaction = pending.transaction
        if lastTime - headTime >= Self.headInterval { try writeHead(isClosed: false) }
    }

    /// Syncs, notes in HEAD that nothing is left to write, and closes the files.
    public func close() throws(CambiumError) {
        defer {
            file.close()
            headFile.close()
        }
        try sync()
        try writeHead(isClosed: true)
        try headFile.sync()
    }

    // MARK: Segments

    private func rotate() throws(CambiumError) {
        try sync()
        try beginSegment(time: lastTime)
        try writeHead(isClosed: false)
    }

    private func beginSegment(time: Int64) throws(CambiumError) {
        let next = SegmentHeader(
            store: settings.store, firstTransaction: lastTransaction.next, creationTime: time, saltSeed: makeSaltSeed(),
            previousChecksum: lastChecksum)
        let bytes = next.encode()
        let path = LogReader.path(next.firstTransaction)
        try poisoning { () throws(CambiumError) in
            // A segment of this name has lost all of its frames; this one takes its place, with another salt.
            if try volume.exists(path) {
                try volume.replace(path, bytes)
            } else {
                try volume.create(path, bytes)
            }
            try volume.syncDirectory(LogReader.directory)
            file.close()
            file = try volume.open(path, .update)
        }
        header = next
        headerChecksum = ByteReader.peek(bytes, at: Format.Segment.checksumOffset)
        codec = TransactionCodec(time: time)
        position = bytes.count
        durablePosition = position
        appendedByteCount += bytes.count
    }

    /// HEAD is a hint: it is written, not synced, and a slot that is torn leaves the other one.
    private func writeHead(isClosed: Bool) throws(CambiumError) {
        headSequence += 1
        let head = Head(
            sequence: headSequence, segment: header.firstTransaction, position: UInt64(durablePosition),
            lastTransaction: durableTransaction, isClosed: isClosed)
        let offset = Int(headSequence % 2) * Format.Head.slotByteCount
        try poisoning { () throws(CambiumError) in try headFile.write(head.encode(store: settings.store), at: offset) }
        headTime = lastTime
    }

    // MARK: Poison

    private func checkPoison() throws(CambiumError) {
        guard let poison else { return }
        throw CambiumError(
            .notWritable, "An earlier write failed, so nothing more is written; open the store again. It was: \(poison.message)",
            underlying: poison)
    }

    private func poisoning(_ body: () throws(CambiumError) -> Void) throws(CambiumError) {
        do {
            try body()
        } catch {
            poison = error
            throw error
        }
    }
}

extension Volume {
    /// Gives a file these bytes, all of them or none, whatever is interrupted.
    func replace(_ path: String, _ bytes: [UInt8]) throws(CambiumError) {
        let newPath = path + ".new"
        if try exists(newPath) { try remove(newPath) }
        try create(newPath, bytes)
        try rename(newPath, to: path)
    }

    /// Makes a file with these bytes and syncs it. The entry in its directory is the caller's to sync.
    func create(_ path: String, _ bytes: [UInt8]) throws(CambiumError) {
        let file = try open(path, .create)
        defer { file.close() }
        try file.write(bytes, at: 0)
        try file.sync()
    }
}
