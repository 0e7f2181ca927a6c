import Glibc

extension Draft {
    /// Stores the bytes of a value, or null if `bytes` is `nil`.
    mutating func setBytes(_ table: Int, _ row: UInt32, _ slot: Int, _ bytes: UnsafeRawBufferPointer?) {
        let group = ownedGroup(table, row)
        let leaf = ownedLeaf(group, slot, .stringLeaf)
        releaseCell(StringLeaf(leaf), row)
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
    private mutating func releaseCell(_ leaf: StringLeaf, _ row: UInt32) {
        let cell = leaf.cell(row)
        guard cell != 0 else { return }
        if StringLeaf.isBlob(cell) { discardBlob(leaf.blob(cell).page) }
        leaf.clear(row)
    }

    /// Clears a cell whose value has moved to another leaf. If the value has its own pages, the new cell refers to them, so they are not
    /// released.
    mutating func clearMovedCell(_ table: Int, _ row: UInt32, _ slot: Int) {
        StringLeaf(ownedLeaf(ownedGroup(table, row), slot, .stringLeaf)).clear(row)
    }

    mutating func putCell(
        _ group: GroupPage, _ slot: Int, _ row: UInt32, tag: UInt32, _ bytes: UnsafeRawBufferPointer
    ) {
        ownedLeaf(group.reference(slot), withSpaceFor: bytes.count).put(row, tag: tag, bytes)
    }

    /// Returns a leaf with space for this many more bytes. Moves the contents of the leaf to a new page if it has no such space.
    mutating func ownedLeaf(_ reference: UnsafeMutablePointer<PageRef>, withSpaceFor byteCount: Int) -> StringLeaf {
        let leaf = StringLeaf(chunks[reference.pointee])
        return leaf.hasSpace(for: byteCount) ? leaf : repack(reference, adding: byteCount)
    }

    /// Moves the contents of a leaf, without its garbage, to a new page. The new page usually has free space for half as many bytes as the
    /// contents. So if a leaf is filled value by value, each byte is copied only a few times.
    private mutating func repack(_ reference: UnsafeMutablePointer<PageRef>, adding byteCount: Int) -> StringLeaf {
        let old = StringLeaf(chunks[reference.pointee])
        let live = old.heapUsed - old.garbage
        let wanted = StringLeaf.byteCount(heap: live + byteCount)
        let grown = StringLeaf.roundedByteCount(min(wanted + live / 2, PageLayout.chunkByteCount))
        let page = allocate(max(grown, StringLeaf.roundedByteCount(wanted)), .stringLeaf)
        let new = StringLeaf(chunks[page])
        new.fill(from: old)
        discard(reference.pointee)
        reference.pointee = page
        return new
    }
}
