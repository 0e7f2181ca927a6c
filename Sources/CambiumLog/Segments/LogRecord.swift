import CambiumBytes
public import CambiumModel

/// A transaction as it lies in the log.
public struct LogRecord: Sendable {
    public let number: TransactionNumber
    public internal(set) var metadata: TransactionMetadata
    public internal(set) var payload: Payload
    /// 16 bytes: the salt that the log has for this transaction alone. Without one, the salt follows from the seed of its segment.
    var ownSalt: [UInt8]?
    let source: LogSource
    /// Where its frame is in the file that holds it.
    public let frameOffset: Int
    /// Bytes of the log that are its own: those of its frame, where it is the only one in it, else its share of them; and those of
    /// the file that has its ops.
    public internal(set) var byteCount: Int

    /// Bytes of its ops in memory; 0 if a file has them, or nothing has.
    var opsByteCount = 0
    /// Bytes of the file that has its ops; 0 if it has none.
    var fileByteCount = 0

    /// The file that holds it.
    public var file: String { source.file }
    var salt: Salt { ownSalt.map { .explicit($0) } ?? .seed(source.saltSeed) }

    /// Calls `body` with each of the ops. At most those of one frame are in memory.
    ///
    /// Throws `.damaged` where they cannot be decoded, `.notFound` where they were redacted or retired; and what `body` throws.
    public func forEachOp(_ body: (Op) throws -> Void) throws {
        switch payload {
        case .present(let bytes): try forEachOp(in: bytes, body)
        case .file(let file): try file.forEachPart { try forEachOp(in: $0, body) }
        case .redacted:
            throw CambiumError(
                .notFound, "What transaction \(number) did was retired. Copy the store with 'cambium backup', or read it with its archive.",
                place: .init(file: file))
        }
    }

    private func forEachOp(in part: ArraySlice<UInt8>, _ body: (Op) throws -> Void) throws {
        do {
            try OpCodec.forEach(in: part, body)
        } catch let error as DecodingError {
            throw CambiumError(
                .damaged, "Transaction \(number) cannot be decoded (\(error)).", place: .init(file: file), underlying: error)
        }
    }

    /// All of the ops. Throws as `forEachOp`.
    public func ops() throws -> [Op] {
        var ops: [Op] = []
        try forEachOp { ops.append($0) }
        return ops
    }

    /// 16 bytes: what the payload is hashed with.
    public var saltBytes: [UInt8] { salt.bytes(number) }

    /// 32 bytes: the transaction's leaf in the tree. Throws `.damaged` and `.ioFailure` where a file of ops cannot be read.
    public func leafHash() throws -> [UInt8] {
        Leaf.hash(number, metadata, commitment: try commitment())
    }

    /// 32 bytes: the hash of the salt and the ops, which no other transaction has, of this log or any other. A copy of the transaction in
    /// another log has it too. Throws as `leafHash`.
    public func commitment() throws -> [UInt8] {
        if case .redacted(let commitment) = payload { return commitment }
        var commitment = Leaf.Commitment(salt: salt.bytes(number))
        try payload.forEachPart { commitment.add($0) }
        return commitment.finish()
    }
}

extension LogRecord {
    /// Begins a record whose metadata and ops are to be decoded.
    init(number: TransactionNumber, source: LogSource, frameOffset: Int, byteCount: Int) {
        self.number = number
        self.source = source
        self.frameOffset = frameOffset
        self.byteCount = byteCount
        metadata = TransactionMetadata(time: .min)
        payload = .present([])
    }
}

/// What transactions have in common that were read from a file at once.
final class LogSource: Sendable {
    let file: String
    /// 16 bytes.
    let saltSeed: [UInt8]

    init(file: String, saltSeed: [UInt8]) {
        self.file = file
        self.saltSeed = saltSeed
    }
}

/// What a record holds of a transaction's ops.
public enum Payload: Sendable, Equatable {
    /// The canonical bytes of the ops.
    case present(ArraySlice<UInt8>)
    /// They are in a file of their own.
    case file(OpsFile)
    /// The ops were removed; what proves that they are the ones that were removed is left. 32 bytes.
    case redacted(commitment: [UInt8])

    /// Bytes of the file that the ops are in; 0 where they are in none.
    public var fileByteCount: Int { if case .file(let file) = self { file.reference.fileByteCount } else { 0 } }

    /// Calls `body` with the parts of the payload, each of which holds whole ops.
    ///
    /// Throws `.damaged` where they do not verify, `.notFound` where they were redacted or retired; and what `body` throws.
    public func forEachPart(_ body: (ArraySlice<UInt8>) throws -> Void) throws {
        switch self {
        case .present(let bytes): try body(bytes)
        case .file(let file): try file.forEachPart(body)
        case .redacted: throw CambiumError(.notFound, "What the transaction did was redacted.")
        }
    }

    /// All of it. Throws as `forEachPart`.
    public func bytes() throws -> [UInt8] {
        var bytes: [UInt8] = []
        try forEachPart { bytes += $0 }
        return bytes
    }
}

/// What a payload is hashed with, so that its hash gives nothing of it away.
enum Salt: Sendable, Equatable {
    case seed([UInt8])
    case explicit([UInt8])

    /// 16 bytes.
    func bytes(_ number: TransactionNumber) -> [UInt8] {
        switch self {
        case .seed(let seed): Leaf.salt(seed: seed, number)
        case .explicit(let bytes): bytes
        }
    }
}
