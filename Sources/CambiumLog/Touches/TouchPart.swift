import CambiumBytes
package import CambiumModel
internal import CambiumProofs

/// A part of the touch index: the head of its file, which was verified. The blocks are read when they are needed. Docs/Formats/TOUCHES.md
/// describes the bytes.
package struct TouchPart: Sendable {
    struct Block: Sendable {
        var root: UInt16
        var hasRuns: Bool
        var first: UInt64
        var last: UInt64
        var byteCount: Int
        var checksum: UInt32
        var offset = 0
    }

    package let first: TransactionNumber
    package let last: TransactionNumber
    /// The root of the Merkle tree over the log up to `last`; zeros if another part follows that has one.
    package let treeRoot: [UInt8]
    /// The hash of the head of the preceding part; zeros if there is no preceding part.
    package let previous: [UInt8]
    package let touchCount: Int
    /// The transactions that changed the schema, in ascending order.
    package let schemas: [TransactionNumber]
    /// The hash of the head.
    package let hash: [UInt8]
    /// The length of the file.
    package let byteCount: Int
    let blocks: [Block]

    package static let noHash = [UInt8](repeating: 0, count: ContentHash.byteCount)

    private static let magic = Array("CAMBTOUC".utf8)
    private static let version: UInt16 = 1
    private static let beginningByteCount = 14
    private static let headByteCountMax = 64 << 20

    // MARK: Names

    package static let directory = "touches"
    private static let suffix = ".touches"

    package static func path(_ first: TransactionNumber, _ last: TransactionNumber) -> String {
        func digits(_ number: TransactionNumber) -> String {
            let digits = String(number.rawValue)
            return String(repeating: "0", count: LogFileName.digitCount - digits.count) + digits
        }
        return directory + "/" + digits(first) + "-" + digits(last) + suffix
    }

    package var path: String { Self.path(first, last) }

    /// Returns the transactions in the name of a part; `nil` if the name is not the name of a part.
    static func range(_ name: String) -> ClosedRange<TransactionNumber>? {
        guard name.hasSuffix(suffix) else { return nil }
        let numbers = name.dropLast(suffix.utf8.count).split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
        guard numbers.count == 2, let first = numbers[0], let last = numbers[1], first >= 1, first <= last, last <= Format.transactionMax
        else { return nil }
        let range = TransactionNumber(rawValue: first)...TransactionNumber(rawValue: last)
        return path(range.lowerBound, range.upperBound) == directory + "/" + name ? range : nil
    }

    // MARK: Reading

    /// Reads the head of a part. Returns `nil` if the file is missing, fails verification, or belongs to another store.
    package static func read(
        _ volume: any Volume, store: [UInt8], _ range: ClosedRange<TransactionNumber>
    ) throws(CambiumError) -> TouchPart? {
        do throws(CambiumError) {
            let file = try volume.open(path(range.lowerBound, range.upperBound), .read)
            defer { file.close() }
            var beginning = ByteReader(try file.read(at: 0, count: beginningByteCount))
            // A file that is too short has no readable length.
            guard (try? beginning.readBytes(10)) != nil, let length = try? beginning.read(UInt32.self), length <= headByteCountMax else {
                return nil
            }
            let head = try file.read(at: 0, count: Int(length))
            let byteCount = try file.byteCount()
            do throws(DecodingError) {
                let part = try TouchPart(head, store: store, byteCount: byteCount)
                return part.first == range.lowerBound && part.last == range.upperBound ? part : nil
            } catch { return nil }
        } catch {
            guard error.code == .notFound || error.code == .corrupted else { throw error }
            return nil
        }
    }

    private init(_ head: [UInt8], store: [UInt8], byteCount: Int) throws(DecodingError) {
        guard head.count > Self.beginningByteCount + 4,
            ByteReader.peek(head, at: head.count - 4) == CRC32C.checksum(Array(head.dropLast(4)))
        else { throw .invalid("a checksum that does not match", offset: 0) }
        var reader = ByteReader(head.dropLast(4))
        guard try reader.readBytes(8).elementsEqual(Self.magic), try reader.read(UInt16.self) == Self.version,
            try reader.read(UInt32.self) == head.count, try reader.readBytes(16).elementsEqual(store)
        else { throw .invalid("the head of another file", offset: 0) }
        first = TransactionNumber(rawValue: try reader.read(UInt64.self))
        last = TransactionNumber(rawValue: try reader.read(UInt64.self))
        guard first.rawValue >= 1, first <= last else { throw .invalid("a range that is empty", offset: reader.offset) }
        treeRoot = Array(try reader.readBytes(ContentHash.byteCount))
        previous = Array(try reader.readBytes(ContentHash.byteCount))
        touchCount = try reader.readCount(max: .max >> 1, "touches")
        var (schemas, number): ([TransactionNumber], UInt64) = ([], first.rawValue)
        for _ in 0..<(try reader.readCount(max: reader.remaining, "schemas")) {
            let (sum, isTooMuch) = number.addingReportingOverflow(try reader.readVarint())
            if isTooMuch || sum > last.rawValue { throw .invalid("a schema that is out of range", offset: reader.offset) }
            number = sum
            schemas.append(TransactionNumber(rawValue: number))
        }
        self.schemas = schemas
        blocks = try Self.readBlocks(&reader, headByteCount: head.count)
        try reader.finish()
        self.byteCount = byteCount
        hash = ContentHash.hash(head[...])
    }

    private static func readBlocks(_ reader: inout ByteReader, headByteCount: Int) throws(DecodingError) -> [Block] {
        var (blocks, offset): ([Block], Int) = ([], headByteCount)
        let count = try reader.readCount(max: reader.remaining / 8, "blocks")
        blocks.reserveCapacity(count)
        for _ in 0..<count {
            let root = try reader.readVarint()
            let first = try reader.readVarint()
            let (last, isTooMuch) = first.addingReportingOverflow(try reader.readVarint())
            let byteCount = try reader.readCount(max: TouchCodec.blockByteCountMax, "bytes")
            guard !isTooMuch, root >> 1 <= UInt64(UInt16.max) else { throw .invalid("a block that is out of range", offset: reader.offset) }
            blocks.append(
                Block(
                    root: UInt16(root >> 1), hasRuns: root & 1 == 1, first: first, last: last, byteCount: byteCount,
                    checksum: try reader.read(UInt32.self), offset: offset))
            offset += byteCount
        }
        return blocks
    }

    /// Returns the transactions of the part that changed an object, in ascending order. Returns `nil` if a block is corrupt or missing.
    /// Complexity: O(blocks of the part + bytes of the blocks that may have the object).
    package func transactions(of id: ObjectID, _ volume: any Volume) throws(CambiumError) -> [TransactionNumber]? {
        let own = blocks.filter { $0.root == id.root.rawValue && $0.first <= id.serial && id.serial <= $0.last }
        if own.isEmpty { return [] }
        var found: [UInt64] = []
        let isSound = try forEachBlock(own, volume) { touches, runs in
            for touch in touches where touch.serial == id.serial { found.append(touch.transaction) }
            for run in runs where run.first <= id.serial && id.serial <= run.last { found.append(run.transaction) }
        }
        guard isSound else { return nil }
        found.sort()
        var numbers: [TransactionNumber] = []
        for number in found where numbers.last?.rawValue != number { numbers.append(TransactionNumber(rawValue: number)) }
        return numbers
    }

    /// Adds all touches of the part to a set of later touches. Returns `false` if a block is corrupt or missing.
    package func add(to set: inout TouchSet, _ volume: any Volume) throws(CambiumError) -> Bool {
        var (touches, runs): ([TouchSet.Touch], [TouchSet.Run]) = ([], [])
        guard
            try forEachBlock(
                blocks, volume,
                {
                    touches += $0
                    runs += $1
                })
        else { return false }
        set.prepend(touches, runs, of: self)
        return true
    }

    private func forEachBlock(
        _ blocks: [Block], _ volume: any Volume, _ body: ([TouchSet.Touch], [TouchSet.Run]) -> Void
    ) throws(CambiumError) -> Bool {
        do throws(CambiumError) {
            let file = try volume.open(path, .read)
            defer { file.close() }
            for block in blocks {
                let bytes = try file.read(at: block.offset, count: block.byteCount)
                guard bytes.count == block.byteCount, CRC32C.checksum(bytes) == block.checksum else { return false }
                do throws(DecodingError) {
                    let range = first.rawValue...last.rawValue
                    if block.hasRuns {
                        body([], try TouchCodec.runs(bytes, block, range))
                    } else {
                        body(try TouchCodec.lists(bytes, block, range), [])
                    }
                } catch { return false }
            }
            return true
        } catch {
            guard error.code == .notFound else { throw error }
            return false  // A writer has merged the part with others.
        }
    }

    // MARK: Writing

    /// Returns the bytes of a part.
    ///
    /// - Parameters:
    ///   - treeRoot: The root of the Merkle tree over the log up to the last transaction; zeros if another part follows that has one.
    ///   - previous: The hash of the head of the preceding part; zeros if there is no preceding part.
    package static func encode(
        _ set: TouchSet, store: [UInt8], _ range: ClosedRange<TransactionNumber>, treeRoot: [UInt8], previous: [UInt8]
    ) -> [UInt8] {
        var set = set
        set.sort()
        let blocks = TouchCodec.encode(set, from: range.lowerBound.rawValue)
        var head = ByteWriter()
        head.write(magic)
        head.write(version)
        head.write(UInt32(0))
        head.write(store)
        head.write(range.lowerBound.rawValue)
        head.write(range.upperBound.rawValue)
        head.write(treeRoot)
        head.write(previous)
        head.writeVarint(set.touchCount)
        head.writeVarint(set.schemas.count)
        var number = range.lowerBound.rawValue
        for schema in set.schemas {
            head.writeVarint(schema.rawValue - number)
            number = schema.rawValue
        }
        head.writeVarint(blocks.count)
        for (block, bytes) in blocks {
            head.writeVarint(UInt64(block.root) << 1 | (block.hasRuns ? 1 : 0))
            head.writeVarint(block.first)
            head.writeVarint(block.last - block.first)
            head.writeVarint(bytes.count)
            head.write(CRC32C.checksum(bytes))
        }
        head.overwrite(UInt32(head.count + 4), at: 10)
        head.write(CRC32C.checksum(head.bytes))
        for (_, bytes) in blocks { head.write(bytes) }
        return head.bytes
    }
}
