import CambiumModel
import Glibc

/// A value of more than 255 bytes. The head page contains the length of the value, and references to its extents. The extents are pages of
/// up to 64 KiB that contain the bytes of the value.
enum Blob {
    static let extentByteCountMax = PageLayout.chunkByteCount - PageLayout.header
    /// The maximum length of a value, in bytes. One head page has space for references to all extents of such a value.
    static let byteCountMax = StoredValueCheck.byteCountMax

    /// Returns the index of a blob in the vector of shared blobs (`DirectoryPage.sharedBlobs`). `page` is the head page of the blob.
    /// A head page has at least three granules, so no two head pages have the same index.
    static func place(_ page: PageRef) -> Int { Int(page >> 1) }

    /// Returns a head page and the length of the value. Ends the process if the number of extents does not match the length.
    static func head(_ page: PageRef, _ chunks: Chunks) -> (head: BlobHead, byteCount: Int) {
        let head = BlobHead(chunks[page])
        let byteCount = head.byteCount
        guard byteCount <= UInt64(byteCountMax), head.extentCount == (Int(byteCount) + extentByteCountMax - 1) / extentByteCountMax else {
            chunks.refuse("a long value does not have the extents that its length requires")
        }
        return (head, Int(byteCount))
    }

    /// Returns all bytes of a value in one array.
    static func bytes(_ page: PageRef, _ chunks: Chunks) -> [UInt8] {
        let (head, byteCount) = head(page, chunks)
        return [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, initialized in
            var done = 0
            for index in 0..<head.extentCount {
                let count = min(extentByteCountMax, byteCount - done)
                guard let target = buffer.baseAddress else { break }
                memcpy(target + done, chunks[head[index]] + PageLayout.header, count)
                done += count
            }
            initialized = byteCount
        }
    }

    /// Calls `body` with the first bytes of a value, at most `byteCountMax`.
    ///
    /// - Parameter byteCountMax: Must be less than the capacity of an extent, because only the first extent is read.
    static func withBeginning<Result>(
        _ page: PageRef, byteCountMax: Int, _ chunks: Chunks, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let (head, byteCount) = head(page, chunks)
        if byteCount == 0 { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return body(UnsafeRawBufferPointer(start: chunks[head[0]] + PageLayout.header, count: min(byteCount, byteCountMax)))
    }

    /// Returns references to all pages of a value: to its head page, and then to its extents, which contain its bytes.
    static func pages(_ page: PageRef, _ chunks: Chunks) -> [PageRef] {
        let head = head(page, chunks).head
        return [page] + (0..<head.extentCount).map { head[$0] }
    }

    static func equals(_ page: PageRef, _ bytes: UnsafeRawBufferPointer, _ chunks: Chunks) -> Bool {
        let (head, byteCount) = head(page, chunks)
        guard let start = bytes.baseAddress, byteCount == bytes.count else { return false }
        var done = 0
        for index in 0..<head.extentCount {
            let count = min(extentByteCountMax, bytes.count - done)
            if memcmp(start + done, chunks[head[index]] + PageLayout.header, count) != 0 { return false }
            done += count
        }
        return true
    }
}

/// The head page of a blob.
struct BlobHead {
    private static let byteCountOffset = 16
    private static let extentCountOffset = 24
    private static let extentsOffset = 32

    let page: UnsafeMutableRawPointer

    @inline(__always) init(_ page: UnsafeMutableRawPointer) { self.page = page }

    /// Returns the size of a head page.
    static func pageByteCount(extentCount: Int) -> Int { extentsOffset + 4 * extentCount }

    /// The length of the value.
    var byteCount: UInt64 {
        get { page.load(fromByteOffset: Self.byteCountOffset, as: UInt64.self) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.byteCountOffset, as: UInt64.self) }
    }

    var extentCount: Int {
        get { Int(page.load(fromByteOffset: Self.extentCountOffset, as: UInt32.self)) }
        nonmutating set { page.storeBytes(of: UInt32(newValue), toByteOffset: Self.extentCountOffset, as: UInt32.self) }
    }

    /// The reference to an extent.
    subscript(index: Int) -> PageRef {
        get { page.load(fromByteOffset: Self.extentsOffset + 4 * index, as: PageRef.self) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.extentsOffset + 4 * index, as: PageRef.self) }
    }
}
