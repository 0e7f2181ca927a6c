/// The reason why bytes could not be decoded.
public enum DecodingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes end before the end of the value.
    case truncated(offset: Int)
    /// The bytes are not a value that an encoder can write.
    case invalid(String, offset: Int)
    /// A count or a length exceeds its limit.
    case limitExceeded(String, offset: Int)

    public var offset: Int {
        switch self {
        case .truncated(let offset), .invalid(_, let offset), .limitExceeded(_, let offset): offset
        }
    }

    /// A phrase that an error message contains in parentheses, such as "a time that is out of range, at offset 16".
    public var description: String {
        switch self {
        case .truncated(let offset): "the bytes end before the end of a value, at offset \(offset)"
        case .invalid(let found, let offset): "\(found), at offset \(offset)"
        case .limitExceeded(let found, let offset): "more than the limit: \(found), at offset \(offset)"
        }
    }
}

/// A reader of numbers and bytes that a `ByteWriter` wrote. No read goes beyond the end of the bytes.
///
/// The functions that decode small transactions are inlinable. The compiler specializes a generic function only in modules in which the
/// body of the function is visible.
public struct ByteReader: Sendable {
    public let bytes: ArraySlice<UInt8>
    /// The number of bytes read so far.
    @inlinable public var offset: Int { position }
    @usableFromInline var position = 0

    @inlinable public init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }
    @inlinable public init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    @inlinable public var remaining: Int { bytes.count - offset }
    @inlinable public var isAtEnd: Bool { offset == bytes.count }

    @inlinable public mutating func readByte() throws(DecodingError) -> UInt8 {
        guard offset < bytes.count else { throw .truncated(offset: offset) }
        defer { position += 1 }
        return bytes[bytes.startIndex + offset]
    }

    @inlinable public mutating func read<T: FixedWidthInteger>(_ type: T.Type) throws(DecodingError) -> T {
        let width = MemoryLayout<T>.size
        let slice = try readBytes(width)
        // SAFETY: the slice has exactly the number of bytes of a `T`.
        return slice.withUnsafeBytes { T(littleEndian: $0.loadUnaligned(as: T.self)) }
    }

    /// Reads a varint. Throws for more than 10 bytes, for bits beyond the 64th, and for a superfluous last byte of zero. So each value has
    /// only one valid encoding.
    @inlinable public mutating func readVarint() throws(DecodingError) -> UInt64 {
        // Most numbers take one byte.
        if position < bytes.count {
            let byte = bytes[bytes.startIndex &+ position]
            if byte < 0x80 {
                position &+= 1
                return UInt64(byte)
            }
        }
        return try readLongVarint()
    }

    @usableFromInline mutating func readLongVarint() throws(DecodingError) -> UInt64 {
        enum Outcome {
            case value(UInt64, end: Int)
            case truncated, tooLarge, superfluous
        }
        let start = position
        let outcome = bytes.withUnsafeBufferPointer { bytes -> Outcome in
            var (value, shift) = (UInt64(0), UInt64(0))
            for place in start..<bytes.count {
                let byte = bytes[place]
                if shift == 63, byte > 1 { return .tooLarge }
                value |= UInt64(byte & 0x7F) &<< shift
                if byte < 0x80 { return byte == 0 && shift > 0 ? .superfluous : .value(value, end: place + 1) }
                shift += 7
            }
            return .truncated
        }
        switch outcome {
        case .value(let value, let end):
            position = end
            return value
        case .truncated: throw .truncated(offset: bytes.count)
        case .tooLarge: throw .invalid("a number of more than 64 bits", offset: start)
        case .superfluous: throw .invalid("a number with superfluous bytes", offset: start)
        }
    }

    @inlinable public mutating func readZigzag() throws(DecodingError) -> Int64 {
        let value = try readVarint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// Reads a count. Throws if the count exceeds `max`.
    @inlinable public mutating func readCount(max: Int, _ name: @autoclosure () -> String) throws(DecodingError) -> Int {
        let start = offset
        let value = try readVarint()
        guard value <= UInt64(max) else { throw .limitExceeded("\(name()): \(value) of at most \(max)", offset: start) }
        return Int(value)
    }

    @inlinable public mutating func readBytes(_ count: Int) throws(DecodingError) -> ArraySlice<UInt8> {
        guard count <= remaining else { throw .truncated(offset: bytes.count) }
        defer { position += count }
        let start = bytes.startIndex + offset
        return bytes[start..<start + count]
    }

    /// Reads a length and then that many bytes. Throws if the length exceeds `max` or the number of bytes that remain.
    @inlinable public mutating func readBlob(max: Int = .max, _ name: @autoclosure () -> String) throws(DecodingError) -> ArraySlice<UInt8>
    {
        try readBytes(try readCount(max: min(max, remaining), name()))
    }

    @inlinable public func finish() throws(DecodingError) {
        guard isAtEnd else { throw .invalid("\(remaining) superfluous bytes at the end", offset: offset) }
    }
}
