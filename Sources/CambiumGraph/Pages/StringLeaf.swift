internal import CMachine
import Glibc

/// A leaf of texts or bytes: 128 cells of 4 bytes, then a heap with the values. The heap is a part of the page.
///
/// A cell is 0 for null. Otherwise, its low 16 bits are the offset of the value in the page. The next 8 bits are the length of the value,
/// and the last 8 bits are a tag. With tag 1, the value is in the heap. Tag 2 means a value of more than 255 bytes. Instead of this value,
/// the heap contains its length and a reference to its blob.
@usableFromInline enum StringLeaf {
    static let inlineMax = 255
    static let blobEntryByteCount = 12

    @inlinable @inline(__always) static func cell(_ leaf: UnsafeMutableRawPointer, _ row: UInt32) -> UInt32 {
        leaf.load(fromByteOffset: PageLayout.cellsOffset &+ 4 &* Int(row & PageLayout.rowMask), as: UInt32.self)
    }

    @inline(__always) static func cells(_ leaf: UnsafeMutableRawPointer) -> UnsafeMutablePointer<UInt32> {
        (leaf + PageLayout.cellsOffset).assumingMemoryBound(to: UInt32.self)
    }

    /// Returns the upper half of a cell whose value is in the heap of the leaf.
    static func inlineMark(byteCount: Int) -> UInt32 { 1 << 8 | UInt32(byteCount) }

    @inlinable @inline(__always) static func isBlob(_ cell: UInt32) -> Bool { cell >> 24 == 2 }

    @inlinable @inline(__always)
    static func inlineBytes(_ leaf: UnsafeMutableRawPointer, _ cell: UInt32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: leaf + Int(cell & 0xFFFF), count: Int(cell >> 16 & 0xFF))
    }

    /// Prefetches the bytes of a row's value while the processor still loads the cell that states their position. The method guesses the
    /// position. The guess is right if all values of the leaf have the same length and were written in the order of the rows. The
    /// identities of imported objects are often stored like this. A wrong guess costs only the time of the prefetch.
    @inline(__always) static func prefetchLikelyBytes(_ leaf: UnsafeMutableRawPointer, _ row: UInt32, byteCount: Int) {
        guard byteCount > 0, byteCount <= inlineMax else { return }
        let start = leaf + (PageLayout.heapOffset &+ byteCount &* Int(row & PageLayout.rowMask))
        cmachine_prefetch(start)
        cmachine_prefetch(start + (byteCount &- 1))
    }

    /// Returns whether a row's value is not null, has at most 255 bytes, and equals these bytes.
    @inline(__always) static func hasInlineBytes(_ leaf: UnsafeMutableRawPointer, _ row: UInt32, _ wanted: UnsafeRawBufferPointer) -> Bool {
        let cell = cell(leaf, row)
        if cell == 0 || isBlob(cell) { return false }
        let bytes = inlineBytes(leaf, cell)
        guard bytes.count == wanted.count else { return false }
        guard let left = bytes.baseAddress, let right = wanted.baseAddress else { return true }
        // SAFETY: both buffers have exactly as many bytes as are compared.
        return memcmp(left, right, bytes.count) == 0
    }

    static func blob(_ leaf: UnsafeMutableRawPointer, _ cell: UInt32) -> (page: PageRef, byteCount: Int) {
        let entry = leaf + Int(cell & 0xFFFF)
        let page = entry.loadUnaligned(as: PageRef.self)
        return (page, Int(truncatingIfNeeded: entry.loadUnaligned(fromByteOffset: 4, as: UInt64.self)))
    }

    static func heapUsed(_ leaf: UnsafeMutableRawPointer) -> Int {
        Int(leaf.load(fromByteOffset: PageLayout.heapUsedOffset, as: UInt32.self))
    }

    static func garbage(_ leaf: UnsafeMutableRawPointer) -> Int {
        Int(leaf.load(fromByteOffset: PageLayout.heapGarbageOffset, as: UInt32.self))
    }

    /// Whether all cells refer to bytes within the heap, and the live part of the heap is large enough for all values together.
    static func isConsistent(_ leaf: UnsafeMutableRawPointer) -> Bool {
        let byteCount = Int(leaf.load(fromByteOffset: PageLayout.granulesOffset, as: UInt16.self)) * PageLayout.granule
        let (used, garbage) = (heapUsed(leaf), garbage(leaf))
        // An empty value is added at the end of the heap, even if the page is full. So the offset of the heap's end must fit into the 16
        // bits of a cell.
        guard PageLayout.heapOffset + used <= min(byteCount, Int(UInt16.max)), garbage <= used else { return false }
        var sum = 0
        for place in 0..<PageLayout.fanOut {
            let cell = cell(leaf, UInt32(place))
            if cell == 0 { continue }
            let (offset, count, tag) = (Int(cell & 0xFFFF), Int(cell >> 16 & 0xFF), cell >> 24)
            guard offset >= PageLayout.heapOffset, offset + count <= PageLayout.heapOffset + used, tag == 1 || tag == 2,
                tag == 1 || count == blobEntryByteCount
            else { return false }
            sum += count
        }
        return sum <= used - garbage
    }

    /// Rounds the size of a page up. There are four sizes for each power of two, so that free pages often fit and little space is wasted.
    static func roundedByteCount(_ byteCount: Int) -> Int {
        let step = max(64, 1 << (Int.bitWidth - (byteCount - 1).leadingZeroBitCount - 3))
        return (byteCount + step - 1) / step * step
    }
}
