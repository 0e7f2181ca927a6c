import CambiumBytes
internal import CambiumModel

/// The reference in the log to a file with the ops of a large transaction. FORMAT.md 4, "file".
struct OpsFileReference: Hashable, Sendable {
    /// The number of bytes of the ops.
    var payloadByteCount: Int
    var fileByteCount: Int
    var headerChecksum: UInt32
    /// A CRC over the checksums of all frames in the file.
    var checksum: UInt32

    func encode(to writer: inout ByteWriter) {
        writer.writeVarint(payloadByteCount)
        writer.writeVarint(fileByteCount)
        writer.write(headerChecksum)
        writer.write(checksum)
    }

    static func decode(_ reader: inout ByteReader) throws(DecodingError) -> OpsFileReference {
        let payloadByteCount = try reader.readCount(max: Int(Int32.max) << 16, "bytes of a payload")
        let fileByteCount = try reader.readCount(max: Int(Int32.max) << 16, "bytes of a file")
        return OpsFileReference(
            payloadByteCount: payloadByteCount, fileByteCount: fileByteCount, headerChecksum: try reader.read(UInt32.self),
            checksum: try reader.read(UInt32.self))
    }

    /// Extends the checksum of the preceding frames by the checksum of the next frame.
    static func checksum(_ frame: UInt32, from checksum: UInt32) -> UInt32 {
        withUnsafeBytes(of: frame.littleEndian) { CRC32C.checksum($0, from: checksum) }
    }
}

/// The ops of a large transaction, in a separate file.
package final class OpsFile: Sendable, Equatable {
    private let volume: any Volume
    private let store: [UInt8]
    let transaction: TransactionNumber
    let reference: OpsFileReference

    init(volume: any Volume, store: [UInt8], transaction: TransactionNumber, reference: OpsFileReference) {
        self.volume = volume
        self.store = store
        self.transaction = transaction
        self.reference = reference
    }

    package static func == (left: OpsFile, right: OpsFile) -> Bool {
        left.transaction == right.transaction && left.reference == right.reference
    }

    var path: String { LogFileName.path(transaction, .ops) }

    /// Calls `body` with the ops, one frame at a time.
    ///
    /// Each frame is verified before `body` receives it. Throws `.corrupted` if the file is missing, is not the file to which the log
    /// refers, or fails verification. Throws `.notFound` if the transaction was retired in the meantime. Also throws the errors of `body`.
    func forEachPart(_ body: (ArraySlice<UInt8>) throws -> Void) throws {
        var frames = try opened()
        var offset = Format.Segment.headerByteCount
        var byteCount = 0
        var checksum: UInt32 = 0
        while offset < frames.byteCount {
            guard let frame = try frames.frame(at: offset), frame.transactionCount > 0 else {
                throw damage("The file is corrupt at this offset", offset)
            }
            try body(frame.region)
            byteCount += frame.region.count
            checksum = OpsFileReference.checksum(frame.checksum, from: checksum)
            offset = frame.end
        }
        guard byteCount == reference.payloadByteCount, checksum == reference.checksum else {
            throw damage("The file does not contain the changes to which the log refers", offset)
        }
    }

    private func opened() throws(CambiumError) -> FrameReader {
        let frames: FrameReader
        do {
            frames = try FrameReader(volume, path: path)
        } catch {
            if let failure = error.headerFailure { throw damage("The header is corrupt (\(failure))", 0) }
            guard error.code == .notFound else { throw error }
            if try LogDirectory.hasRetired(transaction, volume) {
                throw CambiumError(
                    .notFound, "The changes of transaction \(transaction) were retired after its record was read. Read the log again.")
            }
            throw damage("The file is missing", 0)
        }
        let header = frames.header
        guard header.kind == .ops, header.store == store, header.firstTransaction == transaction,
            frames.headerChecksum == reference.headerChecksum, frames.byteCount == reference.fileByteCount
        else { throw damage("The file is not the one to which the log refers", 0) }
        return frames
    }

    private func damage(_ flaw: String, _ offset: Int) -> CambiumError {
        CambiumError(
            .corrupted,
            "\(flaw), so the changes of transaction \(transaction) cannot be read. "
                + "Restore the file from a backup, or save all intact data with 'cambium repair'.",
            place: .init(file: "\(volume.name)/\(path) offset \(offset)"))
    }
}
