internal import CMachine
import Glibc

/// A leaf of texts or bytes: 128 cells of 4 bytes, then a heap with the values. The heap is a part of the page.
///
/// A cell is 0 for null. Otherwise, its low 16 bits are the offset of the value in the page. The next 8 bits are the length of the value,
/// and the last 8 bits are a tag. With tag 1, the value is in the heap. Tag 2 means a value of more than 255 bytes. Instead of this value,
/// the heap contains its length and a reference to its blob.
@usableFromInline struct StringLeaf {
    @usableFromInline static let cellsOffset = 32
    static let heapUsedOffset = 16
    static let heapGarbageOffset = 20
    static var heapOffset: Int { cellsOffset + 4 * PageLayout.fanOut }
    static let inlineMax = 255
    static let blobEntryByteCount = 12

    @usableFromInline let page: UnsafeMutableRawPointer

    @inlinable @inline(__always) init(_ page: UnsafeMutableRawPointer) { self.page = page }

    @inlinable @inline(__always) func cell(_ row: UInt32) -> UInt32 {
        page.load(fromByteOffset: Self.cellsOffset &+ 4 &* Int(row & PageLayout.rowMask), as: UInt32.self)
    }

    @inline(__always) var cells: UnsafeMutablePointer<UInt32> {
        (page + Self.cellsOffset).assumingMemoryBound(to: UInt32.self)
    }

    var heap: UnsafeMutableRawPointer { page + Self.heapOffset }

    /// Returns the upper half of a cell whose value is in the heap of the leaf.
    static func inlineMark(byteCount: Int) -> UInt32 { 1 << 8 | UInt32(byteCount) }

    @inlinable @inline(__always) static func isBlob(_ cell: UInt32) -> Bool { cell >> 24 == 2 }

    @inlinable @inline(__always)
    func inlineBytes(_ cell: UInt32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: page + Int(cell & 0xFFFF), count: Int(cell >> 16 & 0xFF))
    }

    /// Prefetches the bytes of a row's value while the processor still loads the cell that states their position. The method guesses the
    /// position. The guess is right if all values of the leaf have the same length and were written in the order of the rows. The
    /// identities of imported objects are often stored like this. A wrong guess costs only the time of the prefetch.
    @inline(__always) func prefetchLikelyBytes(_ row: UInt32, byteCount: Int) {
        guard byteCount > 0, byteCount <= Self.inlineMax else { return }
        let start = page + (Self.heapOffset &+ byteCount &* Int(row & PageLayout.rowMask))
        cmachine_prefetch(start)
        cmachine_prefetch(start + (byteCount &- 1))
    }

    /// Returns whether a row's value is not null, has at most 255 bytes, and equals these bytes.
    @inline(__always) func hasInlineBytes(_ row: UInt32, _ wanted: UnsafeRawBufferPointer) -> Bool {
        let cell = self.cell(row)
        if cell == 0 || Self.isBlob(cell) { return false }
        let bytes = inlineBytes(cell)
        guard bytes.count == wanted.count else { return false }
        guard let left = bytes.baseAddress, let right = wanted.baseAddress else { return true }
        // SAFETY: both buffers have exactly as many bytes as are compared.
        return memcmp(left, right, bytes.count) == 0
    }

    func blob(_ cell: UInt32) -> (page: PageRef, byteCount: Int) {
        let entry = page + Int(cell & 0xFFFF)
        let page = entry.loadUnaligned(as: PageRef.self)
        return (page, Int(truncatingIfNeeded: entry.loadUnaligned(fromByteOffset: 4, as: UInt64.self)))
    }

    /// Changes the reference to the blob of a row.
    func setBlob(_ row: UInt32, _ blob: PageRef) { (page + Int(cell(row) & 0xFFFF)).storeBytes(of: blob, as: PageRef.self) }

    /// The number of bytes of the heap that contain values or garbage.
    var heapUsed: Int {
        get { Int(page.load(fromByteOffset: Self.heapUsedOffset, as: UInt32.self)) }
        nonmutating set { page.storeBytes(of: UInt32(newValue), toByteOffset: Self.heapUsedOffset, as: UInt32.self) }
    }

    /// The number of used bytes of the heap to which no cell refers any longer.
    var garbage: Int {
        get { Int(page.load(fromByteOffset: Self.heapGarbageOffset, as: UInt32.self)) }
        nonmutating set { page.storeBytes(of: UInt32(newValue), toByteOffset: Self.heapGarbageOffset, as: UInt32.self) }
    }

    /// Returns whether the page has space for this many more bytes in its heap.
    func hasSpace(for byteCount: Int) -> Bool { Self.heapOffset + heapUsed + byteCount <= PageHeader(page).byteCount }

    /// Returns the size of a leaf with a heap of this size.
    static func byteCount(heap: Int) -> Int { heapOffset + heap }

    /// Stores the bytes of a value, or of a reference to a blob, at the end of the heap. The page must have space for them.
    func put(_ row: UInt32, tag: UInt32, _ bytes: UnsafeRawBufferPointer) {
        let offset = Self.heapOffset + heapUsed
        if let start = bytes.baseAddress { memcpy(page + offset, start, bytes.count) }
        cells[Int(row & PageLayout.rowMask)] = UInt32(offset) | UInt32(bytes.count) << 16 | tag << 24
        heapUsed += bytes.count
    }

    /// Sets the value of a row to null. The bytes of the old value stay in the heap as garbage.
    func clear(_ row: UInt32) {
        garbage += Int(cell(row) >> 16 & 0xFF)
        cells[Int(row & PageLayout.rowMask)] = 0
    }

    /// Copies the bytes of a cell of another leaf to a position in the heap. Returns the cell that refers to the copy.
    @inline(__always) func copy(_ cell: UInt32, of other: StringLeaf, to position: Int) -> UInt32 {
        let offset = Self.heapOffset &+ position
        memcpy(page + offset, other.page + Int(cell & 0xFFFF), Int(cell &>> 16 & 0xFF))
        return cell & 0xFFFF_0000 | UInt32(truncatingIfNeeded: offset)
    }

    /// Fills a new leaf with the values of another leaf, without its garbage.
    func fill(from old: StringLeaf) {
        var used = 0
        for row in 0..<PageLayout.fanOut {
            let cell = old.cells[row]
            var moved: UInt32 = 0
            if cell != 0 {
                moved = copy(cell, of: old, to: used)
                used += Int(cell >> 16 & 0xFF)
            }
            cells[row] = moved
        }
        (heapUsed, garbage) = (used, 0)
    }

    /// Whether all cells refer to bytes within the heap, and the live part of the heap is large enough for all values together.
    var isConsistent: Bool {
        let (used, garbage) = (heapUsed, garbage)
        // An empty value is added at the end of the heap, even if the page is full. So the offset of the heap's end must fit into the 16
        // bits of a cell.
        guard Self.heapOffset + used <= min(PageHeader(page).byteCount, Int(UInt16.max)), garbage <= used else { return false }
        var sum = 0
        for place in 0..<PageLayout.fanOut {
            let cell = self.cell(UInt32(place))
            if cell == 0 { continue }
            let (offset, count, tag) = (Int(cell & 0xFFFF), Int(cell >> 16 & 0xFF), cell >> 24)
            guard offset >= Self.heapOffset, offset + count <= Self.heapOffset + used, tag == 1 || tag == 2,
                tag == 1 || count == Self.blobEntryByteCount
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
