/// Appends numbers and bytes to a buffer, little-endian. `ByteReader` reads them back.
public struct ByteWriter: Sendable {
    public private(set) var bytes: [UInt8]

    public init(capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    public var count: Int { bytes.count }

    public mutating func writeByte(_ value: UInt8) { bytes.append(value) }

    /// Fixed width, little-endian.
    public mutating func write<T: FixedWidthInteger>(_ value: T) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// LEB128: 7 bits a byte, the lowest first, the top bit set on all but the last; at most 10 bytes.
    public mutating func writeVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    public mutating func writeVarint(_ value: Int) {
        precondition(value >= 0, "Counts are not negative.")
        writeVarint(UInt64(value))
    }

    /// A signed number with its sign in the lowest bit.
    public mutating func writeZigzag(_ value: Int64) {
        writeVarint(UInt64(bitPattern: value << 1) ^ UInt64(bitPattern: value >> 63))
    }

    public mutating func write(_ value: UnsafeRawBufferPointer) { bytes.append(contentsOf: value) }

    public mutating func write<C: Collection<UInt8>>(_ value: C) { bytes.append(contentsOf: value) }

    /// A length and that many bytes.
    public mutating func writeBlob<C: Collection<UInt8>>(_ value: C) {
        writeVarint(value.count)
        bytes.append(contentsOf: value)
    }

    /// Empties the buffer and keeps its memory for what comes next, if that is not more than `capacityMax` bytes.
    public mutating func removeAll(keepingAtMost capacityMax: Int) {
        bytes.removeAll(keepingCapacity: bytes.capacity <= capacityMax)
    }

    /// Writes over bytes that are there already.
    public mutating func overwrite<T: FixedWidthInteger>(_ value: T, at offset: Int) {
        withUnsafeBytes(of: value.littleEndian) { source in
            bytes.replaceSubrange(offset..<offset + source.count, with: source)
        }
    }

    public static func varintByteCount(_ value: UInt64) -> Int {
        value == 0 ? 1 : (64 - value.leadingZeroBitCount + 6) / 7
    }
}
