import CambiumBytes
internal import CambiumModel

/// The payload of a transaction (its ops) in the form in which a segment stores it.
enum StoredPayload: Equatable {
    /// The canonical bytes of the ops.
    case present(ArraySlice<UInt8>)
    /// The ops are in a separate file.
    case file(OpsFileReference)
    /// The ops were removed. The commitment has 32 bytes.
    case redacted(commitment: [UInt8])

    init(_ payload: Payload) {
        switch payload {
        case .present(let bytes): self = .present(bytes)
        case .file(let file): self = .file(file.reference)
        case .redacted(let commitment): self = .redacted(commitment: commitment)
        }
    }
}

/// The strings that a segment stores once, and to which it then refers by number. FORMAT.md 4, "interned".
struct InternTable {
    /// The number of each string. The keys are bytes, because the log distinguishes strings that Swift regards as equal.
    private var numbers: [[UInt8]: UInt64] = [:]
    private var strings: [String] = []
    /// The total number of bytes of the strings.
    private(set) var byteCount = 0

    mutating func encode(_ text: String, to writer: inout ByteWriter) {
        if let number = numbers[Array(text.utf8)] { return writer.writeVarint(number + 1) }
        writer.writeVarint(UInt64(0))
        ValueCodec.encode(text, to: &writer)
        add(text)
    }

    /// Decodes a text of at most `max` bytes. Without this limit, each transaction of a small frame could refer to a text of 1 GiB.
    mutating func decode(_ reader: inout ByteReader, max: Int) throws(DecodingError) -> String {
        let offset = reader.offset
        let number = try reader.readVarint()
        if number == 0 {
            let text = try ValueCodec.decodeText(&reader, max: max)
            add(text)
            return text
        }
        guard number <= UInt64(strings.count) else { throw .invalid("an unknown interned text", offset: offset) }
        let text = strings[Int(number - 1)]
        guard text.utf8.count <= max else { throw .limitExceeded("text: \(text.utf8.count) of at most \(max)", offset: offset) }
        return text
    }

    var count: Int { strings.count }

    /// Keeps only the first `count` strings.
    mutating func cut(to count: Int) {
        while strings.count > count {
            let bytes = Array(strings.removeLast().utf8)
            numbers[bytes] = nil
            byteCount -= bytes.count
        }
    }

    private mutating func add(_ text: String) {
        guard strings.count < Format.internedCountMax else { return }
        numbers[Array(text.utf8)] = UInt64(strings.count)
        strings.append(text)
        byteCount += text.utf8.count
    }
}

/// The state for encoding or decoding the transactions of a segment one after the other. FORMAT.md 4.
struct TransactionCodec {
    private var interned = InternTable()
    /// The time of the last transaction, in microseconds since 1970.
    private(set) var time: Int64

    /// - Parameter time: the creation time of the segment, or the time of a joint, in microseconds since 1970. A joint is a frame without
    ///   transactions that marks a position in the log.
    init(time: Int64) { self.time = time }

    /// The part of the state that encoding changes. A writer keeps this part to roll back later.
    struct Mark {
        fileprivate let internedCount: Int
        fileprivate let time: Int64
    }

    /// The number of bytes of the texts that later transactions can refer to.
    var internedByteCount: Int { interned.byteCount }

    var mark: Mark { Mark(internedCount: interned.count, time: time) }

    /// Rolls back the transactions that were encoded since the mark was taken.
    mutating func rollBack(to mark: Mark) {
        interned.cut(to: mark.internedCount)
        time = mark.time
    }

