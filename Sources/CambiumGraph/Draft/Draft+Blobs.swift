import Glibc

extension Draft {
    private var sharedBlobs: RadixVector { reader.sharedBlobs }

    private mutating func sharerCount(of page: PageRef) -> UnsafeMutablePointer<UInt32> {
        slot(&ownedDirectory().sharedBlobs, Blob.place(page))
    }

    mutating func newBlob(_ bytes: UnsafeRawBufferPointer) -> PageRef {
        let extentCount = (bytes.count + Blob.extentByteCountMax - 1) / Blob.extentByteCountMax
        let page = allocate(BlobHead.pageByteCount(extentCount: extentCount), .blobHead)
        let head = BlobHead(chunks[page])
        guard let source = bytes.baseAddress else { preconditionFailure("A blob must have more than 255 bytes.") }
        (head.byteCount, head.extentCount) = (UInt64(bytes.count), extentCount)
        for index in 0..<extentCount {
            let start = index * Blob.extentByteCountMax
            let count = min(Blob.extentByteCountMax, bytes.count - start)
            let extent = allocate(PageLayout.header + count, .blobExtent)
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
        let copy = allocate(BlobHead.pageByteCount(extentCount: extentCount), .blobHead)
        let new = BlobHead(chunks[copy])
        (new.byteCount, new.extentCount) = (UInt64(byteCount), extentCount)
        for index in 0..<extentCount {
            let extent = head[index]
            new[index] = extent
            guard isMoved(extent) else { continue }
            let count = min(Blob.extentByteCountMax, byteCount - index * Blob.extentByteCountMax)
            let moved = allocate(PageLayout.header + count, .blobExtent)
            memcpy(chunks[moved] + PageLayout.header, chunks[extent] + PageLayout.header, count)
            new[index] = moved
            discard(extent)
        }
        if count > 0 {
            sharerCount(of: copy).pointee = count
            sharerCount(of: page).pointee = 0
            prune(&ownedDirectory().sharedBlobs, Blob.place(page))
        }
        discard(page)
        return copy
    }

    /// Records that one more cell refers to a blob (a value of more than 255 bytes).
    mutating func shareBlob(_ page: PageRef) { sharerCount(of: page).pointee += 1 }

    /// Records that one cell fewer refers to a blob, a value of more than 255 bytes. Discards the blob if no other cell refers to it.
    mutating func discardBlob(_ page: PageRef) {
        if sharedBlobs.get(Blob.place(page), chunks) > 0 {
            let count = sharerCount(of: page)
            count.pointee -= 1
            if count.pointee == 0 { prune(&ownedDirectory().sharedBlobs, Blob.place(page)) }
            return
        }
        let head = Blob.head(page, chunks).head
        for index in 0..<head.extentCount { discard(head[index]) }
        discard(page)
    }
}
