import CambiumBytes
package import CambiumModel
package import CambiumProofs

/// A transaction as the log stores it.
package struct LogRecord: Sendable {
    package let number: TransactionNumber
    package internal(set) var metadata: TransactionMetadata
    package internal(set) var payload: Payload
    /// The salt that the log stores for this transaction alone, 16 bytes. If there is no such salt, the salt is derived from the segment's
    /// seed.
    var ownSalt: [UInt8]?
    let source: LogSource
    /// The offset of the transaction's frame in the file that contains it.
    package let frameOffset: Int
    /// The number of log bytes that belong to the transaction: a share of its frame, and its file of ops, if any.
    package internal(set) var byteCount: Int

    /// The number of bytes of the ops in memory; 0 if the ops are in a file, or were removed.
    var opsByteCount = 0
    /// The length of the file of ops, in bytes; 0 if there is no such file.
    var fileByteCount = 0

    /// The file that contains the transaction.
    package var file: String { source.file }
    var salt: Salt { ownSalt.map { .explicit($0) } ?? .seed(source.saltSeed) }

    /// Calls `body` with each of the ops. At most the ops of one frame are in memory.
    ///
    /// Throws `.corrupted` if the ops cannot be decoded, `.notFound` if a compaction removed the ops, and the errors of `body`.
    package func forEachOp(_ body: (Op) throws -> Void) throws {
        switch payload {
        case .present(let bytes): try forEachOp(in: bytes, body)
        case .file(let file): try file.forEachPart { try forEachOp(in: $0, body) }
        case .redacted:
            throw CambiumError(
                .notFound,
                "A compaction retired the changes of transaction \(number). "
                    + "Copy the store with 'cambium backup', or make a store with all changes with 'cambium restore' and '--archive'.",
                place: .init(file: file))
        }
    }

    private func forEachOp(in part: ArraySlice<UInt8>, _ body: (Op) throws -> Void) throws {
        do {
            try OpCodec.forEach(in: part, body)
        } catch let error as DecodingError {
            throw CambiumError(
                .corrupted,
                "Transaction \(number) cannot be decoded (\(error)). "
                    + "Restore the store from a backup, or save all intact data with 'cambium repair'.",
                place: .init(file: file),
                underlying: error)
        }
    }

    /// Returns all of the ops. Throws as `forEachOp` does.
    package func ops() throws -> [Op] {
        var ops: [Op] = []
        try forEachOp { ops.append($0) }
        return ops
    }

    /// The salt with which the payload is hashed, 16 bytes.
    package var saltBytes: [UInt8] { salt.bytes(number) }

    /// Returns the hash of the transaction's leaf in the Merkle tree over the log. Throws `.corrupted` or `.ioFailure` if a file of ops
    /// cannot be read.
    package func leafHash() throws -> TreeHash {
        if case .redacted(let commitment) = payload { return Leaf.hash(number, metadata) { $0.add(commitment[...]) } }
        let commitment = try payloadHash()
        return Leaf.hash(number, metadata) { $0.add(commitment) }
    }

    /// Returns the root of the tree over the pieces of the payload, 32 bytes. Two transactions have the same hash only if one of them is a
    /// copy of the other. Throws as `leafHash` does.
    package func commitment() throws -> [UInt8] {
        if case .redacted(let commitment) = payload { return commitment }
        return try payloadHash().bytes
    }

    /// Returns the content of the transaction's leaf: its envelope and its commitment. Throws as `leafHash` does.
    package func leafContent() throws -> [UInt8] {
        if case .redacted(let commitment) = payload { return envelope + commitment }
        let commitment = try payloadHash()
        var content = envelope
        commitment.withBytes { content.append(contentsOf: $0) }
        return content
    }

    private func payloadHash() throws -> TreeHash {
        var tree = PayloadTree(salt: salt.bytes(number))
        try payload.forEachPart { part in
            try PayloadPiece.forEach(in: part) { tree.add($0) }
        }
        return tree.finish()
    }
}

extension LogRecord {
    /// Creates a record whose metadata and ops must still be decoded.
    init(number: TransactionNumber, source: LogSource, frameOffset: Int, byteCount: Int) {
        self.number = number
        self.source = source
        self.frameOffset = frameOffset
        self.byteCount = byteCount
        metadata = TransactionMetadata(time: .min)
        payload = .present([])
    }
}

/// The data that all transactions from one read of a file share.
final class LogSource: Sendable {
    let file: String
    /// The seed from which the salts are derived, 16 bytes.
    let saltSeed: [UInt8]

    init(file: String, saltSeed: [UInt8]) {
        self.file = file
        self.saltSeed = saltSeed
    }
}

/// The ops of a transaction: their bytes, the file that contains them, or the commitment to removed ops.
package enum Payload: Sendable, Equatable {
    /// The canonical bytes of the ops.
    case present(ArraySlice<UInt8>)
    /// The ops are in a separate file.
    case file(OpsFile)
    /// The ops were removed. The commitment has 32 bytes, and shows whether given ops are the removed ones.
    case redacted(commitment: [UInt8])

    /// The length of the file of ops, in bytes; 0 if the ops are not in a file.
    package var fileByteCount: Int { if case .file(let file) = self { file.reference.fileByteCount } else { 0 } }

    /// Calls `body` with the parts of the payload, in order. Each part consists of whole ops.
    ///
    /// Throws `.corrupted` if the parts fail verification, `.notFound` if a compaction removed the ops, and the errors of `body`.
    package func forEachPart(_ body: (ArraySlice<UInt8>) throws -> Void) throws {
        switch self {
        case .present(let bytes): try body(bytes)
        case .file(let file): try file.forEachPart(body)
        case .redacted:
            throw CambiumError(
                .notFound, "A compaction removed the changes of the transaction. Read the store with its archive, if it has one.")
        }
    }

    /// Returns the whole payload. Throws as `forEachPart` does.
    package func bytes() throws -> [UInt8] {
        var bytes: [UInt8] = []
        try forEachPart { bytes += $0 }
        return bytes
    }
}

/// The salt with which a payload is hashed, so that the hash reveals nothing about the payload.
enum Salt: Sendable, Equatable {
    case seed([UInt8])
    case explicit([UInt8])

    /// Returns the salt of a transaction, 16 bytes.
    func bytes(_ number: TransactionNumber) -> [UInt8] {
        switch self {
        case .seed(let seed): Leaf.salt(seed: seed, number)
        case .explicit(let bytes): bytes
        }
    }
}
