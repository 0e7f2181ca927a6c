import CambiumBytes
internal import CambiumModel

/// The leaf of a transaction in the Merkle tree over the log. FORMAT.md 5.
enum Leaf {
    /// Returns the hash of a transaction's leaf in the Merkle tree over the log, 32 bytes.
    static func hash(_ number: TransactionNumber, _ metadata: TransactionMetadata, commitment: [UInt8]) -> [UInt8] {
        var envelope = ByteWriter(capacity: 128)
        envelope.writeByte(0)
        envelope.write(number.rawValue)
        envelope.write(metadata.time.microsecondsSince1970)
        for text in [metadata.actor, metadata.message, metadata.requestID] {
            envelope.writeByte(text == nil ? 0 : 1)
            guard let text else { continue }
            envelope.write(UInt32(text.utf8.count))
            envelope.write(Array(text.utf8))
        }
        if metadata.clockLag > .zero { envelope.write(metadata.clockLagMicroseconds) }
        if let digest = metadata.requestDigest { envelope.write(digest.bytes) }
        envelope.write(commitment)
        return ContentHash.hash(envelope.bytes[...])
    }

    /// The commitment to a payload: the hash of a salt and all parts of the payload. The leaf contains the commitment instead of the
    /// payload.
    struct Commitment {
        private var hash = ContentHash()

        init(salt: [UInt8]) { hash.add(salt[...]) }

        mutating func add(_ part: ArraySlice<UInt8>) { hash.add(part) }

        /// Returns the commitment, 32 bytes.
        func finish() -> [UInt8] { hash.finish() }
    }

    /// Returns the salt of a transaction for which the log stores no separate salt.
    static func salt(seed: [UInt8], _ number: TransactionNumber) -> [UInt8] {
        var writer = ByteWriter(capacity: 24)
        writer.write(seed)
        writer.write(number.rawValue)
        var hash = ContentHash()
        hash.add(writer.bytes[...])
        return hash.finish(Format.saltByteCount)
    }
}
