import CambiumBytes
public import CambiumModel

extension LogWriter {
    /// Where the ops of the transaction after the last one go.
    public func makeOpWriter() -> OpWriter { makeOpWriter(lastTransaction.next) }

    /// Where the ops of the next transaction go.
    ///
    /// - Parameter transaction: its number.
    public func makeOpWriter(_ transaction: TransactionNumber) -> OpWriter {
        OpWriter(log: self, transaction)
    }

    /// Makes the file for the ops of a large transaction.
    func makeOpsFile(_ transaction: TransactionNumber) throws(CambiumError) -> OpsFileWriter {
        // The random bytes make the file another one than any that was there before for this number.
        let header = SegmentHeader(
            version: Format.fileVersion, kind: .ops, store: settings.store, firstTransaction: transaction, creationTime: 0,
            saltSeed: makeSaltSeed(), previousChecksum: 0
        )
        return try OpsFileWriter(volume, header: header)
    }

    /// Encodes a transaction that is to be written with those staged before it. Its number follows the last one.
    ///
    /// - Parameter salt: what its payload is hashed with; nil for what follows from the segment.
    /// Throws `.limitExceeded` where it does not fit a frame by itself; then it is not staged.
    public func stage(_ metadata: TransactionMetadata, _ ops: EncodedOps, salt: [UInt8]? = nil) throws(CambiumError) {
        try checkPoison()
        let byteCount = ops.payload.storedByteCount
        guard byteCount <= Format.Frame.payloadByteCountMax else {
            throw CambiumError(
                .limitExceeded,
                "A transaction takes at most \(Format.Frame.payloadByteCountMax >> 20) MiB of log; "
                    + "this one has \(byteCount >> 20). Split it, or import in batches."
            )
        }
        precondition(hasRoom(for: ops), "What is staged is written first where a frame cannot hold both.")
        // Before the frame that names it, for good: a frame must never be durable without it.
        if let file = ops.file { try poisoning { () throws(CambiumError) in try file.publish() } }
        if staged.count == 0 {
            if position >= tuning.segmentByteCount { try beginRotation() }
            markStaged()
        }
        codec.encode(metadata, StoredPayload(ops.payload), salt: salt, to: &writer)
        staged.count += 1
        if let file = ops.file { staged.files.append(file) }
        lastTransaction = lastTransaction.next
        lastTime = metadata.time.microsecondsSince1970
    }

    /// Notes what the writer is before something is staged.
    private func markStaged() {
        staged.mark = codec.mark
        staged.lastTransaction = lastTransaction
        staged.lastTime = lastTime
    }

    /// Stages a transaction of another log, with its place in the tree, and writes now and then.
    public func append(_ record: LogRecord) throws {
        var writer = makeOpWriter(lastTransaction.next)
        try record.forEachOp { writer.append($0) }
        try append(record.metadata, writer.finish(), salt: record.saltBytes)
    }

    /// Stages a transaction, and writes now and then.
    public func append(_ metadata: TransactionMetadata, _ ops: EncodedOps, salt: [UInt8]? = nil) throws {
        if !hasRoom(for: ops) || writer.count > Format.Frame.blockByteCount { try write() }
        try stage(metadata, ops, salt: salt)
    }

    /// Whether a transaction fits into a frame with what is staged.
    public func hasRoom(for ops: EncodedOps) -> Bool {
        staged.count == 0 || writer.count + ops.payload.storedByteCount <= Format.Frame.payloadByteCountMax
    }

    /// Whether something is staged that is not written yet.
    public var hasStaged: Bool { staged.count > 0 }

    /// Whether nothing is staged, and all that was written is durable.
    public var isDurable: Bool { staged.count == 0 && durablePosition == position }

    /// Writes the staged transactions as one frame, which is in the kernel's hands when this returns.
    ///
    /// - Returns: the bytes of the frame; 0 where nothing is staged.
    /// - Throws: `.ioFailure` if nothing of the frame can ever be read: the writer is as it was before they were staged if the disk is
    ///   full, and poisoned otherwise. `.outcomeUnknown` if the frame may be read at the next opening: the writer is poisoned.
    @discardableResult
    public func write() throws(CambiumError) -> Int {
        try checkPoison()
        if staged.count == 0 { return 0 }
        try finishRotation()
        return try appendFrame()
    }

