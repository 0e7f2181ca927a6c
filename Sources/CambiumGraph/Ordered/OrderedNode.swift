#if canImport(Glibc)
    import Glibc
#endif

/// What the two kinds of nodes of an ordered index have in common. Docs/FORMAT.md, "Ordered indexes", has the layouts.
///
/// An entry is a key, of at most `keyByteCountMax` bytes, and the row, of four bytes, the highest first. Entries are compared as bytes.
package enum OrderedNode {
    // Tests run with small nodes too: they fill many of them.
    #if CAMBIUM_SMALL_PAGES
        static let byteCount = 512
        static let keyByteCountMax = 64
    #else
        static let byteCount = 2048
        /// A longer key is cut: objects that agree so far are in the order of their rows, and readers compare their values.
        static let keyByteCountMax = 256
    #endif
    static let rowByteCount = 4
    package static let entryByteCountMax = keyByteCountMax + rowByteCount
    /// Entries that are looked for lie in memory of which so many bytes more can be read.
    static let slackByteCount = 8
    /// More levels than rows of 32 bits fill.
    static let heightMax = 32

    static let countOffset = 16
    static let prefixOffset = 18

    /// The first eight bytes as a number, the first byte highest; zeros where there are fewer.
    ///
    /// SAFETY: eight bytes can be read, whatever the count.
    @inline(__always) static func head(_ bytes: UnsafeRawPointer, _ byteCount: Int) -> UInt64 {
        let word = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        if byteCount >= 8 { return word }
        return byteCount <= 0 ? 0 : word & ~(UInt64.max &>> UInt64(8 &* byteCount))
    }

    /// Negative if the left bytes come first, 0 if both are the same.
    @inline(__always)
    static func order(_ left: UnsafeRawPointer, _ leftCount: Int, _ right: UnsafeRawPointer, _ rightCount: Int) -> Int {
        let order = memcmp(left, right, min(leftCount, rightCount))
        return order != 0 ? Int(order) : leftCount &- rightCount
    }

    /// How many bytes two texts have in common at their beginnings.
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
