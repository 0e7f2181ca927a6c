import CambiumBytes
import CambiumModel

/// What the tree commits to of one transaction. FORMAT.md 5.
enum Leaf {
    /// 32 bytes.
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

    /// What stands for a payload in its leaf: the hash of the salt and all of its parts.
    struct Commitment {
        private var hash = ContentHash()

        init(salt: [UInt8]) { hash.add(salt[...]) }

        mutating func add(_ part: ArraySlice<UInt8>) { hash.add(part) }

        /// 32 bytes.
        func finish() -> [UInt8] { hash.finish() }
    }

    /// The salt of a transaction that brings none of its own.
    static func salt(seed: [UInt8], _ number: TransactionNumber) -> [UInt8] {
        var writer = ByteWriter(capacity: 24)
        writer.write(seed)
        writer.write(number.rawValue)
        var hash = ContentHash()
        hash.add(writer.bytes[...])
        return hash.finish(Format.saltByteCount)
    }
}
