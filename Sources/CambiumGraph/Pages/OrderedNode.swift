#if canImport(Glibc)
    import Glibc
#endif

/// The common parts of the two kinds of nodes of an ordered index. Docs/FORMAT.md, "Ordered indexes", has the layouts.
///
/// An entry is a key of at most `keyByteCountMax` bytes, followed by the row in four bytes, the highest first. Entries are compared as
/// bytes.
package enum OrderedNode {
    // Tests run with small nodes, too, because they fill many of them.
    #if CAMBIUM_SMALL_PAGES
        static let byteCount = 512
        static let keyByteCountMax = 64
    #else
        static let byteCount = 2048
        /// The length to which a longer key is cut. Objects whose cut keys are equal are sorted by their rows, and readers compare their
        /// values.
        static let keyByteCountMax = 256
    #endif
    static let rowByteCount = 4
    package static let entryByteCountMax = keyByteCountMax + rowByteCount
    /// The number of bytes that can be read beyond an entry that a search looks for.
    static let slackByteCount = 8
    /// A number of levels that 2^32 rows cannot fill.
    static let heightMax = 32

    static let countOffset = 16
    static let prefixOffset = 18

    /// Returns the first eight bytes as a number, the first byte highest. Missing bytes count as zeros.
    ///
    /// SAFETY: eight bytes can be read, whatever the count.
    @inline(__always) static func head(_ bytes: UnsafeRawPointer, _ byteCount: Int) -> UInt64 {
        let word = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        if byteCount >= 8 { return word }
        return byteCount <= 0 ? 0 : word & ~(UInt64.max &>> UInt64(8 &* byteCount))
    }

    /// Compares bytes. The result is negative if the left bytes come first, and 0 if both are the same.
    @inline(__always)
    static func order(_ left: UnsafeRawPointer, _ leftCount: Int, _ right: UnsafeRawPointer, _ rightCount: Int) -> Int {
        let order = memcmp(left, right, min(leftCount, rightCount))
        return order != 0 ? Int(order) : leftCount &- rightCount
    }

    /// Returns the number of bytes that two byte strings have in common at their beginnings.
    ///
    /// SAFETY: eight bytes can be read beyond the count.
    @inline(__always) static func commonByteCount(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, max: Int) -> Int {
        var count = 0
        while count < max {
            let difference =
                left.loadUnaligned(fromByteOffset: count, as: UInt64.self)
                ^ right.loadUnaligned(fromByteOffset: count, as: UInt64.self)
            if difference != 0 { return min(max, count &+ difference.littleEndian.trailingZeroBitCount / 8) }
            count &+= 8
        }
        return max
    }

    @inline(__always) static func row(_ end: UnsafeRawPointer) -> UInt32 {
        UInt32(bigEndian: end.loadUnaligned(fromByteOffset: -rowByteCount, as: UInt32.self))
    }
}

/// The bytes of an entry, or of the lower bound of a node.
struct OrderedBytes {
    let start: UnsafeRawPointer
    let count: Int

    @inline(__always) init(_ start: UnsafeRawPointer, _ count: Int) {
        self.start = start
        self.count = count
    }
}
