import Glibc

/// The parts that leaves and inner nodes of an ordered index have in common. Docs/Formats/PAGES.md 8 describes the layouts.
///
/// An entry is a key of at most `keyByteCountMax` bytes, followed by the virtual page and the row, each in four bytes, in big-endian order.
/// Entries are compared as bytes. So entries with equal keys are in the order of their serials, even if packing has moved rows.
package enum OrderedNode {
    // Builds of script/check can choose small nodes, so that a few objects fill many nodes.
    #if CAMBIUM_CHECKS
        static var byteCount: Int { PageLayout.hasSmallPages ? 512 : 2048 }
        static var keyByteCountMax: Int { PageLayout.hasSmallPages ? 64 : 256 }
    #else
        static let byteCount = 2048
        /// The length to which a longer key is cut. The index sorts objects with equal cut keys by their serials, so readers must compare
        /// the whole values of these objects.
        static let keyByteCountMax = 256
    #endif
    private static let rowByteCount = 4
    /// The number of bytes after the key: the virtual page and the row.
    static let tailByteCount = 8
    package static var entryByteCountMax: Int { keyByteCountMax + tailByteCount }
    /// The number of bytes that must be readable beyond an entry, because a search reads whole words.
    static let slackByteCount = 8
    /// The maximum number of levels. Even 2^32 rows need fewer.
    static let heightMax = 32

    static let countOffset = 16
    static let prefixOffset = 18

    /// Returns parts of a list whose last two parts have about the same size, if both halves fit into a node.
    static func balanced(_ parts: [Range<Int>], _ fits: (Range<Int>) -> Bool) -> [Range<Int>] {
        guard parts.count > 1, let end = parts.last?.upperBound else { return parts }
        let start = parts[parts.count - 2].lowerBound
        let middle = (start + end) / 2
        return fits(start..<middle) && fits(middle..<end) ? parts.dropLast(2) + [start..<middle, middle..<end] : parts
    }

    /// Returns the first eight bytes as a number in big-endian order. Missing bytes count as zeros.
    ///
    /// SAFETY: eight bytes can be read from `bytes`, even if `byteCount` is less.
    @inline(__always) static func head(_ bytes: UnsafeRawPointer, _ byteCount: Int) -> UInt64 {
        let word = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        if byteCount >= 8 { return word }
        return byteCount <= 0 ? 0 : word & ~(UInt64.max &>> UInt64(8 &* byteCount))
    }

    /// Compares byte strings. The result is negative if the left one comes first, and 0 if they are equal.
    @inline(__always)
    static func order(_ left: UnsafeRawPointer, _ leftCount: Int, _ right: UnsafeRawPointer, _ rightCount: Int) -> Int {
        let order = memcmp(left, right, min(leftCount, rightCount))
        return order != 0 ? Int(order) : leftCount &- rightCount
    }

    /// Returns the number of bytes that two byte strings have in common at their beginnings.
    ///
    /// SAFETY: eight bytes beyond `max` can be read.
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
