import CambiumBytes
import CambiumTesting
import Testing

@Suite struct `Reading bytes` {
    /// Values on both sides of each change of length, with the number of bytes of their varints.
    static let boundaries: [(value: UInt64, byteCount: Int)] = {
        var all: [(value: UInt64, byteCount: Int)] = [(0, 1), (1, 1), (.max - 1, 10), (.max, 10)]
        for count in 1...9 {
            let end: UInt64 = 1 << UInt64(7 * count)
            all += [(end - 1, count), (end, count + 1)]
        }
        return all
    }()

    @Test(arguments: boundaries)
    func `a varint takes as few bytes as its value needs, and is read back`(value: UInt64, byteCount: Int) throws {
        var writer = ByteWriter()
        writer.writeVarint(value)
        #expect(writer.count == byteCount)
        #expect(ByteWriter.varintByteCount(value) == byteCount)
        var reader = ByteReader(writer.bytes)
        #expect(try reader.readVarint() == value)
        try reader.finish()
    }

    static let goldens: [(UInt64, [UInt8])] = [
        (0, [0]), (1, [1]), (127, [0x7F]), (128, [0x80, 1]), (300, [0xAC, 2]), (16_384, [0x80, 0x80, 1]),
        (.max, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
    ]

    @Test(arguments: goldens)
    func `varints are LEB128`(_ value: UInt64, _ bytes: [UInt8]) {
        var writer = ByteWriter()
        writer.writeVarint(value)
        #expect(writer.bytes == bytes)
    }

    @Test(arguments: [
        (Int64(0), UInt64(0)), (-1, 1), (1, 2), (-2, 3), (63, 126), (-64, 127), (64, 128), (-65, 129), (.max, .max - 1), (.min, .max),
    ])
    func `zigzag puts the sign into the lowest bit`(_ value: Int64, _ varint: UInt64) throws {
        var writer = ByteWriter()
        writer.writeZigzag(value)
        var asVarint = ByteReader(writer.bytes)
        #expect(try asVarint.readVarint() == varint)
        var reader = ByteReader(writer.bytes)
        #expect(try reader.readZigzag() == value)
    }

    static let ends = [UInt8](repeating: 0x80, count: 9)

    @Test(
        arguments: [
            [0x80, 0], [0xFF, 0], [0x80, 0x80, 0], [0xFF, 0xFF, 0xFF, 0], ends + [0], ends + [2], ends + [0x7F], ends + [0x80],
            ends + [0x81, 0],
            ends + [0xFF, 1], [UInt8](repeating: 0xFF, count: 10), [UInt8](repeating: 0xFF, count: 11) + [0],
        ] as [[UInt8]])
    func `superfluous bytes and bits beyond the 64th are refused`(_ bytes: [UInt8]) {
        var reader = ByteReader([7] + bytes)
        #expect(throws: Never.self) { try reader.readByte() }
        let error = #expect(throws: DecodingError.self) { try reader.readVarint() }
        guard case .invalid(_, offset: 1) = error else {
            Issue.record("\(bytes) gave \(String(describing: error))")
            return
        }
    }

    @Test(arguments: 0...9)
    func `a varint that ends too early is truncated`(_ count: Int) {
        var reader = ByteReader([UInt8](repeating: 0x80, count: count))
        #expect(throws: DecodingError.truncated(offset: count)) { try reader.readVarint() }
    }

    @Test func `numbers of fixed width are little-endian`() throws {
        var writer = ByteWriter()
        writer.write(UInt16(0x0102))
        writer.write(Int32(-2))
        writer.write(UInt64(0x0102_0304_0506_0708))
        #expect(writer.bytes == [2, 1, 0xFE, 0xFF, 0xFF, 0xFF, 8, 7, 6, 5, 4, 3, 2, 1])
        var reader = ByteReader(writer.bytes)
        #expect(try reader.read(UInt16.self) == 0x0102)
        #expect(try reader.read(Int32.self) == -2)
        #expect(throws: DecodingError.truncated(offset: 14)) { try reader.read(UInt128.self) }
        #expect(try reader.read(UInt64.self) == 0x0102_0304_0506_0708)
        #expect(reader.isAtEnd)
    }

    @Test func `a count over its limit is refused before anything is allocated`() {
        var writer = ByteWriter()
        writer.writeVarint(UInt64.max)
        var reader = ByteReader(writer.bytes)
        let error = #expect(throws: DecodingError.self) { try reader.readCount(max: .max, "rows") }
        guard case .limitExceeded(_, offset: 0) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [0, 1, 127, 128, 1000])
    func `a blob is read whole, and is refused if it is truncated or too long`(_ count: Int) throws {
        let blob = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        var writer = ByteWriter()
        writer.writeBlob(blob)
        var reader = ByteReader(writer.bytes)
        #expect(try Array(reader.readBlob("name")) == blob)
        #expect(reader.isAtEnd)
        guard count > 0 else { return }
        var short = ByteReader(writer.bytes.dropLast())
        #expect(throws: DecodingError.self) { try short.readBlob("name") }
        var limited = ByteReader(writer.bytes)
        #expect(throws: DecodingError.self) { try limited.readBlob(max: count - 1, "name") }
    }

    @Test func `offsets count from the beginning of the slice`() throws {
        var reader = ByteReader([9, 9, 9, 1, 2][3...])
        #expect(try reader.readByte() == 1)
        #expect(reader.offset == 1)
        let error = #expect(throws: DecodingError.self) { try reader.finish() }
        #expect(error?.offset == 1)
        #expect(try reader.readByte() == 2)
        #expect(throws: DecodingError.truncated(offset: 2)) { try reader.readByte() }
    }

    @Test func `the reason for a refusal is described in words, with its offset`() {
        #expect("\(DecodingError.truncated(offset: 0))" == "the bytes end before the end of a value, at offset 0")
        #expect("\(DecodingError.invalid("a null", offset: 8))" == "a null, at offset 8")
        #expect("\(DecodingError.limitExceeded("elements", offset: 9))" == "more than the limit: elements, at offset 9")
    }

    @Test func `bytes are overwritten in place`() {
        var writer = ByteWriter()
        writer.write([1, 2, 3, 4, 5, 6] as [UInt8])
        writer.overwrite(UInt32(0xAABB_CCDD), at: 1)
        #expect(writer.bytes == [1, 0xDD, 0xCC, 0xBB, 0xAA, 6])
    }

    @Test func `random bytes are refused, or read and written back unchanged`() {
        var random = SplitMix64(for: "random varints")
        for _ in 0..<20_000 {
            let bytes = random.bytes(Int.random(in: 0...11, using: &random))
            var reader = ByteReader(bytes)
            guard let value = try? reader.readVarint() else { continue }  // A refusal is correct here.
            var writer = ByteWriter()
            writer.writeVarint(value)
            #expect(writer.bytes == Array(bytes.prefix(reader.offset)))
        }
    }
}
