import Glibc

/// Functions that search and compare bytes. They call the functions of the C library, which process many bytes at once.
public enum ByteSearch {
    public static func equals(_ left: [UInt8], _ right: UnsafeRawBufferPointer) -> Bool {
        left.withUnsafeBytes { equals($0, right) }
    }

    public static func equals(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count, let one = left.baseAddress, let other = right.baseAddress else { return left.count == right.count }
        // SAFETY: both buffers have `left.count` bytes.
        return memcmp(one, other, left.count) == 0
    }

    /// Whether every byte of `bytes` is `byte`.
    public static func areAll(_ byte: UInt8, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let first = bytes.first else { return true }
        // If the bytes without the last one equal the bytes without the first one, each byte equals the next one.
        return first == byte
            && equals(UnsafeRawBufferPointer(rebasing: bytes.dropLast()), UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
    }

    /// Returns the index of the first `byte` in `bytes[start..<end]`, or `nil` if the range does not contain `byte`.
    public static func firstIndex(of byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> Int? {
        guard start < end, let base = bytes.baseAddress else { return nil }
        precondition(start >= 0 && end <= bytes.count, "The range to search must lie inside the bytes.")
        // SAFETY: the range was checked against the buffer.
        guard let found = memchr(base + start, Int32(byte), end - start) else { return nil }
        return UnsafeRawPointer(found) - base
    }
}
