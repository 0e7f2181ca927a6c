import Glibc

/// Values of any length.
extension TableWriter {
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
        let page = pageWriter.allocate(max(grown, StringLeaf.roundedByteCount(wanted)), .stringLeaf)
        let new = StringLeaf(chunks[page])
        new.fill(from: old)
        pageWriter.discard(reference.pointee)
        reference.pointee = page
        return new
    }

    // MARK: Blobs

    private var sharedBlobs: RadixVector { reader.sharedBlobs }

    private mutating func sharerCount(of page: PageRef) -> UnsafeMutablePointer<UInt32> {
        pageWriter.slot(&ownedDirectory().sharedBlobs, Blob.place(page))
    }

    mutating func newBlob(_ bytes: UnsafeRawBufferPointer) -> PageRef {
        let extentCount = (bytes.count + Blob.extentByteCountMax - 1) / Blob.extentByteCountMax
        let page = pageWriter.allocate(BlobHead.pageByteCount(extentCount: extentCount), .blobHead)
        let head = BlobHead(chunks[page])
        guard let source = bytes.baseAddress else { preconditionFailure("A blob must have more than 255 bytes.") }
        (head.byteCount, head.extentCount) = (UInt64(bytes.count), extentCount)
        for index in 0..<extentCount {
            let start = index * Blob.extentByteCountMax
            let count = min(Blob.extentByteCountMax, bytes.count - start)
            let extent = pageWriter.allocate(PageLayout.header + count, .blobExtent)
            (chunks[extent] + PageLayout.header).copyMemory(from: source + start, byteCount: count)
            head[index] = extent
        }
        return page
    }

    /// Copies the first page of a blob (a value of more than 255 bytes) and some of its extents, and discards the old pages. Keeps the
    /// count of the cells that refer to the blob. The caller must change the reference in each of these cells.
    ///
    /// - Parameter isMoved: Returns whether an extent is copied. All other extents stay in place.
    mutating func moveBlob(_ page: PageRef, _ isMoved: (PageRef) -> Bool) -> PageRef {
        let count = sharedBlobs.get(Blob.place(page), chunks)
        let (head, byteCount) = Blob.head(page, chunks)
        let extentCount = head.extentCount
        let copy = pageWriter.allocate(BlobHead.pageByteCount(extentCount: extentCount), .blobHead)
        let new = BlobHead(chunks[copy])
        (new.byteCount, new.extentCount) = (UInt64(byteCount), extentCount)
        for index in 0..<extentCount {
            let extent = head[index]
            new[index] = extent
            guard isMoved(extent) else { continue }
            let count = min(Blob.extentByteCountMax, byteCount - index * Blob.extentByteCountMax)
            let moved = pageWriter.allocate(PageLayout.header + count, .blobExtent)
            memcpy(chunks[moved] + PageLayout.header, chunks[extent] + PageLayout.header, count)
            new[index] = moved
            pageWriter.discard(extent)
        }
        if count > 0 {
            sharerCount(of: copy).pointee = count
            sharerCount(of: page).pointee = 0
            pageWriter.prune(&ownedDirectory().sharedBlobs, Blob.place(page))
        }
        pageWriter.discard(page)
        return copy
    }

    /// Records that one more cell refers to a blob (a value of more than 255 bytes).
    mutating func shareBlob(_ page: PageRef) { sharerCount(of: page).pointee += 1 }

    /// Records that one cell fewer refers to a blob, a value of more than 255 bytes. Discards the blob if no other cell refers to it.
    mutating func discardBlob(_ page: PageRef) {
        if sharedBlobs.get(Blob.place(page), chunks) > 0 {
            let count = sharerCount(of: page)
            count.pointee -= 1
            if count.pointee == 0 { pageWriter.prune(&ownedDirectory().sharedBlobs, Blob.place(page)) }
            return
        }
        let head = Blob.head(page, chunks).head
        for index in 0..<head.extentCount { pageWriter.discard(head[index]) }
        pageWriter.discard(page)
    }
}
