import CambiumBytes
internal import CambiumModel

/// The codec for lists of serials (the numbers of objects) and for columns of values. Both are parts of a block, an op that changes many
/// objects. FORMAT.md 4, "serials" and "column".
enum ColumnCodec {
    static func encode(_ serials: SerialRuns, to writer: inout ByteWriter) {
        writer.writeVarint(serials.runs.count)
        var end: UInt64 = 0
        for run in serials.runs {
            writer.writeVarint(run.first - end)
            writer.writeVarint(run.count)
            end = run.first + UInt64(run.count)
        }
    }

    static func decodeSerials(_ reader: inout ByteReader) throws(DecodingError) -> SerialRuns {
        let runCount = try reader.readCount(max: reader.remaining, "runs of serials")
        var serials = SerialRuns()
        var end: UInt64 = 0
        for _ in 0..<runCount {
            let offset = reader.offset
            let gap = try reader.readVarint()
            let count = try reader.readCount(max: Format.blockObjectCountMax, "serials in a run")
            guard gap <= ObjectID.serialMax, end + gap + UInt64(count) <= ObjectID.serialMax + 1, count > 0,
                serials.count + count <= Format.blockObjectCountMax, gap > 0 || end == 0
            else { throw .invalid("a run of serials that is out of order or out of range", offset: offset) }
            serials.append(from: end + gap, count: count)
            end += gap + UInt64(count)
        }
        return serials
    }

    // MARK: Columns

    static func encode(_ column: AttributeColumn, count: Int, to writer: inout ByteWriter) {
        writer.writeVarint(UInt64(column.property.rawValue))
        let presentCount = column.presence.reduce(0) { $0 + $1.nonzeroBitCount }
        let presence: Format.Presence = presentCount == count ? .all : presentCount == 0 ? .none : .bits
        writer.writeByte(presence.rawValue)
        if presence == .bits { for word in column.presence { writer.write(word) } }
        switch column.content {
        case .fixed(let width, let bytes):
            writer.writeByte(UInt8(width))
            if presence != .none { encodeFixed(bytes, width, to: &writer) }
        case .variable(let byteCounts, let bytes):
            writer.writeByte(0)
            if presence != .none { encodeVariable(byteCounts, bytes, to: &writer) }
        }
    }

    private static func encodeFixed(_ bytes: [UInt8], _ width: Int, to writer: inout ByteWriter) {
        if width == 16 {
            let isConstant = !bytes.isEmpty && stride(from: 16, to: bytes.count, by: 16).allSatisfy { bytes[$0..<$0 + 16] == bytes[0..<16] }
            writer.writeByte(isConstant ? Format.ListEncoding.constant.rawValue : Format.ListEncoding.raw.rawValue)
            writer.write(isConstant ? bytes[0..<16] : bytes[...])
            return
        }
        let values = bytes.withUnsafeBytes { source in
            (0..<bytes.count / width).map { index -> UInt64 in
                var value: UInt64 = 0
                withUnsafeMutableBytes(of: &value) { target in
                    target.copyBytes(from: UnsafeRawBufferPointer(rebasing: source[index * width..<(index + 1) * width]))
                }
                return UInt64(littleEndian: value)
            }
        }
        IntegerList.encode(values, width: width, to: &writer)
    }

    private static func encodeVariable(_ byteCounts: [UInt32], _ bytes: [UInt8], to writer: inout ByteWriter) {
        IntegerList.encode(byteCounts.map { UInt64($0) }, width: 4, to: &writer)
        let isHex = bytes.count >= 16 && HexPacking.isHex(bytes)
        writer.writeByte((isHex ? Format.BytesEncoding.hex : .raw).rawValue)
        writer.write(isHex ? HexPacking.pack(bytes) : bytes)
    }

    static func decodeColumn(count: Int, _ reader: inout ByteReader) throws(DecodingError) -> AttributeColumn {
        let offset = reader.offset
        guard let number = UInt16(exactly: try reader.readVarint()),
            let kind = Format.Presence(rawValue: try reader.readByte())
        else { throw .invalid("a column whose property or presence is not valid", offset: offset) }
        var presence = [UInt64](repeating: 0, count: (count + 63) / 64)
        switch kind {
        case .none: break
        case .all: for index in presence.indices { presence[index] = tailMask(index, count) }
        case .bits:
            for index in presence.indices {
                presence[index] = try reader.read(UInt64.self)
                guard presence[index] & ~tailMask(index, count) == 0 else {
                    throw .invalid("presence bits beyond the last object", offset: reader.offset)
                }
            }
        }
        let width = Int(try reader.readByte())
        let content: AttributeColumn.Content
        switch width {
        case 0: content = try decodeVariable(count, kind, &reader)
        case 1, 2, 4, 8, 16: content = .fixed(width: width, bytes: try decodeFixed(count, width, kind, &reader))
        default: throw .invalid("a width of \(width) bytes", offset: reader.offset)
        }
        if kind == .bits { try checkNulls(content, presence, count, offset) }
        return AttributeColumn(property: PropertyNumber(rawValue: number), presence: presence, content: content)
    }

