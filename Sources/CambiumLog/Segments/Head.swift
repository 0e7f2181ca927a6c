import CambiumBytes
package import CambiumModel
internal import CambiumProofs

/// The content of the file HEAD: a position up to which the log is known to be durable. The position is only a hint: a writer updates it
/// occasionally, alternating between two slots. FORMAT.md 1, "HEAD".
package struct Head: Equatable, Sendable {
    package static let fileName = "HEAD"

    package var sequence: UInt64
    /// The first transaction of the segment that contains the durable position.
    package var segment: TransactionNumber
    /// The durable position, in bytes from the beginning of that segment.
    package var position: UInt64
    package var lastTransaction: TransactionNumber
    package var isClosed: Bool
    /// The root of the Merkle tree over the first transactions of the log; `nil` if the root is not known.
    package var tree: Tree?

    /// The root of the Merkle tree over the first transactions of the log. HEAD contains no other part of the tree.
    package struct Tree: Equatable, Sendable {
        /// The last transaction in the tree.
        package let transaction: TransactionNumber
        /// The root of the tree, 32 bytes.
        package let root: [UInt8]

        init(_ tree: MerkleTree) { (transaction, root) = (TransactionNumber(rawValue: tree.leafCount), tree.root.bytes) }

        fileprivate init(_ transaction: TransactionNumber, _ root: [UInt8]) { (self.transaction, self.root) = (transaction, root) }
    }

    func encode(store: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: Format.Head.slotByteCount)
        writer.write(Format.Head.magic)
        writer.write(sequence)
        writer.write(segment.rawValue)
        writer.write(position)
        writer.write(lastTransaction.rawValue)
        writer.write(UInt64(isClosed ? 1 : 0))
        writer.write(Array(store.prefix(Format.Head.storeByteCount)))
        writer.write(tree?.transaction.rawValue ?? 0)
        writer.write(tree?.root ?? Self.noRoot)
        writer.write([UInt8](repeating: 0, count: Format.Head.slotByteCount - Format.Head.checksumByteCount - writer.count))
        writer.write(CRC32C.checksum(writer.bytes))
        return writer.bytes
    }

    private static let noRoot = [UInt8](repeating: 0, count: TreeHash.byteCount)

    /// Decodes a slot. Throws if the bytes are not a valid slot.
    static func decode(_ bytes: ArraySlice<UInt8>, store: [UInt8]) throws(DecodingError) -> Head {
        guard bytes.count == Format.Head.slotByteCount else { throw .truncated(offset: bytes.count) }
        guard verifies(bytes) else { throw .invalid("a slot whose checksum does not match", offset: 0) }
        var reader = ByteReader(Array(bytes.dropLast(Format.Head.checksumByteCount)))
        _ = try reader.readBytes(Format.Head.magic.count)
        var head = Head(
            sequence: try reader.read(UInt64.self), segment: TransactionNumber(rawValue: try reader.read(UInt64.self)),
            position: try reader.read(UInt64.self), lastTransaction: TransactionNumber(rawValue: try reader.read(UInt64.self)),
            isClosed: false)
        guard head.sequence <= Format.Head.sequenceMax else {
            throw .invalid("a sequence number that no writer reaches", offset: Format.Head.sequenceOffset)
        }
        switch try reader.read(UInt64.self) {
        case 0: break
        case 1: head.isClosed = true
        default: throw .invalid("a slot that is neither open nor closed", offset: Format.Head.closedOffset)
        }
        guard try reader.readBytes(Format.Head.storeByteCount).elementsEqual(store.prefix(Format.Head.storeByteCount)) else {
            throw .invalid("the HEAD of another store", offset: Format.Head.storeOffset)
        }
        head.tree = try readTree(&reader, notAfter: head.lastTransaction)
        return head
    }

    /// Whether the bytes are a whole slot that some writer wrote. Its fields may still be invalid.
    private static func verifies(_ bytes: ArraySlice<UInt8>) -> Bool {
        let content = Array(bytes.dropLast(Format.Head.checksumByteCount))
        return bytes.count == Format.Head.slotByteCount && content.starts(with: Format.Head.magic)
            && ByteReader.peek(Array(bytes), at: content.count) == CRC32C.checksum(content)
    }

    private static func readTree(
        _ reader: inout ByteReader, notAfter last: TransactionNumber
    ) throws(DecodingError) -> Tree? {
        let transaction = TransactionNumber(rawValue: try reader.read(UInt64.self))
        let root = Array(try reader.readBytes(TreeHash.byteCount))
        let isClear = try reader.readBytes(reader.remaining).allSatisfy { $0 == 0 }
        guard transaction <= last, transaction != .none || root == noRoot, isClear else {
            throw .invalid("a Merkle tree that does not fit the last transaction", offset: Format.Head.treeOffset)
        }
        return transaction == .none ? nil : Tree(transaction, root)
    }

    /// Reads the HEAD of a volume. If a slot is not valid, reads the file up to two more times, because another process may be writing the
    /// slot.
    static func read(_ volume: any Volume, store: [UInt8]) throws(CambiumError) -> Content {
        var found = Content(head: nil, flaws: ["\(fileName) is missing"])
        for _ in 0..<3 {
            guard try volume.exists(fileName) else { break }
            found = newest(try beginning(in: volume), store: store)
            found.flaws = found.flaws.map { found.isTorn ? "\(fileName) is torn: \($0)" : "\(fileName) is corrupt: \($0)" }
            if found.flaws.isEmpty { break }
        }
        return found
    }

    /// Returns the bytes of the two slots, and one more byte if the file is longer. One byte is enough to report that bytes follow the
    /// slots.
    private static func beginning(in volume: any Volume) throws(CambiumError) -> [UInt8] {
        let file = try volume.open(fileName, .read)
        defer { file.close() }
        return try file.read(at: 0, count: 2 * Format.Head.slotByteCount + 1)
    }

    /// The content of a HEAD file.
    struct Content {
        /// The newest valid slot; `nil` if neither slot is valid.
        var head: Head?
        /// The flaws of the other slots, and of the file.
        var flaws: [String] = []
        /// Whether the only flaw is a slot whose checksum does not match, and the other slot is valid. A process or machine that ends while
        /// a slot is written leaves such a file. It is harmless, because HEAD is only a hint, and the next writer replaces both slots.
        var isTorn = false
    }

    /// Returns the newest valid slot of a HEAD file, and the flaws of the other slots.
    static func newest(_ bytes: [UInt8], store: [UInt8]) -> Content {
        let slotByteCount = Format.Head.slotByteCount
        var hasTornSlot = false
        var heads: [Head] = []
        var flaws: [String] = []
        for slot in 0..<2 {
            let start = min(slot * slotByteCount, bytes.count)
            let end = min(start + slotByteCount, bytes.count)
            do {
                let head = try decode(bytes[start..<end], store: store)
                if head.sequence % 2 == UInt64(slot) {
                    heads.append(head)
                } else {
                    flaws.append("slot \(slot) has a sequence number of the other slot")
                }
            } catch {
                if !verifies(bytes[start..<end]) { hasTornSlot = true }
                flaws.append("slot \(slot) is not valid (\(error))")
            }
        }
        if bytes.count > 2 * slotByteCount { flaws.append("bytes follow the two slots") }
        let isTorn = hasTornSlot && heads.count == 1 && flaws.count == 1
        return Content(head: heads.max { $0.sequence < $1.sequence }, flaws: flaws, isTorn: isTorn)
    }
}
