import CambiumBytes
package import CambiumModel
package import CambiumProofs

/// A writer that appends transactions to the log of a store. Only one thread at a time may use a writer; the store's lock ensures that only
/// one process writes.
///
/// After a failed write or sync, the writer is poisoned: the content of the disk is not known, so every later call throws.
///
/// SENDABLE: the owner of the writer lets only one thread at a time use it. So accesses never overlap, and the runtime need not check them.
package final class LogWriter: @unchecked Sendable {
    package let volume: any Volume
    let settings: StoreSettings
    let makeSaltSeed: () -> [UInt8]
    @exclusivity(unchecked) var file: any VolumeFile
    /// The path of the segment to which the writer appends.
    @exclusivity(unchecked) var path: String
    @exclusivity(unchecked) var headFile: any VolumeFile
    /// The Merkle tree that the file HEAD contains.
    @exclusivity(unchecked) var headTree: Head.Tree?
    @exclusivity(unchecked) var header: SegmentHeader
    @exclusivity(unchecked) var headerChecksum: UInt32
    @exclusivity(unchecked) var codec: TransactionCodec
    @exclusivity(unchecked) var position: Int
    @exclusivity(unchecked) var lastChecksum: UInt32
    /// The offset of the joint with which the log ends; `nil` if the log ends with transactions. A joint is a frame without transactions
    /// that marks a position in the log.
    @exclusivity(unchecked) var jointOffset: Int?
    /// The end of the last joint in the segment, as far as the writer knows; otherwise, the beginning of its frames.
    @exclusivity(unchecked) var jointEnd: Int
    @exclusivity(unchecked) var durablePosition: Int
    @exclusivity(unchecked) var headSequence: UInt64
    /// The time that the clock showed when HEAD was last written, in microseconds since 1970.
    @exclusivity(unchecked) var headTime: Int64
    /// The time that the clock showed when a transaction was last staged, in microseconds since 1970. It is earlier than `lastTime` if the
    /// clock was set back.
    @exclusivity(unchecked) var clockTime: Int64
    @exclusivity(unchecked) var poison: CambiumError?
    @exclusivity(unchecked) var writer = ByteWriter(capacity: 1024)
    /// The bytes of the last frame. The buffer is kept so that the next frame reuses its memory.
    @exclusivity(unchecked) var frame = ByteWriter(capacity: 1024)
    @exclusivity(unchecked) var staged = Staged()
    /// The length of the file to which the writer appends. The bytes between `position` and this length are preallocated zeros.
    @exclusivity(unchecked) var preallocatedEnd: Int
    let preallocates: Bool
    let tuning: LogTuning
    /// The lock of the store; `nil` if the caller ensures in another way that no other process writes.
    @exclusivity(unchecked) package var lock: (any VolumeLock)?
    /// Whether the writer must check the lock before it writes the next frame, because a sync has ended since the last frame.
    @exclusivity(unchecked) var isLockCheckDue = true

    /// The number of the last transaction that was staged.
    @exclusivity(unchecked) package internal(set) var lastTransaction: TransactionNumber
    /// The number of the last transaction that is durable.
    @exclusivity(unchecked) package internal(set) var durableTransaction: TransactionNumber
    @exclusivity(unchecked) package internal(set) var lastTime: Int64
    /// The earliest possible time of the next transaction. A segment without transactions may state a creation time that is later than the
    /// last transaction.
    package var timeMin: Int64 { max(lastTime, codec.time) }
    /// The end of the last frame that refers to a file of ops, in the current segment.
    @exclusivity(unchecked) var namedEnd = 0
    /// Whether the log has not changed since it was closed, and HEAD states that the log is closed.
    @exclusivity(unchecked) var isAsClosed = false
    /// The transactions of the last segment that ended, until `takeEndedSegment` returns them.
    @exclusivity(unchecked) var endedSegment: ClosedRange<TransactionNumber>?
    /// The rotation from the full segment to the next segment; `nil` once the writer has the file of the next segment.
    @exclusivity(unchecked) var rotation: SegmentRotation?
    @exclusivity(unchecked) var ownByteCount = 0
    /// The number of bytes in the frames and headers that this writer has appended.
    package var appendedByteCount: Int { ownByteCount }

    /// The file that the writing process locks.
    package static let lockFileName = StoreFileName.lock
    /// The time after which a sync writes HEAD again, in microseconds.
    static let headInterval: Int64 = 1_000_000

    // MARK: Creating and opening

    /// Creates a writer that continues where a scan of the whole log ended. Cuts off the torn end that the scan found, and makes the rest
    /// durable before the call returns.
    ///
    /// - Parameter preallocates: whether to write zeros beyond the frames in advance. If so, a sync need not make a new file length
    ///   durable.
    package init(
        _ reader: LogReader, _ end: LogReader.End, preallocates: Bool, tuning: LogTuning = .standard,
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
        preallocatedEnd = tail.position
        self.preallocates = preallocates
        self.tuning = tuning
        lastChecksum = tail.lastChecksum
        jointOffset = tail.jointOffset
        jointEnd = tail.jointEnd
        durablePosition = tail.position
        lastTransaction = end.lastTransaction
        durableTransaction = end.lastTransaction
        lastTime = end.lastTime
        // No writer reaches the greatest sequence numbers. If another program wrote such a number, this writer continues with a small
        // number for the same slot. That is safe, because `markOpen` replaces both slots before anything is appended.
        let sequence = reader.head?.sequence ?? 0
        headSequence = sequence <= Format.Head.sequenceMax / 2 ? sequence : sequence % 2
        // `headFlaw` means that HEAD is older than the log. Such a HEAD may belong to a copy of the store that has diverged, so its tree
        // may be wrong.
        headTree = end.headFlaw == nil ? reader.head?.tree : nil
        (headTime, clockTime) = (end.lastTime, end.lastTime)
        path = LogFileName.path(tail.header.firstTransaction, .segment)
        file = try volume.open(path, .update)
        headFile = try volume.open(Head.fileName, try volume.exists(Head.fileName) ? .update : .create)
        if let head = reader.head, head.isClosed, reader.flaws.isEmpty, end.headFlaw == nil, end.verdict == .clean,
            !tail.header.kind.isSealed, lastTransaction != .none, try file.byteCount() == tail.position
        {
            // The process that closed the log has synced the whole log. The condition excludes the only exception, a log without
            // transactions: the process that created the store may have ended before the first transaction.
            isAsClosed = true
            try Self.removeLeftovers(volume, end)
            return
        }
        if tail.header.kind.isSealed {
            // No complete segment follows the last sealed segment, so the writer creates a segment.
            try beginSegment(time: lastTime)
        } else {
            try takeOver(tail, end.verdict)
        }
        try Self.removeLeftovers(volume, end)
        // The process that created the segments and HEAD may have ended before their directory entries were durable. HEAD must not refer to
        // a file that a power failure can still remove.
        try volume.syncDirectory(LogDirectory.name)
        try volume.syncDirectory("")
        try cutHead()
        try markOpen()
    }

    // Keeps the files of staged transactions that were never written. The lock of the store may already be released, so another writer may
    // have created files with the same names. Files to which no frame refers are removed when the store is next opened.
    deinit { for file in staged.files { file.keep() } }

    /// Marks HEAD as open, in both slots, durably. Once frames are appended, neither slot may state that the log was closed, because a
    /// reader uses the other slot if one slot is torn.
    func markOpen() throws(CambiumError) {
        try writeHead(isClosed: false)
        try writeHead(isClosed: false)
        try poisoning { () throws(CambiumError) in try syncHead() }
        isAsClosed = false
    }

    /// Cuts off torn bytes, and makes the rest durable. If bytes were torn, begins another segment, so that new frames never overwrite old
    /// ones.
    private func takeOver(_ tail: LogReader.SegmentTail, _ verdict: LogReader.End.Verdict) throws(CambiumError) {
        if case .tornCreation(let path) = verdict {
            try volume.remove(path)
            try volume.syncDirectory(LogDirectory.name)
        }
        if try file.byteCount() > tail.position { try file.truncate(to: tail.position) }
        try Self.rewrite(file, from: tail.durableOffset, to: tail.position)
        try file.sync()
        // New frames are never written over earlier frames, because remains of the earlier frames could still verify.
        if case .tornTail = verdict { try beginSegment(time: lastTime) }
    }

    /// The first transaction of the segment that the writer appends to. Earlier segments get no more frames.
    package var openSegment: TransactionNumber { header.firstTransaction }

    /// Removes files that an earlier process left incomplete, and to which no frame refers.
    private static func removeLeftovers(_ volume: any Volume, _ end: LogReader.End) throws(CambiumError) {
        for name in try volume.list(LogDirectory.name) {
            let isLeftover: Bool =
                switch LogFileName.parse(name) {
                case (_, .pending)?: true
                // A frame can refer to a file of the last transaction or of an earlier one. A later file was never committed, or its frame
                // was torn.
                case (let transaction, .ops)?: transaction > end.lastTransaction
                case (_, .segment)?: false
                case nil: name.hasSuffix(LogFileName.replacementSuffix)
                }
            if isLeftover { try volume.remove(LogDirectory.name + "/" + name) }
        }
    }

    /// Writes bytes to the same place once more, because an earlier sync of these bytes may have failed. After a failed sync, the kernel
    /// may have marked the pages of these bytes as written although the bytes never reached the disk. A later sync would then succeed
    /// without writing the bytes.
    private static func rewrite(_ file: any VolumeFile, from start: Int, to end: Int) throws(CambiumError) {
        var offset = start
        while offset < end {
            let bytes = try file.read(at: offset, count: min(FrameReader.windowByteCount, end - offset))
            guard !bytes.isEmpty else {
                throw CambiumError(
                    .ioFailure,
                    "A log file became shorter while it was read. Another program may have changed it. Run 'cambium verify'.")
            }
            try file.write(bytes, at: offset)
            offset += bytes.count
        }
    }

    /// The id of the writer's store, 16 bytes.
    package var store: [UInt8] { settings.store }
}

