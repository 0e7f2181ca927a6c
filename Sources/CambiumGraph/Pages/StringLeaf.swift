#if canImport(Glibc)
    import Glibc
#endif

/// A leaf of values of different lengths: 128 cells of 4 bytes, then a heap that belongs to the page.
///
/// A cell is 0 for null. Otherwise it has the offset of the value in the page (low 16 bits), its length (8 bits), and a tag. Tag 1 means
/// that the heap holds the value. Tag 2 means that the value is longer than 255 bytes, and the heap holds a reference to a blob and the
/// length of the value instead.
enum StringLeaf {
    static let inlineMax = 255
    static let blobEntryByteCount = 12

    @inline(__always) static func cell(_ leaf: UnsafeMutableRawPointer, _ row: UInt32) -> UInt32 {
        leaf.load(fromByteOffset: PageLayout.cellsOffset &+ 4 &* Int(row & PageLayout.rowMask), as: UInt32.self)
    }

    @inline(__always) static func cells(_ leaf: UnsafeMutableRawPointer) -> UnsafeMutablePointer<UInt32> {
        (leaf + PageLayout.cellsOffset).assumingMemoryBound(to: UInt32.self)
    }

    @inline(__always) static func isBlob(_ cell: UInt32) -> Bool { cell >> 24 == 2 }

    @inline(__always)
    static func inlineBytes(_ leaf: UnsafeMutableRawPointer, _ cell: UInt32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: leaf + Int(cell & 0xFFFF), count: Int(cell >> 16 & 0xFF))
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

    /// Whether all cells lie in the heap, and their values together fit into its live part.
    static func isConsistent(_ leaf: UnsafeMutableRawPointer) -> Bool {
        let byteCount = Int(leaf.load(fromByteOffset: PageLayout.granulesOffset, as: UInt16.self)) * PageLayout.granule
        let (used, garbage) = (heapUsed(leaf), garbage(leaf))
        guard PageLayout.heapOffset + used <= byteCount, garbage <= used else { return false }
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

    /// Rounds the size of a page up. There are four sizes for each doubling, so that few sizes are in use and little space is wasted.
    static func roundedByteCount(_ byteCount: Int) -> Int {
        let step = max(64, 1 << (Int.bitWidth - (byteCount - 1).leadingZeroBitCount - 3))
        return (byteCount + step - 1) / step * step
    }
}

extension Draft {
    /// Stores the bytes of a value, or null if `bytes` is `nil`.
    mutating func setBytes(_ table: Int, _ row: UInt32, _ slot: Int, _ bytes: UnsafeRawBufferPointer?) {
        let group = ownedGroup(table, row)
        let leaf = ownedLeaf(group, slot, .stringLeaf)
        releaseCell(leaf, row)
        guard let bytes else { return }
        if bytes.count <= StringLeaf.inlineMax {
            putCell(group, slot, row, tag: 1, bytes)
        } else {
            let page = newBlob(bytes)
            let byteCount = UInt64(bytes.count)
            let entry = (page, UInt32(truncatingIfNeeded: byteCount), UInt32(truncatingIfNeeded: byteCount >> 32))
            withUnsafeBytes(of: entry) { putCell(group, slot, row, tag: 2, $0) }
        }
    }

    /// Clears a cell. Its value becomes garbage of the page, or a superseded blob.
    private mutating func releaseCell(_ leaf: UnsafeMutableRawPointer, _ row: UInt32) {
        let cell = StringLeaf.cell(leaf, row)
        guard cell != 0 else { return }
        if StringLeaf.isBlob(cell) { discardBlob(StringLeaf.blob(leaf, cell).page) }
        forgetCell(leaf, row, cell)
    }

    /// Clears a cell whose value, with its blob if it has one, is now in another leaf.
    mutating func clearMovedCell(_ table: Int, _ row: UInt32, _ slot: Int) {
        let leaf = ownedLeaf(ownedGroup(table, row), slot, .stringLeaf)
        let cell = StringLeaf.cell(leaf, row)
        guard cell != 0 else { return }
        forgetCell(leaf, row, cell)
    }

    private func forgetCell(_ leaf: UnsafeMutableRawPointer, _ row: UInt32, _ cell: UInt32) {
        let garbage = StringLeaf.garbage(leaf) + Int(cell >> 16 & 0xFF)
        leaf.storeBytes(of: UInt32(garbage), toByteOffset: PageLayout.heapGarbageOffset, as: UInt32.self)
        leaf.storeBytes(of: 0, toByteOffset: PageLayout.cellsOffset + 4 * Int(row & PageLayout.rowMask), as: UInt32.self)
    }

    mutating func putCell(
        _ group: UnsafeMutableRawPointer, _ slot: Int, _ row: UInt32, tag: UInt32, _ bytes: UnsafeRawBufferPointer
    ) {
        let reference = (group + GroupLayout.columnsOffset + 4 * slot).assumingMemoryBound(to: PageRef.self)
        var leaf = chunks[reference.pointee]
        var used = StringLeaf.heapUsed(leaf)
        if PageLayout.heapOffset + used + bytes.count > chunks.granules(reference.pointee) * PageLayout.granule {
            leaf = repack(reference, adding: bytes.count)
            used = StringLeaf.heapUsed(leaf)
        }
        let offset = PageLayout.heapOffset + used
        if let start = bytes.baseAddress { memcpy(leaf + offset, start, bytes.count) }
        let cell = UInt32(offset) | UInt32(bytes.count) << 16 | tag << 24
        leaf.storeBytes(of: cell, toByteOffset: PageLayout.cellsOffset + 4 * Int(row & PageLayout.rowMask), as: UInt32.self)
        leaf.storeBytes(of: UInt32(used + bytes.count), toByteOffset: PageLayout.heapUsedOffset, as: UInt32.self)
    }

    /// Moves a leaf to a page with more space, without its garbage. A leaf grows by half, so that filling it one value at a time copies
    /// each byte a constant number of times.
    mutating func repack(
        _ reference: UnsafeMutablePointer<PageRef>, adding byteCount: Int
    ) -> UnsafeMutableRawPointer {
        let old = chunks[reference.pointee]
        let live = StringLeaf.heapUsed(old) - StringLeaf.garbage(old)
        let wanted = PageLayout.heapOffset + live + byteCount
        let grown = StringLeaf.roundedByteCount(min(wanted + live / 2, PageLayout.chunkByteCount))
        let page = allocate(max(grown, StringLeaf.roundedByteCount(wanted)), .stringLeaf)
        let new = chunks[page]
        var used = 0
        for row in 0..<UInt32(PageLayout.fanOut) {
            let cell = StringLeaf.cell(old, row)
            var moved: UInt32 = 0
            if cell != 0 {
                let count = Int(cell >> 16 & 0xFF)
                memcpy(new + PageLayout.heapOffset + used, old + Int(cell & 0xFFFF), count)
                moved = cell & 0xFFFF_0000 | UInt32(PageLayout.heapOffset + used)
                used += count
            }
            new.storeBytes(of: moved, toByteOffset: PageLayout.cellsOffset + 4 * Int(row), as: UInt32.self)
        }
        new.storeBytes(of: UInt32(used), toByteOffset: PageLayout.heapUsedOffset, as: UInt32.self)
        new.storeBytes(of: 0, toByteOffset: PageLayout.heapGarbageOffset, as: UInt32.self)
        discard(reference.pointee)
        reference.pointee = page
        return new
    }
}
