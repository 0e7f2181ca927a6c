import CambiumBytes
package import CambiumModel

extension LogWriter {
    /// Returns a writer for the ops of the transaction that follows the last transaction.
    package func makeOpWriter() -> OpWriter { makeOpWriter(lastTransaction.next) }

    /// Returns a writer for the ops of a transaction that is not yet in the log.
    ///
    /// - Parameter transaction: the number of that transaction.
    package func makeOpWriter(_ transaction: TransactionNumber) -> OpWriter {
        OpWriter(log: self, transaction)
    }

    /// Creates the file for the ops of a large transaction.
    func makeOpsFile(_ transaction: TransactionNumber) throws(CambiumError) -> OpsFileWriter {
        // If the lock was lost or the directory was replaced, a file with the same name belongs to another writer or another store.
        try checkPlace()
        // The random bytes in the header distinguish the file from earlier files of ops for a transaction with the same number.
        let header = SegmentHeader(
            kind: .ops, store: settings.store, firstTransaction: transaction, creationTime: 0,
            saltSeed: makeSaltSeed(), previousChecksum: 0
        )
        return try OpsFileWriter(volume, header: header)
    }

    /// Encodes a transaction with the next number. The next `write` writes this transaction and the other staged transactions in one frame.
    ///
    /// - Parameter salt: the salt with which the payload is hashed; `nil` for the salt that follows from the segment's seed.
    /// - Throws: `.limitExceeded` if the transaction alone does not fit into a frame. In that case, the transaction is not staged.
    package func stage(_ metadata: TransactionMetadata, _ ops: EncodedOps, salt: [UInt8]? = nil) throws(CambiumError) {
        try checkPoison()
        let byteCount = ops.payload.storedByteCount
        guard byteCount <= Format.Frame.payloadByteCountMax else {
            throw CambiumError(
                .limitExceeded,
                "A transaction takes at most \(Format.Frame.payloadByteCountMax) bytes of log; this transaction takes \(byteCount). "
                    + "Split the transaction, or import in batches."
            )
        }
        precondition(hasCapacity(for: ops), "The staged transactions must be written first if one frame cannot hold them and these ops.")
        // Makes the file durable before the frame that refers to it: a frame must never be durable without its file.
        if let file = ops.file {
            try checkPlace()
            try poisoning { () throws(CambiumError) in try file.publish() }
        }
        if staged.count == 0 {
            if position >= tuning.segmentByteCount || codec.internedByteCount >= tuning.internedByteCount {
                try beginRotation()
            } else if position - jointEnd >= tuning.jointByteCount, jointOffset == nil, rotation == nil {
                try appendJoint()
            }
            markStaged()
        }
        codec.encode(metadata, StoredPayload(ops.payload), salt: salt, to: &writer)
        staged.count += 1
        if let file = ops.file { staged.files.append(file) }
        lastTransaction = lastTransaction.next
        lastTime = metadata.time.microsecondsSince1970
        clockTime = (metadata.time - metadata.clockLag).microsecondsSince1970
    }

    /// Records the state of the writer before the first transaction is staged, so that a failed write can return to this state.
    private func markStaged() {
        staged.mark = codec.mark
        staged.lastTransaction = lastTransaction
        staged.lastTime = lastTime
    }

    /// Stages a transaction of another log. Keeps its salt, so that the hash of its payload stays the same. If its time is earlier than the
    /// time of the last transaction, the transaction gets that later time. First writes the staged transactions if they take more than 1
    /// MiB, or if one frame has no space for them and this transaction.
    package func append(_ record: LogRecord) throws {
        var writer = makeOpWriter(lastTransaction.next)
        try record.forEachOp { writer.append($0) }
        var metadata = record.metadata
        // During a repair, `lastTime` may come from a forged checkpoint, and may be later than the following transactions.
        metadata.time = max(metadata.time, Timestamp(microsecondsSince1970: lastTime))
        try append(metadata, writer.finish(), salt: record.saltBytes)
    }

    /// Stages a transaction. First writes the staged transactions if they take more than 1 MiB, or if one frame has no space for them and
    /// this transaction.
    package func append(_ metadata: TransactionMetadata, _ ops: EncodedOps, salt: [UInt8]? = nil) throws {
        if !hasCapacity(for: ops) || writer.count > Format.Frame.blockByteCount { try write() }
        try stage(metadata, ops, salt: salt)
    }

    /// Whether a transaction fits into one frame together with the staged transactions.
    package func hasCapacity(for ops: EncodedOps) -> Bool {
        staged.count == 0
            || staged.count < tuning.frameTransactionCountMax
                && writer.count + ops.payload.storedByteCount <= Format.Frame.payloadByteCountMax
    }

    /// Whether any transaction is staged but not yet written.
    package var hasStaged: Bool { staged.count > 0 }

    /// Whether no transaction is staged, and everything that was written is durable.
    package var isDurable: Bool { staged.count == 0 && durablePosition == position }

    /// Writes the staged transactions as one frame. When this method returns, the kernel has all bytes of the frame.
    ///
    /// - Returns: the number of bytes of the frame; 0 if no transaction is staged.
    /// - Throws: `.ioFailure` if no part of the frame can ever be read. If the disk is full, or if the process has too many open files, the
    ///   writer returns to the state before the transactions were staged. Otherwise, the writer is poisoned. `.outcomeUnknown` if the frame
    ///   may be in the log when the store is next opened; the writer is then poisoned.
    @discardableResult
    package func write() throws(CambiumError) -> Int {
        try checkPoison()
        if staged.count == 0 { return 0 }
        try finishRotation()
        return try appendFrame()
    }