extension LogWriter {
    /// Creates the files of an empty store, durably. The caller ensures that none of the files exists, and holds the lock of the directory.
    ///
    /// `StoreCreation` ensures that no program regards the files as a store before the first transaction is durable.
    package static func create(
        _ volume: any Volume, _ settings: StoreSettings, saltSeed: [UInt8]
    ) throws(CambiumError) {
        try volume.createDirectory(LogDirectory.name)
        let first = TransactionNumber(rawValue: 1)
        let header = SegmentHeader(
            store: settings.store, firstTransaction: first, creationTime: settings.creationTime, saltSeed: saltSeed,
            previousChecksum: 0)
        try volume.create(LogFileName.path(first, .segment), header.encode())
        try volume.syncDirectory(LogDirectory.name)
        let position = UInt64(Format.Segment.headerByteCount)
        let heads = [0, 1].map { sequence in
            Head(sequence: sequence, segment: first, position: position, lastTransaction: .none, isClosed: true).encode(
                store: settings.store)
        }
        try volume.create(Head.fileName, heads[0] + heads[1])
        try volume.replace(StoreSettings.fileName, settings.encode())
        try volume.syncDirectory("")
    }

    /// Writes one of the two slots of the file HEAD, without a sync: HEAD is only a hint about the durable part of the log. If the slot is
    /// torn, the other slot is still valid.
    func writeHead(isClosed: Bool) throws(CambiumError) {
        headSequence += 1
        let head = Head(
            sequence: headSequence, segment: header.firstTransaction, position: UInt64(durablePosition),
            lastTransaction: durableTransaction, isClosed: isClosed, tree: headTree)
        try poisoning { () throws(CambiumError) in
            let offset = Int(headSequence % 2) * Format.Head.slotByteCount
            try headFile.write(head.encode(store: settings.store), at: offset)
        }
        headTime = clockTime
    }

