import CambiumBytes
public import CambiumModel

extension LogWriter {
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

    /// Whether something is staged that is not written yet.
    public var hasStaged: Bool { staged.count > 0 }

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
        let isFull = error.isOutOfSpace
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
        guard isFull else { throw error }
        throw CambiumError(
            .ioFailure, "\(error.message) Nothing of the transaction is in the log; free some space and commit it again.",
            underlying: error.underlying)
    }

    private func clearStaged() {
        writer.removeAll(keepingAtMost: Format.Frame.blockByteCount)
        staged = Staged()
    }

    /// Transactions that were encoded and not written yet, and what the writer was before them.
    struct Staged {
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
        do throws(CambiumError) { try writeHead(isClosed: false) } catch { if !error.isOutOfSpace { poison = error } }
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
}
