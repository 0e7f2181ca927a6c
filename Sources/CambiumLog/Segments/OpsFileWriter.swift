import CambiumBytes
internal import CambiumModel

/// A writer that writes the ops of a large transaction to a separate file, before any frame of the log refers to that file.
///
/// When the writer is released, it removes the file, unless `keep` was called. So no file remains of a transaction that was not committed.
///
/// SENDABLE: the owner of the writer lets only one thread at a time use it.
final class OpsFileWriter: @unchecked Sendable {
    private let volume: any Volume
    private let store: [UInt8]
    let transaction: TransactionNumber
    private let file: any VolumeFile
    private let headerChecksum: UInt32
    private var path: String
    private var offset: Int
    private var reference: OpsFileReference
    private var isKept = false
    /// The bytes of the last frame. The buffer is kept so that the next frame reuses its memory.
    private var frame = ByteWriter()

    /// Creates the file of ops. Throws `.ioFailure` if a disk operation fails.
    init(_ volume: any Volume, header: SegmentHeader) throws(CambiumError) {
        self.volume = volume
        store = header.store
        transaction = header.firstTransaction
        path = LogFileName.path(transaction, .pending)
        let bytes = header.encode()
        // An earlier attempt to commit a transaction with this number may have left a file.
        if try volume.exists(path) { try volume.remove(path) }
        file = try volume.open(path, .create)
        headerChecksum = ByteReader.peek(bytes, at: Format.Segment.checksumOffset)
        offset = bytes.count
        reference = OpsFileReference(payloadByteCount: 0, fileByteCount: 0, headerChecksum: headerChecksum, checksum: 0)
        try file.write(bytes, at: 0)
    }

    deinit {
        // If the lock of the store was lost, the path may lead to a file of another writer.
        if !isKept, (try? volume.names(path, file)) == true { remove() }
        file.close()
    }

    /// Removes the file of ops. If the removal fails, opening the store removes the file. But after the transaction number is used again,
    /// opening the store keeps a file with the final name. So the removal of a file with the final name is synced. If the sync fails, the
    /// file only takes space.
    private func remove() {
        try? volume.remove(path)
        if path == LogFileName.path(transaction, .ops) { try? volume.syncDirectory(LogDirectory.name) }
    }

    /// Writes whole ops as one frame.
    ///
    /// Throws `.ioFailure` if a disk operation fails, and `.limitExceeded` if the ops do not fit into one frame.
    func append(_ ops: [UInt8], opCount: Int) throws(CambiumError) {
        guard ops.count <= Format.Frame.payloadByteCountMax else {
            throw CambiumError(
                .limitExceeded,
                "One change takes at most \(Format.Frame.payloadByteCountMax) bytes of log; this change takes \(ops.count). "
                    + "Split the change, or import in batches.")
        }
        frame.removeAll(keepingAtMost: Format.Frame.blockByteCount)
        let checksum = Frame.encode(
            region: ops, transactionCount: opCount, at: offset, durableOffset: 0, headerChecksum: headerChecksum, to: &frame)
        try file.write(frame.bytes, at: offset)
        file.beginSync(at: offset, count: frame.count)
        offset += frame.count
        reference.payloadByteCount += ops.count
        reference.checksum = OpsFileReference.checksum(checksum, from: reference.checksum)
    }

    /// Makes everything that was written durable, except the directory entry. The caller must then call `publish`.
    func finish() throws(CambiumError) -> OpsFile {
        reference.fileByteCount = offset
        try file.sync()
        return OpsFile(volume: volume, store: store, transaction: transaction, reference: reference)
    }

    /// Renames the file to the name by which the log refers to it, durably.
    func publish() throws(CambiumError) {
        let newPath = LogFileName.path(transaction, .ops)
        try volume.rename(path, to: newPath)
        path = newPath
        try volume.syncDirectory(LogDirectory.name)
    }

    /// Lets the file stay when the writer is released, for example because a frame of the log refers to it.
    func keep() { isKept = true }
}