    /// Cuts off the bytes after the slots. No write of a slot replaces these bytes, so every verification would report them.
    func cutHead() throws(CambiumError) {
        let byteCount = 2 * Format.Head.slotByteCount
        if try headFile.byteCount() > byteCount { try headFile.truncate(to: byteCount) }
    }

    /// Makes HEAD durable. After a failure, the caller must write HEAD again before it repeats the call.
    func syncHead() throws(CambiumError) {
        do throws(CambiumError) {
            try headFile.sync()
        } catch {
            // Each later sync through the same open file would fail, too, even if the disk is no longer full. So the file is opened again.
            // If that fails, the next sync also fails, and then tries again to open the file.
            if let file = try? volume.open(Head.fileName, .update) {
                headFile.close()
                headFile = file
            }
            throw error
        }
    }

    /// Syncs, releases the preallocated space, records in HEAD that the log is closed, and closes the files.
    ///
    /// Complexity: O(bytes of the log after `base`). At most `LogTuning.closingTreeByteCountMax` of these bytes are hashed.
    ///
    /// - Parameters:
    ///   - tree: the newest known tree; `nil` for the tree of an empty log.
    ///   - base: the position after the last transaction in the tree.
    package func close(_ tree: MerkleTree? = nil, after base: LogPrefix? = nil) throws(CambiumError) {
        defer {
            file.close()
            headFile.close()
        }
        if isAsClosed, !hasStaged { return }
        try checkLock()
        try sync()
        try trim()
        advanceTree(tree ?? MerkleTree(), after: base)
        try writeHead(isClosed: true)
        try headFile.sync()
    }

    /// Advances the Merkle tree in HEAD to the last transaction. If that advance would take a long time, or if the log cannot be read, HEAD
    /// gets the known tree instead: closing must be fast.
    private func advanceTree(_ known: MerkleTree, after base: LogPrefix?) {
        var tree = LogTree(known)
        do {
            try tree.append(LogReader(volume), after: base, upTo: lastTransaction, byteCountMax: tuning.closingTreeByteCountMax)
        } catch {
            // The log is too long, or cannot be read. In both cases, the known tree is correct, and `verify` reports any corruption. A tree
            // in HEAD that contradicts the log stays as evidence for `verify`: the known tree does not extend beyond the tree in HEAD.
        }
        if tree.transaction > headTree?.transaction ?? .none { headTree = Head.Tree(tree.tree) }
    }
}
