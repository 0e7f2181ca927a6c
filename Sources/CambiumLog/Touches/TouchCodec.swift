import CambiumBytes

/// Encodes and decodes the blocks of a part of the touch index. Docs/Formats/TOUCHES.md describes the bytes.
enum TouchCodec {
    /// The maximum number of touches in a block of lists, and of runs in a block of runs. A block takes about 3 KiB.
    static let countMax = 1024
    static let blockByteCountMax = 1 << 20
    /// The highest parameter of a Rice code. A distance between transactions has at most 62 bits.
    private static let riceMax: UInt8 = 61

    typealias Encoded = (block: TouchPart.Block, bytes: [UInt8])

    /// - Parameter set: sorted touches.
    static func encode(_ set: TouchSet, from first: UInt64) -> [Encoded] {
        var lists: [Encoded] = []
        var start = 0
        while start < set.touches.count {
            var end = start
            while end < set.touches.count, end - start < countMax, set.touches[end].root == set.touches[start].root { end += 1 }
            lists.append(encode(set.touches[start..<end], from: first))
            start = end
        }
        var runs: [Encoded] = []
        start = 0
        while start < set.runs.count {
            var end = start
            while end < set.runs.count, end - start < countMax, set.runs[end].root == set.runs[start].root { end += 1 }
            runs.append(encode(set.runs[start..<end], from: first))
            start = end
        }
        return (lists + runs).sorted { ($0.block.root, $0.block.first) < ($1.block.root, $1.block.first) }
    }

    // MARK: Lists

    private static func encode(_ touches: ArraySlice<TouchSet.Touch>, from first: UInt64) -> Encoded {
        var writer = ByteWriter(capacity: 4 * touches.count + 16)
        let base = touches[touches.startIndex].serial
        var (gaps, entryCount, serial): ([UInt64], Int, UInt64) = ([], 0, base)
        gaps.reserveCapacity(touches.count)
        var entries = ByteWriter(capacity: 2 * touches.count)
        var place = touches.startIndex
        while place < touches.endIndex {
            let own = touches[place].serial
            var (count, number) = (0, first)
            while place < touches.endIndex, touches[place].serial == own {
                gaps.append(touches[place].transaction - number - (count == 0 ? 0 : 1))
                number = touches[place].transaction
                (count, place) = (count + 1, place + 1)
            }
            entries.writeVarint((own - serial) << 1 | (count > 1 ? 1 : 0))
            if count > 1 { entries.writeVarint(count - 2) }
            (serial, entryCount) = (own, entryCount + 1)
        }
        let parameter = riceParameter(gaps)
        writer.writeVarint(entryCount)
        writer.writeByte(parameter)
        writer.write(entries.bytes)
        var bits = BitWriter()
        for gap in gaps { bits.writeRice(gap, parameter) }
        writer.write(bits.finish())
        let block = TouchPart.Block(
            root: touches[touches.startIndex].root, hasRuns: false, first: base, last: serial, byteCount: writer.count, checksum: 0)
        return (block, writer.bytes)
    }

    /// Returns the parameter with the shortest codes.
    private static func riceParameter(_ gaps: [UInt64]) -> UInt8 {
        func bitCount(_ parameter: UInt8) -> UInt64 {
            gaps.reduce(UInt64(gaps.count) * UInt64(parameter + 1)) { sum, gap in
                let (more, isTooMuch) = sum.addingReportingOverflow(gap >> UInt64(parameter))
                return isTooMuch ? .max : more
            }
        }
        let mean = gaps.reduce(0.0) { $0 + Double($1) } / Double(max(1, gaps.count))
        let middle = mean < 2 ? 0 : UInt8(clamping: Int(mean).bitWidth - Int(mean).leadingZeroBitCount - 1)
        return ((middle > 0 ? middle - 1 : 0)...min(riceMax, middle + 1)).min { bitCount($0) < bitCount($1) } ?? 0
    }

