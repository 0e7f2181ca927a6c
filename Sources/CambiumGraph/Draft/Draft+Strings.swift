import Glibc

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

    /// Clears a cell. The bytes of its value stay in the page as garbage. If the value has its own pages, because it has more than 255
    /// bytes, these pages lose one reference.
    private mutating func releaseCell(_ leaf: UnsafeMutableRawPointer, _ row: UInt32) {
        let cell = StringLeaf.cell(leaf, row)
        guard cell != 0 else { return }
        if StringLeaf.isBlob(cell) { discardBlob(StringLeaf.blob(leaf, cell).page) }
        forgetCell(leaf, row, cell)
    }

    /// Clears a cell whose value has moved to another leaf. If the value has its own pages, the new cell refers to them, so they are not
    /// released.
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

    /// Moves the contents of a leaf, without its garbage, to a new page. The new page usually has free space for half as many bytes as the
    /// contents. So if a leaf is filled value by value, each byte is copied only a few times.
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
