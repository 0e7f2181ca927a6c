import CambiumBytes
package import CambiumModel
internal import CambiumProofs

/// The leaf of a transaction in the Merkle tree over the log: its envelope and its commitment. FORMAT.md 5.
enum Leaf {
    /// Returns the hash of a transaction's leaf in the Merkle tree over the log.
    ///
    /// - Parameter addCommitment: adds the commitment to a hash.
    static func hash(
        _ number: TransactionNumber, _ metadata: TransactionMetadata, _ addCommitment: (inout ContentHash) -> Void
    ) -> TreeHash {
        var hash = ContentHash()
        hash.add(0 as UInt8)
        hash.add(envelope(number, metadata)[...])
        addCommitment(&hash)
        return hash.treeHash()
    }

    /// Returns everything about a transaction except its ops.
    static func envelope(_ number: TransactionNumber, _ metadata: TransactionMetadata) -> [UInt8] {
        var envelope = ByteWriter(capacity: 128)
        write(number, metadata, to: &envelope)
        return envelope.bytes
    }

    private static func write(_ number: TransactionNumber, _ metadata: TransactionMetadata, to envelope: inout ByteWriter) {
        envelope.write(number.rawValue)
        envelope.write(metadata.time.microsecondsSince1970)
        for text in [metadata.actor, metadata.message, metadata.requestID] {
            envelope.writeByte(text == nil ? 0 : 1)
            guard let text else { continue }
            envelope.write(UInt32(text.utf8.count))
            envelope.write(text.utf8)
        }
        if metadata.clockLag > .zero { envelope.write(metadata.clockLagMicroseconds) }
        if let digest = metadata.requestDigest { envelope.write(digest.bytes) }
    }

    /// Reads an envelope. The clock and the digest of the request, which follow the texts, are not read: only together with the flags of
    /// the log do they have a meaning.
    static func readEnvelope(_ bytes: [UInt8]) throws(DecodingError) -> (number: TransactionNumber, metadata: TransactionMetadata) {
        var reader = ByteReader(bytes)
        let number = TransactionNumber(rawValue: try reader.read(UInt64.self))
        var metadata = TransactionMetadata(time: Timestamp(microsecondsSince1970: try reader.read(Int64.self)))
        metadata.actor = try readText(&reader, max: TransactionMetadata.actorByteCountMax)
        metadata.message = try readText(&reader, max: TransactionMetadata.messageByteCountMax)
        metadata.requestID = try readText(&reader, max: TransactionMetadata.requestIDByteCountMax)
        guard [0, 8, 16, 24].contains(reader.remaining) else { throw .invalid("an envelope of this length", offset: reader.offset) }
        return (number, metadata)
    }

    private static func readText(_ reader: inout ByteReader, max: Int) throws(DecodingError) -> String? {
        let offset = reader.offset
        let presence = try reader.readByte()
        guard presence <= 1 else { throw .invalid("a text that is neither present nor absent", offset: offset) }
        if presence == 0 { return nil }
        let count = Int(try reader.read(UInt32.self))
        guard count <= max else { throw .limitExceeded("text: \(count) of at most \(max)", offset: offset) }
        guard let text = String(validating: try reader.readBytes(count), as: UTF8.self) else {
            throw .invalid("a text that is not UTF-8", offset: offset)
        }
        return text
    }

    /// Returns the salt of a transaction for which the log stores no separate salt.
    static func salt(seed: [UInt8], _ number: TransactionNumber) -> [UInt8] {
        var hash = ContentHash()
        hash.add(seed[...])
        hash.add(number.rawValue)
        return hash.finish(Format.saltByteCount)
    }
}

extension LogRecord {
    /// Everything about the transaction except its ops: the first part of the leaf.
    package var envelope: [UInt8] { Leaf.envelope(number, metadata) }
}

extension TransactionMetadata {
    /// Reads the envelope of a transaction, which is outside data. Returns `nil` if the bytes are not an envelope.
    package static func inEnvelope(_ bytes: [UInt8]) -> (number: TransactionNumber, metadata: TransactionMetadata)? {
        do throws(DecodingError) { return try Leaf.readEnvelope(bytes) } catch { return nil }
    }
}
