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
    @exclusivity(unchecked) private var staged = Staged()
    /// The length of the segment's file: where room is kept, zeros follow `position`.
    @exclusivity(unchecked) private var roomEnd: Int
    private let keepsRoom: Bool

    /// The number of the last transaction that was staged.
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
    ///
    /// - Parameter keepsRoom: whether zeros are written ahead of the frames, which spares each sync the file's new length.
    public init(
        _ reader: LogReader, _ end: LogReader.End, keepsRoom: Bool, saltSeed makeSaltSeed: @escaping () -> [UInt8]
    ) throws(CambiumError) {
        guard let tail = end.tail else { throw CambiumError(.damaged, "The log has no segment to go on with.") }
        volume = reader.volume
        settings = reader.settings
        self.makeSaltSeed = makeSaltSeed
        header = tail.header
        headerChecksum = tail.headerChecksum
        codec = tail.codec
        position = tail.position
        roomEnd = tail.position
        self.keepsRoom = keepsRoom
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
        if try file.byteCount() > tail.position { try file.truncate(to: tail.position) }
        try Self.rewrite(file, from: tail.durableOffset, to: tail.position)
        try file.sync()
        // Frames are never written where others were: what is left of those could verify.
        if case .tornTail = end.verdict { try beginSegment(time: lastTime) }
        try writeHead(isClosed: false)
        if !reader.flaws.isEmpty { try writeHead(isClosed: false) }
        // A HEAD that says "closed here" must not come back from the disk once frames follow, whoever began to replace it.
        try headFile.sync()
        // Whoever made the files may have failed before their entries were durable.
        try volume.syncDirectory(LogReader.directory)
        try volume.syncDirectory("")
    }

    /// Writes again what no sync is known to have covered. If one failed, the system may have forgotten that these pages never
    /// reached the disk, and a later sync would succeed without them; the same bytes in the same place do no harm.
    private static func rewrite(_ file: any VolumeFile, from start: Int, to end: Int) throws(CambiumError) {
        var offset = start
        while offset < end {
            let bytes = try file.read(at: offset, count: min(SegmentReader.windowByteCount, end - offset))
            guard !bytes.isEmpty else { throw CambiumError(.ioFailure, "The log ends before it did a moment ago.") }
            try file.write(bytes, at: offset)
            offset += bytes.count
        }
    }

    /// The settings of the store that is written to.
    public var store: [UInt8] { settings.store }

    // MARK: Appending

    /// Encodes a transaction that is to be written with those staged before it. Its number follows the last one.
    ///
    /// - Parameter salt: what its payload is hashed with; nil for what follows from the segment.
    /// Throws `.limitExceeded` where it does not fit a frame by itself; then it is not staged.
    public func stage(
        _ metadata: TransactionMetadata, _ payload: [UInt8], salt: [UInt8]? = nil
    ) throws(CambiumError) {
        try checkPoison()
        guard payload.count <= Self.payloadByteCountMax else {
            throw CambiumError(
                .limitExceeded,
                "A transaction takes at most \(Self.payloadByteCountMax >> 20) MiB of log; "
                    + "this one has \(payload.count >> 20). Split it, or import in batches."
            )
        }
        precondition(hasRoom(for: payload), "What is staged is written first where a frame cannot hold both.")
        if staged.count == 0 {
            if position >= Format.Segment.fullByteCount { try rotate() }
            staged.mark = codec.mark
            staged.lastTransaction = lastTransaction
            staged.lastTime = lastTime
        }
        codec.encode(metadata, payload, salt: salt, to: &writer)
        staged.count += 1
        staged.byteCount += payload.count
        lastTransaction = lastTransaction.next
        lastTime = metadata.time
    }

    /// Stages a transaction of another log, with its place in the tree, and writes now and then.
    public func append(_ record: LogRecord, _ payload: [UInt8]) throws(CambiumError) {
        if !hasRoom(for: payload) || staged.byteCount > Format.Frame.blockByteCount { try write() }
        try stage(record.metadata, payload, salt: record.salt.bytes(record.number))
    }

    /// Whether a payload fits into a frame with what is staged.
    public func hasRoom(for payload: [UInt8]) -> Bool {
        staged.count == 0 || staged.byteCount + payload.count <= Self.payloadByteCountMax
    }

    /// Whether nothing is staged, and all that was written is durable.
    public var isDurable: Bool { staged.count == 0 && durablePosition == position }

    /// Writes the staged transactions as one frame, which is in the kernel's hands when this returns.
    ///
    /// - Returns: the bytes of the frame; 0 where nothing is staged.
    /// - Throws: `.ioFailure`. Then nothing of them is in the log, and the writer is as it was before they were staged if the
    ///   disk is full, poisoned else.
    @discardableResult
    public func write() throws(CambiumError) -> Int {
        try checkPoison()
        guard staged.count > 0 else { return 0 }
        var (bytes, checksum) = Frame.encode(
            region: writer.bytes, transactionCount: staged.count, at: position, durableOffset: durablePosition,
            headerChecksum: headerChecksum)
        let byteCount = bytes.count
        if keepsRoom, position + byteCount > roomEnd, byteCount < Self.roomByteCount {
            bytes.append(contentsOf: repeatElement(0, count: Self.roomByteCount))
        }
        do {
            try file.write(bytes, at: position)
        } catch {
            try undoStaged(after: error)
        }
        roomEnd = max(roomEnd, position + bytes.count)
        position += byteCount
        appendedByteCount += bytes.count
        lastChecksum = checksum
        clearStaged()
        return byteCount
    }

    /// A full disk is no reason to give up: what was written of the frame is cut off, and the numbers are free again.
    private func undoStaged(after error: CambiumError) throws(CambiumError) -> Never {
        let isFull = (error.underlying as? SystemError)?.isOutOfSpace ?? false
        do {
            if isFull {
                try file.truncate(to: position)
                // Who is told that a commit failed must not find it there after a loss of power.
                try file.sync()
            }
        } catch {
            poison = error
            throw error
        }
        if !isFull { poison = error }
        if let mark = staged.mark { codec.goBack(to: mark) }
        lastTransaction = staged.lastTransaction
        lastTime = staged.lastTime
        roomEnd = position
        clearStaged()
        throw error
    }

    private func clearStaged() {
        writer.removeAll()
        staged = Staged()
    }

    /// Transactions that were encoded and not written yet, and what the writer was before them.
    private struct Staged {
        var count = 0
        var byteCount = 0
        var mark: TransactionCodec.Mark?
        var lastTransaction = TransactionNumber.none
        var lastTime: Int64 = 0
    }

    /// What the ops of one frame may take, in bytes before compression.
    static let payloadByteCountMax = Format.Frame.bodyByteCountMax - (16 << 20)
    /// How much of a segment is written ahead with zeros, so that a sync need not make a new length of the file durable too.
    static let roomByteCount = 64 << 10

    /// Returns when everything that was appended is durable.
    public func sync() throws(CambiumError) {
        try write()
        guard let pending = try beginSync() else { return }
        let result = pending.run()
        endSync(pending, result)
        try result.get()
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

    /// What has to be synced for everything written so far to be durable; nil where all of it is.
    public func beginSync() throws(CambiumError) -> PendingSync? {
        try checkPoison()
        guard durablePosition < position else { return nil }
        return PendingSync(
            file: file, segment: header.firstTransaction, position: position,
            transaction: staged.count == 0 ? lastTransaction : staged.lastTransaction)
    }

    /// Takes note of how a sync ended. One that failed poisons the writer.
    public func endSync(_ pending: PendingSync, _ result: Result<Void, CambiumError>) {
        if case .failure(let error) = result {
            poison = error
            return
        }
        guard pending.segment == header.firstTransaction, pending.position > durablePosition else { return }
        durablePosition = pending.position
        durableTransaction = pending.transaction
        if lastTime - headTime < Self.headInterval { return }
        // HEAD is a hint: where it cannot be written, the next commit says so, and this one is durable all the same.
        do throws(CambiumError) { try writeHead(isClosed: false) } catch { poison = error }
    }

    /// Syncs, gives back the room that was kept, notes in HEAD that nothing is left to write, and closes the files.
    public func close() throws(CambiumError) {
        defer {
            file.close()
            headFile.close()
        }
        try sync()
        try trim()
        try writeHead(isClosed: true)
        try headFile.sync()
    }

    // MARK: Segments

    private func rotate() throws(CambiumError) {
        try sync()
        try trim()
        try beginSegment(time: lastTime)
        try writeHead(isClosed: false)
    }

    /// Cuts off the room behind the last frame.
    private func trim() throws(CambiumError) {
        guard roomEnd > position else { return }
        try poisoning { () throws(CambiumError) in
            try file.truncate(to: position)
            try file.sync()
        }
        roomEnd = position
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
            // The old one is closed when no sync of it is under way any more.
            file = try volume.open(path, .update)
        }
        header = next
        headerChecksum = ByteReader.peek(bytes, at: Format.Segment.checksumOffset)
        codec = TransactionCodec(time: time)
        position = bytes.count
        roomEnd = position
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