    /// Appends a transaction. Its time must not be earlier than the time of the preceding transaction.
    mutating func encode(_ metadata: TransactionMetadata, _ payload: StoredPayload, salt: [UInt8]?, to writer: inout ByteWriter) {
        let newTime = metadata.time.microsecondsSince1970
        precondition(newTime >= time, "The times of transactions never decrease.")
        var flags: UInt8 = 0
        if metadata.actor != nil { flags |= Format.Flag.actor }
        if metadata.message != nil { flags |= Format.Flag.message }
        if metadata.requestID != nil { flags |= Format.Flag.requestID }
        if salt != nil { flags |= Format.Flag.salt }
        if metadata.clockLag > .zero { flags |= Format.Flag.clockLag }
        if metadata.requestDigest != nil { flags |= Format.Flag.more }
        switch payload {
        case .present: break
        case .file: flags |= Format.Flag.opsFile
        case .redacted: flags |= Format.Flag.redacted
        }
        writer.writeByte(flags)
        if metadata.requestDigest != nil { writer.writeByte(Format.MoreFlag.requestDigest) }
        // The difference of two times fits into 64 bits only if it is unsigned.
        writer.writeVarint(UInt64(bitPattern: newTime &- time))
        time = newTime
        if metadata.clockLag > .zero { writer.writeVarint(metadata.clockLagMicroseconds) }
        if let actor = metadata.actor { interned.encode(actor, to: &writer) }
        if let message = metadata.message { interned.encode(message, to: &writer) }
        if let requestID = metadata.requestID { ValueCodec.encode(requestID, to: &writer) }
        if let digest = metadata.requestDigest { writer.write(digest.bytes) }
        if let salt { writer.write(salt) }
        switch payload {
        case .present(let bytes): writer.writeBlob(bytes)
        case .file(let reference): reference.encode(to: &writer)
        case .redacted(let commitment): writer.write(commitment)
        }
    }

    /// Decodes a transaction into a record that has no metadata and no salt yet.
    ///
    /// - Returns: the stored form of the ops.
    mutating func decode(_ reader: inout ByteReader, _ record: inout LogRecord) throws(DecodingError) -> StoredPayload {
        let offset = reader.offset
        let flags = try reader.readByte()
        let places = flags & (Format.Flag.redacted | Format.Flag.opsFile)
        let more = flags & Format.Flag.more == 0 ? nil : try reader.readByte()
        // The checks require a request id for a request digest, and at least one flag in a second byte of flags.
        guard places & (places &- 1) == 0, more != 0, (more ?? 0) & ~Format.MoreFlag.all == 0,
            more == nil || flags & Format.Flag.requestID != 0
        else { throw .invalid("a combination of flags that no transaction has", offset: offset) }
        let delta = try reader.readVarint()
        let sum = time &+ Int64(bitPattern: delta)
        guard UInt64(bitPattern: Int64.max &- time) >= delta else { throw .invalid("a time that is out of range", offset: offset) }
        time = sum
        record.metadata.time = Timestamp(microsecondsSince1970: time)
        if flags & Format.Flag.clockLag != 0 {
            record.metadata.clockLagMicroseconds = try reader.readVarint()
            guard record.metadata.clockLag > .zero else { throw .invalid("a clock lag of zero", offset: offset) }
        }
        typealias Limits = TransactionMetadata
        if flags & Format.Flag.actor != 0 { record.metadata.actor = try interned.decode(&reader, max: Limits.actorByteCountMax) }
        if flags & Format.Flag.message != 0 { record.metadata.message = try interned.decode(&reader, max: Limits.messageByteCountMax) }
        if flags & Format.Flag.requestID != 0 {
            record.metadata.requestID = try ValueCodec.decodeText(&reader, max: Limits.requestIDByteCountMax)
        }
        if more != nil { record.metadata.requestDigest = RequestDigest(try reader.readBytes(RequestDigest.byteCount)) }
        if flags & Format.Flag.salt != 0 { record.ownSalt = Array(try reader.readBytes(Format.saltByteCount)) }
        if flags & Format.Flag.redacted != 0 {
            return .redacted(commitment: Array(try reader.readBytes(Format.commitmentByteCount)))
        }
        if flags & Format.Flag.opsFile != 0 { return .file(try OpsFileReference.decode(&reader)) }
        return .present(try reader.readBlob("payload"))
    }
}
