import CambiumBytes

/// The codec for a list of numbers of one width. It chooses the encoding that takes the fewest bytes. FORMAT.md 4, "list".
enum IntegerList {
    /// - Parameter width: the number of bytes of a number: 1, 2, 4 or 8. The values are zero-extended from this width.
    static func encode(_ values: [UInt64], width: Int, to writer: inout ByteWriter) {
        guard let first = values.first else { return }
        let plan = Plan(values, width: width)
        writer.writeByte(plan.encoding.rawValue)
        switch plan.encoding {
        case .raw:
            for value in values { write(value, width, &writer) }
        case .constant:
            write(first, width, &writer)
        case .offset:
            writer.write(plan.base)
            writer.writeByte(UInt8(plan.width))
            for value in values { write(UInt64(bitPattern: extend(value, width) &- plan.base), plan.width, &writer) }
        case .delta:
            writer.write(extend(first, width))
            writer.write(plan.base)
            writer.writeByte(UInt8(plan.width))
            var previous = extend(first, width)
            for value in values.dropFirst() {
                let current = extend(value, width)
                write(UInt64(bitPattern: current &- previous &- plan.base), plan.width, &writer)
                previous = current
            }
        }
    }

    static func decode(_ count: Int, width: Int, from reader: inout ByteReader) throws(DecodingError) -> [UInt64] {
        guard count > 0 else { return [] }
        let offset = reader.offset
        guard let encoding = Format.ListEncoding(rawValue: try reader.readByte()) else {
            throw .invalid("an unknown encoding of a list", offset: offset)
        }
        switch encoding {
        case .raw:
            return try numbers(count, width, &reader)
        case .constant:
            guard count <= Format.elementCountMax else { throw .limitExceeded("elements of a list", offset: offset) }
            return [UInt64](repeating: try numbers(1, width, &reader)[0], count: count)
        case .offset:
            let base = UInt64(bitPattern: try reader.read(Int64.self))
            let narrow = try readWidth(1...7, &reader)
            let mask = mask(width)
            return try numbers(count, narrow, &reader).map { ($0 &+ base) & mask }
        case .delta:
            var current = UInt64(bitPattern: try reader.read(Int64.self))
            let base = UInt64(bitPattern: try reader.read(Int64.self))
            let narrow = try readWidth(0...7, &reader)
            guard count <= Format.elementCountMax else { throw .limitExceeded("elements of a list", offset: offset) }
            let deltas = narrow == 0 ? [] : try numbers(count - 1, narrow, &reader)
            let mask = mask(width)
            return [UInt64](unsafeUninitializedCapacity: count) { buffer, done in
                buffer[0] = current & mask
                for index in 1..<max(count, 1) {
                    current = current &+ base &+ (narrow == 0 ? 0 : deltas[index - 1])
                    buffer[index] = current & mask
                }
                done = count
            }
        }
    }

    private static func readWidth(_ range: ClosedRange<Int>, _ reader: inout ByteReader) throws(DecodingError) -> Int {
        let offset = reader.offset
        let width = Int(try reader.readByte())
        guard range.contains(width) else { throw .invalid("a width of \(width) bytes", offset: offset) }
        return width
    }

    private static func numbers(_ count: Int, _ width: Int, _ reader: inout ByteReader) throws(DecodingError) -> [UInt64] {
        // The initializer below would write to the memory that all empty arrays share.
        if count == 0 { return [] }
        let (byteCount, overflow) = count.multipliedReportingOverflow(by: width)
        guard !overflow else { throw .truncated(offset: reader.offset) }
        let bytes = try reader.readBytes(byteCount)
        return bytes.withUnsafeBytes { source in
            // SAFETY: `source` has exactly `count` numbers of `width` bytes; each read lies inside it.
            [UInt64](unsafeUninitializedCapacity: count) { buffer, done in
                for index in 0..<count { buffer[index] = load(source, index * width, width) }
                done = count
            }
        }
    }

    @inline(__always)
    private static func load(_ source: UnsafeRawBufferPointer, _ offset: Int, _ width: Int) -> UInt64 {
        switch width {
        case 1: return UInt64(source[offset])
        case 2: return UInt64(UInt16(littleEndian: source.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
        case 4: return UInt64(UInt32(littleEndian: source.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        case 8: return UInt64(littleEndian: source.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        default:
            var value: UInt64 = 0
            for index in 0..<width { value |= UInt64(source[offset + index]) << UInt64(8 * index) }
            return value
        }
    }

    @inline(__always)
    private static func write(_ value: UInt64, _ width: Int, _ writer: inout ByteWriter) {
        switch width {
        case 0: break
        case 1: writer.writeByte(UInt8(truncatingIfNeeded: value))
        case 2: writer.write(UInt16(truncatingIfNeeded: value))
        case 4: writer.write(UInt32(truncatingIfNeeded: value))
        case 8: writer.write(value)
        default: for index in 0..<width { writer.writeByte(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
        }
    }

    @inline(__always) static func extend(_ value: UInt64, _ width: Int) -> Int64 {
        switch width {
        case 1: Int64(Int8(truncatingIfNeeded: value))
        case 2: Int64(Int16(truncatingIfNeeded: value))
        case 4: Int64(Int32(truncatingIfNeeded: value))
        default: Int64(bitPattern: value)
        }
    }

    private static func mask(_ width: Int) -> UInt64 { width == 8 ? .max : (1 << UInt64(8 * width)) - 1 }

    /// The encoding that a list gets, and the parameters of this encoding.
    private struct Plan {
        var encoding = Format.ListEncoding.raw
        var base: Int64 = 0
        var width = 0

        init(_ values: [UInt64], width: Int) {
            var least = Int64.max
            var greatest = Int64.min
            var leastDelta = Int64.max
            var greatestDelta = Int64.min
            var previous = IntegerList.extend(values[0], width)
            for (index, value) in values.enumerated() {
                let current = IntegerList.extend(value, width)
                least = min(least, current)
                greatest = max(greatest, current)
                if index > 0 {
                    let delta = current &- previous
                    leastDelta = min(leastDelta, delta)
                    greatestDelta = max(greatestDelta, delta)
                    previous = current
                }
            }
            if least == greatest {
                encoding = .constant
                return
            }
            let offsetWidth = Self.byteCount(UInt64(bitPattern: greatest &- least))
            let deltaWidth = leastDelta > greatestDelta ? 8 : Self.byteCount(UInt64(bitPattern: greatestDelta &- leastDelta))
            let count = values.count
            let sizes = [
                width * count, offsetWidth > 7 ? .max : 9 + offsetWidth * count, deltaWidth > 7 ? .max : 17 + deltaWidth * (count - 1),
            ]
            if sizes[0] <= min(sizes[1], sizes[2]) { return }
            encoding = sizes[1] <= sizes[2] ? .offset : .delta
            base = encoding == .offset ? least : leastDelta
            self.width = encoding == .offset ? offsetWidth : deltaWidth
        }

        private static func byteCount(_ value: UInt64) -> Int { (64 - value.leadingZeroBitCount + 7) / 8 }
    }
}
