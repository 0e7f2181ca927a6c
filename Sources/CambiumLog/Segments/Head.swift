import CambiumBytes
public import CambiumModel

/// How far a log was known durable: a hint that is rewritten now and then, in two slots. FORMAT.md 1, "HEAD".
public struct Head: Equatable, Sendable {
    public static let fileName = "HEAD"

    public var sequence: UInt64
    /// The first transaction of the segment that the position is in.
    public var segment: TransactionNumber
    /// In bytes.
    public var position: UInt64
    public var lastTransaction: TransactionNumber
    public var isClosed: Bool

    func encode(store: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: Format.Head.slotByteCount)
        writer.write(Format.Head.magic)
        writer.write(sequence)
        writer.write(segment.rawValue)
        writer.write(position)
        writer.write(lastTransaction.rawValue)
        writer.write(UInt64(isClosed ? 1 : 0))
        writer.write(store.prefix(Format.Head.storeByteCount))
        writer.write(CRC32C.checksum(writer.bytes))
        return writer.bytes
    }

    static func decode(_ bytes: ArraySlice<UInt8>, store: [UInt8]) throws(DecodingError) -> Head {
        guard bytes.count == Format.Head.slotByteCount else { throw .truncated(offset: bytes.count) }
        let content = Array(bytes.prefix(Format.Head.checksumOffset))
        var reader = ByteReader(bytes)
        guard try reader.readBytes(8).elementsEqual(Format.Head.magic),
            ByteReader.peek(Array(bytes), at: Format.Head.checksumOffset) == CRC32C.checksum(content)
        else { throw .invalid("a slot whose checksum does not fit", offset: 0) }
        var head = Head(
            sequence: try reader.read(UInt64.self), segment: TransactionNumber(rawValue: try reader.read(UInt64.self)),
            position: try reader.read(UInt64.self), lastTransaction: TransactionNumber(rawValue: try reader.read(UInt64.self)),
            isClosed: false)
        guard head.sequence <= Format.Head.sequenceMax else {
            throw .invalid("a sequence that no writer comes to", offset: Format.Head.sequenceOffset)
        }
        switch try reader.read(UInt64.self) {
        case 0: break
        case 1: head.isClosed = true
        default: throw .invalid("a slot that is neither open nor closed", offset: Format.Head.closedOffset)
        }
        guard try reader.readBytes(Format.Head.storeByteCount).elementsEqual(store.prefix(Format.Head.storeByteCount)) else {
            throw .invalid("the head of another store", offset: Format.Head.storeOffset)
        }
        return head
    }

    /// The HEAD of a volume. A slot that another process was just writing is looked at once more.
    static func read(_ volume: any Volume, store: [UInt8]) throws(CambiumError) -> (head: Head?, flaws: [String]) {
        var found: (head: Head?, flaws: [String]) = (nil, ["is missing"])
        for _ in 0..<3 {
            guard try volume.exists(fileName) else { break }
            let newest = newest(try volume.bytes(of: fileName), store: store)
            found = (newest.head, newest.flaws.map { "is damaged: \($0)" })
            if found.flaws.isEmpty { break }
        }
        return found
    }

    /// The newest valid slot of a HEAD file, and what is wrong with the others.
    static func newest(_ bytes: [UInt8], store: [UInt8]) -> (head: Head?, flaws: [String]) {
        var heads: [Head] = []
        var flaws: [String] = []
        for slot in 0..<2 {
            let start = min(slot * Format.Head.slotByteCount, bytes.count)
            let end = min(start + Format.Head.slotByteCount, bytes.count)
            do {
                let head = try decode(bytes[start..<end], store: store)
                if head.sequence % 2 == UInt64(slot) {
                    heads.append(head)
                } else {
                    flaws.append("slot \(slot) has the sequence of the other")
                }
            } catch {
                flaws.append("slot \(slot) is not valid (\(error))")
            }
        }
        if bytes.count > 2 * Format.Head.slotByteCount { flaws.append("bytes follow the two slots") }
        return (heads.max { $0.sequence < $1.sequence }, flaws)
    }
}