    /// Checks that each null of a column is stored as zeros. Otherwise, a column would have several encodings.
    private static func checkNulls(
        _ content: AttributeColumn.Content, _ presence: [UInt64], _ count: Int, _ offset: Int
    ) throws(DecodingError) {
        for index in 0..<count where presence[index >> 6] >> UInt64(index & 63) & 1 == 0 {
            let isEmpty =
                switch content {
                case .fixed(let width, let bytes): bytes[width * index..<width * (index + 1)].allSatisfy { $0 == 0 }
                case .variable(let byteCounts, _): byteCounts[index] == 0
                }
            guard isEmpty else { throw .invalid("a null that is not stored as zeros", offset: offset) }
        }
    }

    private static func tailMask(_ word: Int, _ count: Int) -> UInt64 {
        let rest = count - 64 * word
        return rest >= 64 ? .max : (1 << UInt64(rest)) - 1
    }

    private static func decodeFixed(
        _ count: Int, _ width: Int, _ presence: Format.Presence, _ reader: inout ByteReader
    ) throws(DecodingError) -> [UInt8] {
        if presence == .none { return [UInt8](repeating: 0, count: width * count) }
        if width == 16 {
            switch Format.ListEncoding(rawValue: try reader.readByte()) {
            case .raw: return Array(try reader.readBytes(16 * count))
            case .constant:
                let one = try reader.readBytes(16)
                var bytes: [UInt8] = []
                bytes.reserveCapacity(16 * count)
                for _ in 0..<count { bytes.append(contentsOf: one) }
                return bytes
            default: throw .invalid("an unknown encoding of 16-byte values", offset: reader.offset)
            }
        }
        let values = try IntegerList.decode(count, width: width, from: &reader)
        if count == 0 { return [] }  // The initializer below would write to the memory that all empty arrays share.
        return [UInt8](unsafeUninitializedCapacity: width * count) { buffer, done in
            // SAFETY: each value is stored in its own `width` bytes of the buffer.
            let target = UnsafeMutableRawBufferPointer(buffer)
            for (index, value) in values.enumerated() {
                switch width {
                case 1: target[index] = UInt8(truncatingIfNeeded: value)
                case 2: target.storeBytes(of: UInt16(truncatingIfNeeded: value).littleEndian, toByteOffset: 2 * index, as: UInt16.self)
                case 4: target.storeBytes(of: UInt32(truncatingIfNeeded: value).littleEndian, toByteOffset: 4 * index, as: UInt32.self)
                default: target.storeBytes(of: value.littleEndian, toByteOffset: 8 * index, as: UInt64.self)
                }
            }
            done = width * count
        }
    }

    private static func decodeVariable(
        _ count: Int, _ presence: Format.Presence, _ reader: inout ByteReader
    ) throws(DecodingError) -> AttributeColumn.Content {
        if presence == .none { return .variable(byteCounts: [UInt32](repeating: 0, count: count), bytes: []) }
        let offset = reader.offset
        let byteCounts = try IntegerList.decode(count, width: 4, from: &reader).map { UInt32(truncatingIfNeeded: $0) }
        let total = byteCounts.reduce(0) { $0 + Int($1) }
        switch Format.BytesEncoding(rawValue: try reader.readByte()) {
        case .raw: return .variable(byteCounts: byteCounts, bytes: Array(try reader.readBytes(total)))
        case .hex:
            let packed = try reader.readBytes((total + 1) / 2)
            if total % 2 == 1, let last = packed.last, last & 15 != 0 {
                throw .invalid("half a byte that is not zero after the last hexadecimal digit", offset: offset)
            }
            return .variable(byteCounts: byteCounts, bytes: HexPacking.unpack(packed, count: total))
        case nil: throw .invalid("an unknown encoding of bytes", offset: offset)
        }
    }
}
