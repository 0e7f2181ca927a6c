/// A writer that appends numbers and bytes to a buffer, little-endian. `ByteReader` reads them back.
///
/// The functions that encode small transactions are inlinable. The compiler specializes a generic function only in modules in which the
/// body of the function is visible.
public struct ByteWriter: Sendable {
    @usableFromInline var buffer: [UInt8]

    @inlinable public var bytes: [UInt8] { buffer }

    public init(capacity: Int = 0) {
        buffer = []
        if capacity > 0 { buffer.reserveCapacity(capacity) }
    }

    @inlinable public var count: Int { buffer.count }

    @inlinable public mutating func writeByte(_ value: UInt8) { buffer.append(value) }

    /// Writes a number with a fixed width, little-endian.
    @inlinable public mutating func write<T: FixedWidthInteger>(_ value: T) {
        withUnsafeBytes(of: value.littleEndian) { buffer.append(contentsOf: $0) }
    }

    /// Writes a number as LEB128: 7 bits in each byte, the lowest first, the top bit set in every byte except the last. At most 10 bytes.
    @inlinable
    public mutating func writeVarint(_ value: UInt64) {
        if value < 0x80 { return buffer.append(UInt8(truncatingIfNeeded: value)) }
        writeLongVarint(value)
    }

    @usableFromInline
    mutating func writeLongVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            buffer.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        buffer.append(UInt8(truncatingIfNeeded: rest))
    }

    @inlinable
    public mutating func writeVarint(_ value: Int) {
        precondition(value >= 0, "A count must not be negative.")
        writeVarint(UInt64(value))
    }

    /// Writes a signed number with its sign in the lowest bit.
    public mutating func writeZigzag(_ value: Int64) {
        writeVarint(UInt64(bitPattern: value << 1) ^ UInt64(bitPattern: value >> 63))
    }

    public mutating func write(_ value: UnsafeRawBufferPointer) { buffer.append(contentsOf: value) }

    @inlinable public mutating func write<C: Collection<UInt8>>(_ value: C) { buffer.append(contentsOf: value) }

    /// Writes the length of some bytes, and then the bytes.
    @inlinable public mutating func writeBlob<C: Collection<UInt8>>(_ value: C) {
        writeVarint(value.count)
        buffer.append(contentsOf: value)
    }

    /// Empties the buffer. Keeps its memory for further bytes, unless the memory has more than `capacityMax` bytes.
    public mutating func removeAll(keepingAtMost capacityMax: Int) {
        buffer.removeAll(keepingCapacity: buffer.capacity <= capacityMax)
    }

    /// Overwrites earlier bytes with a number of fixed width.
    @inlinable public mutating func overwrite<T: FixedWidthInteger>(_ value: T, at offset: Int) {
        precondition(offset >= 0 && offset + MemoryLayout<T>.size <= buffer.count, "The overwritten bytes must lie inside the buffer.")
        // SAFETY: the overwritten bytes lie inside the buffer.
        buffer.withUnsafeMutableBytes { $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: T.self) }
    }

    public static func varintByteCount(_ value: UInt64) -> Int {
        value == 0 ? 1 : (64 - value.leadingZeroBitCount + 6) / 7
    }
}