    /// Writes a frame: the staged transactions, or a joint (a marked position of the log) if no transaction is staged.
    private func appendFrame(_ joint: Joint? = nil) throws(CambiumError) -> Int {
        do throws(CambiumError) {
            // Without this condition, each commit that is not synced would ask the operating system about the lock.
            if isLockCheckDue { try checkLock() }
            isLockCheckDue = false
            if isAsClosed { try markOpen() }
        } catch {
            try undoStaged(after: error, isHandedOver: false)
        }
        let checksum = Frame.encode(
            region: joint?.region ?? writer.bytes, transactionCount: staged.count, at: position, durableOffset: durablePosition,
            headerChecksum: headerChecksum, to: &frame)
        let byteCount = frame.count
        var isHandedOver = false
        do {
            if preallocates, byteCount < Self.preallocatedByteCount { try preallocate(after: position + byteCount) }
            isHandedOver = true
            try file.write(frame.bytes, at: position)
        } catch {
            try undoStaged(after: error, isHandedOver: isHandedOver)
        }
        preallocatedEnd = max(preallocatedEnd, position + byteCount)
        jointOffset = joint == nil ? nil : position
        position += byteCount
        if joint != nil { jointEnd = position }
        ownByteCount += byteCount
        lastChecksum = checksum
        clearStaged(keepsFiles: true)
        return byteCount
    }

    /// Writes zeros beyond a frame, in a separate write that precedes the write of the frame. One write of the frame and the zeros could
    /// fail after the frame is complete. If the disk has no space for the zeros, the writer continues without them.
    private func preallocate(after end: Int) throws(CambiumError) {
        guard end > preallocatedEnd else { return }
        let zeros = [UInt8](repeating: 0, count: Self.preallocatedByteCount)
        do throws(CambiumError) {
            try file.write(zeros, at: end)
            preallocatedEnd = end + zeros.count
        } catch {
            guard error.isOutOfSpace else { throw error }
            preallocatedEnd = max(preallocatedEnd, end + zeros.count)
        }
    }

    /// Removes the staged transactions after a failed write. If the disk is full, or if the process has too many open files, the writer
    /// stays usable. It cuts off the written part of the frame, and the transaction numbers are free again. After any other failure, the
    /// writer is poisoned.
    ///
    /// - Parameter isHandedOver: whether the kernel received bytes of the frame.
    func undoStaged(after error: CambiumError, isHandedOver: Bool) throws(CambiumError) -> Never {
        let isShortage = error.isShortage
        let isJoint = staged.count == 0
        do {
            if isShortage {
                try file.truncate(to: position)
                // If a caller learns that a commit failed, the transaction must not reappear after a power failure.
                try file.sync()
            }
        } catch {
            poison = error
            clearStaged(keepsFiles: true)
            throw isHandedOver && !isJoint ? .outcomeUnknown(nil, error) : error
        }
        if !isShortage { poison = error }
        // If the disk had no space for another segment before any transaction was staged, `staged.mark` is `nil`, and there is nothing to
        // roll back.
        if let mark = staged.mark {
            codec.rollBack(to: mark)
            (lastTransaction, lastTime) = (staged.lastTransaction, staged.lastTime)
        }
        preallocatedEnd = position
        // If the frame was not cut off, it may still be on the disk, so the files to which it refers are kept.
        clearStaged(keepsFiles: !isShortage)
        if isJoint { throw error }
        if !isShortage { throw isHandedOver ? .outcomeUnknown(nil, error) : error }
        let remedy = error.isOutOfSpace ? "Free disk space" : "Close other files"
        throw CambiumError(
            .ioFailure, "\(error.message) No part of the transaction is in the log. \(remedy), then repeat the transaction.",
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

    /// Transactions that were encoded but not yet written, and the state of the writer before they were staged.
    struct Staged {
        var count = 0
        var mark: TransactionCodec.Mark?
        var lastTransaction = TransactionNumber.none
        var lastTime: Int64 = 0
        var files: [OpsFileWriter] = []
    }

    // MARK: Positions

    /// Returns the end of the log as a position for a checkpoint. The caller ensures that no transaction is staged.
    ///
    /// Writes a joint, unless the log ends with a joint or at the beginning of a segment. If the segment is full, begins
    /// another segment instead. Throws as `write` and `sync` do.
    ///
    /// - Parameter syncs: whether to make everything that was written durable. If not, the caller syncs before it uses the position.
    package func endPosition(syncs: Bool = true) throws(CambiumError) -> LogPosition {
        try checkPoison()
        try checkLock()
        precondition(!hasStaged, "The staged transactions must be written first: the position follows them.")
        if header.firstTransaction <= lastTransaction, position >= tuning.segmentByteCount { try rotate() }
        if header.firstTransaction > lastTransaction { return LogPosition(checksum: header.previousChecksum) }
        if jointOffset == nil {
            markStaged()
            try appendJoint()
        }
        if syncs { try sync() }
        return LogPosition(jointOffset: jointOffset ?? 0, checksum: lastChecksum)
    }

    /// Writes a joint. No transaction may be staged, and the segment must end with transactions. Throws as `write` does.
    private func appendJoint() throws(CambiumError) {
        _ = try appendFrame(Joint(transaction: lastTransaction, time: lastTime))
        codec = TransactionCodec(time: lastTime)
    }

    /// The number of zeros that are written beyond a frame in advance. Because of these zeros, a sync need not make a new file length
    /// durable.
    static let preallocatedByteCount = 64 << 10
}

extension Payload {
    /// The number of bytes that the payload takes in a frame, before compression.
    fileprivate var storedByteCount: Int {
        switch self {
        case .present(let bytes): bytes.count
        case .file, .redacted: 64
        }
    }
}