    /// Writes a frame: the staged transactions, or a joint if none is staged.
    private func appendFrame(_ joint: Joint? = nil) throws(CambiumError) -> Int {
        if isAsClosed {
            do { try noteOpen() } catch { try undoStaged(after: error, isHandedOver: false) }
        }
        let checksum = Frame.encode(
            region: joint?.region ?? writer.bytes, transactionCount: staged.count, at: position, durableOffset: durablePosition,
            headerChecksum: headerChecksum, to: &frame)
        let byteCount = frame.count
        var isHandedOver = false
        do {
            if keepsRoom, byteCount < Self.roomByteCount { try keepRoom(behind: position + byteCount) }
            isHandedOver = true
            try file.write(frame.bytes, at: position)
        } catch {
            try undoStaged(after: error, isHandedOver: isHandedOver)
        }
        roomEnd = max(roomEnd, position + byteCount)
        jointOffset = joint == nil ? nil : position
        position += byteCount
        ownByteCount += byteCount
        lastChecksum = checksum
        clearStaged(keepsFiles: true)
        return byteCount
    }

    /// Writes zeros ahead of a frame, so that no frame is whole on the disk whose writing failed. What the disk has no room for is
    /// not kept.
    private func keepRoom(behind end: Int) throws(CambiumError) {
        guard end > roomEnd else { return }
        let zeros = [UInt8](repeating: 0, count: Self.roomByteCount)
        do throws(CambiumError) {
            try file.write(zeros, at: end)
            roomEnd = end + zeros.count
        } catch {
            guard error.isOutOfSpace else { throw error }
            roomEnd = max(roomEnd, end + zeros.count)
        }
    }

    /// A full disk is no reason to give up: what was written of the frame is cut off, and the numbers are free again.
    ///
    /// - Parameter isHandedOver: whether the system has been given bytes of the frame.
    func undoStaged(after error: CambiumError, isHandedOver: Bool) throws(CambiumError) -> Never {
        let isFull = error.isOutOfSpace
        let isJoint = staged.count == 0
        do {
            if isFull {
                try file.truncate(to: position)
                // Who is told that a commit failed must not find it there after a loss of power.
                try file.sync()
            }
        } catch {
            poison = error
            clearStaged(keepsFiles: true)
            throw isHandedOver && !isJoint ? .outcomeUnknown(nil, error) : error
        }
        if !isFull { poison = error }
        if let mark = staged.mark { codec.goBack(to: mark) }
        lastTransaction = staged.lastTransaction
        lastTime = staged.lastTime
        roomEnd = position
        // Where nothing was cut off, the frame may be there all the same.
        clearStaged(keepsFiles: !isFull)
        if isJoint { throw error }
        if !isFull { throw isHandedOver ? .outcomeUnknown(nil, error) : error }
        throw CambiumError(
            .ioFailure, "\(error.message) Nothing of the transaction is in the log; free some space and commit it again.",
            underlying: error.underlying)
    }

    private func clearStaged(keepsFiles: Bool) {
        if keepsFiles, !staged.files.isEmpty {
            for file in staged.files { file.keep() }
            namedEnd = position
        }
        writer.removeAll(keepingAtMost: Format.Frame.blockByteCount)
        frame.removeAll(keepingAtMost: Format.Frame.blockByteCount)
        staged = Staged()
    }

    /// Transactions that were encoded and not written yet, and what the writer was before them.
    struct Staged {
        var count = 0
        var mark: TransactionCodec.Mark?
        var lastTransaction = TransactionNumber.none
        var lastTime: Int64 = 0
        var files: [OpsFileWriter] = []
    }

    // MARK: Positions

    /// Returns the end of the log as a position that a checkpoint can name. Nothing may be staged.
    ///
    /// - Parameter syncs: whether everything that was written is made durable. Otherwise the caller syncs before it names the position.
    ///
    /// Writes a joint, unless the log ends with one or at the beginning of a segment. A full segment, and one of format 1, is followed by
    /// another one instead. Throws as `write` and `sync`.
    public func endPosition(syncs: Bool = true) throws(CambiumError) -> LogPosition {
        try checkPoison()
        precondition(!hasStaged, "What is staged is written first: the position follows it.")
        if header.firstTransaction <= lastTransaction, position >= tuning.segmentByteCount || !header.hasJoints { try rotate() }
        if header.firstTransaction > lastTransaction { return LogPosition(checksum: header.previousChecksum) }
        if jointOffset == nil {
            markStaged()
            _ = try appendFrame(Joint(transaction: lastTransaction, time: lastTime))
            codec = TransactionCodec(time: lastTime)
        }
        if syncs { try sync() }
        return LogPosition(jointOffset: jointOffset ?? 0, checksum: lastChecksum)
    }

    /// How much of a segment is written ahead with zeros, so that a sync need not make a new length of the file durable too.
    static let roomByteCount = 64 << 10
}

extension Payload {
    /// What it takes in a frame, in bytes before compression.
    fileprivate var storedByteCount: Int {
        switch self {
        case .present(let bytes): bytes.count
        case .file, .redacted: 64
        }
    }
}