    static func lists(
        _ bytes: [UInt8], _ block: TouchPart.Block, _ range: ClosedRange<UInt64>
    ) throws(DecodingError) -> [TouchSet.Touch] {
        var reader = ByteReader(bytes)
        let entryCount = try reader.readCount(max: countMax, "entries")
        let parameter = try reader.readByte()
        guard parameter <= riceMax else { throw .invalid("a parameter that is out of range", offset: 1) }
        var (entries, serial, total): ([(serial: UInt64, count: Int)], UInt64, Int) = ([], block.first, 0)
        for _ in 0..<entryCount {
            let value = try reader.readVarint()
            serial = serial &+ value >> 1
            let count = value & 1 == 0 ? 1 : try reader.readCount(max: countMax, "transactions") + 2
            guard serial <= block.last else { throw .invalid("an object that is out of range", offset: reader.offset) }
            entries.append((serial, count))
            total += count
        }
        guard total <= countMax else { throw .invalid("too many touches", offset: reader.offset) }
        var bits = BitReader(bytes, at: reader.offset)
        var touches: [TouchSet.Touch] = []
        touches.reserveCapacity(total)
        for entry in entries {
            var number = range.lowerBound
            for place in 0..<entry.count {
                let gap = try bits.readRice(parameter)
                let (sum, isTooMuch) = number.addingReportingOverflow(gap)
                number = sum &+ (place == 0 ? 0 : 1)
                if isTooMuch || number > range.upperBound { throw .invalid("a transaction that is out of range", offset: bytes.count) }
                touches.append(TouchSet.Touch(serial: entry.serial, transaction: number, root: block.root))
            }
        }
        return touches
    }

    // MARK: Runs

    private static func encode(_ runs: ArraySlice<TouchSet.Run>, from first: UInt64) -> Encoded {
        var writer = ByteWriter(capacity: 8 * runs.count + 4)
        let base = runs[runs.startIndex].first
        var (serial, last) = (base, base)
        writer.writeVarint(runs.count)
        for run in runs {
            writer.writeVarint(run.first - serial)
            writer.writeVarint(run.last - run.first)
            writer.writeVarint(run.transaction - first)
            (serial, last) = (run.first, max(last, run.last))
        }
        let block = TouchPart.Block(
            root: runs[runs.startIndex].root, hasRuns: true, first: base, last: last, byteCount: writer.count, checksum: 0)
        return (block, writer.bytes)
    }

    static func runs(
        _ bytes: [UInt8], _ block: TouchPart.Block, _ range: ClosedRange<UInt64>
    ) throws(DecodingError) -> [TouchSet.Run] {
        var reader = ByteReader(bytes)
        var (runs, serial): ([TouchSet.Run], UInt64) = ([], block.first)
        for _ in 0..<(try reader.readCount(max: countMax, "runs")) {
            serial = serial &+ (try reader.readVarint())
            let (last, isTooMuch) = serial.addingReportingOverflow(try reader.readVarint())
            let (number, isLater) = range.lowerBound.addingReportingOverflow(try reader.readVarint())
            guard !isTooMuch, !isLater, serial >= block.first, last <= block.last, number <= range.upperBound else {
                throw .invalid("a run that is out of range", offset: reader.offset)
            }
            runs.append(TouchSet.Run(root: block.root, first: serial, last: last, transaction: number))
        }
        try reader.finish()
        return runs
    }
}

/// Writes bits, the lowest bit of each byte first.
private struct BitWriter {
    private var bytes: [UInt8] = []
    private var pending: UInt64 = 0
    private var count: UInt64 = 0

    mutating func writeRice(_ value: UInt64, _ parameter: UInt8) {
        for _ in 0..<(value >> UInt64(parameter)) { write(1, 1) }
        write(0, 1)
        // At most 32 bits fit beside the pending ones.
        let low = value & (1 << UInt64(parameter) - 1)
        let first = min(parameter, 32)
        write(low & (1 << UInt64(first) - 1), UInt64(first))
        write(low >> UInt64(first), UInt64(parameter - first))
    }

    private mutating func write(_ bits: UInt64, _ bitCount: UInt64) {
        pending |= bits << count
        count += bitCount
        while count >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            count -= 8
        }
    }

    mutating func finish() -> [UInt8] {
        if count > 0 { bytes.append(UInt8(truncatingIfNeeded: pending)) }
        return bytes
    }
}

/// Reads bits, the lowest bit of each byte first.
private struct BitReader {
    private let bytes: [UInt8]
    private var offset: Int
    private var bit: UInt8 = 0

    init(_ bytes: [UInt8], at offset: Int) { (self.bytes, self.offset) = (bytes, offset) }

    mutating func readRice(_ parameter: UInt8) throws(DecodingError) -> UInt64 {
        var quotient: UInt64 = 0
        while try readBit() == 1 { quotient += 1 }
        guard parameter == 0 || quotient <= UInt64.max >> UInt64(parameter) else {
            throw .invalid("a code that is too long", offset: offset)
        }
        var low: UInt64 = 0
        for place in 0..<UInt64(parameter) { low |= try readBit() << place }
        return quotient << UInt64(parameter) | low
    }

    private mutating func readBit() throws(DecodingError) -> UInt64 {
        guard offset < bytes.count else { throw .truncated(offset: offset) }
        let value = UInt64(bytes[offset] >> bit & 1)
        bit += 1
        if bit == 8 { (bit, offset) = (0, offset + 1) }
        return value
    }
}
