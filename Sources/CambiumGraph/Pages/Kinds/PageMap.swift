/// The positions at which the pages of a chunk begin. A chunk is 64 KiB of pages without gaps, so the positions are computed from the
/// headers of the pages.
enum PageMap {
    static let wordCount = PageLayout.chunkGranules / 64

    /// Sets a bit for each granule (16 bytes) of a chunk at which a page begins.
    ///
    /// - Parameters:
    ///   - base: The address of the chunk's bytes.
    ///   - epoch: The latest permitted birth of a page.
    ///   - words: `wordCount` words, all zero.
    /// - Returns: The flaw in the headers, or `nil` if the headers are valid. Complexity: O(pages of the chunk).
    static func read(
        _ chunk: Int, at base: UnsafeMutableRawPointer, epoch: UInt64, to words: UnsafeMutableBufferPointer<UInt64>
    ) -> String? {
        // The first granule of chunk 0 has no page, because reference 0 means no page.
        var granule = chunk == 0 ? 1 : 0
        // A single granule (16 bytes) at the end is too small for a page, and has no header.
        while granule < PageLayout.chunkGranules - 1 {
            let header = PageHeader(base + granule * PageLayout.granule)
            let count = header.granules
            guard count >= granuleCountMin, granule + count <= PageLayout.chunkGranules else {
                return "the page at granule \(granule) has an impossible size of \(count) granules"
            }
            guard let kind = header.kind else {
                return "the page at granule \(granule) has no valid kind"
            }
            if kind != .free {
                guard header.birth <= epoch else { return "the page at granule \(granule) is younger than the graph" }
                guard count >= kind.granuleCountMin else { return "the page at granule \(granule) is too small for its kind" }
            }
            words[granule >> 6] |= 1 << UInt64(granule & 63)
            granule += count
        }
        return nil
    }

    private static let granuleCountMin = 2
}

extension PageKind {
    /// The number of granules (16 bytes each) in the smallest page of this kind.
    var granuleCountMin: Int {
        switch self {
        case .free, .blobExtent: 2
        case .directory: PageLayout.granules(DirectoryPage.byteCount(referenceCount: 0))
        case .table: PageLayout.granules(TablePage.byteCount(indexCount: 0, entityCount: 0))
        case .vectorNode: PageLayout.granules(VectorNode.byteCount)
        case .rowGroup: PageLayout.granules(GroupPage.byteCount(columnCount: 0))
        case .fixedLeaf: PageLayout.granules(FixedLeaf.byteCount(width: 1))
        case .linkLeaf: PageLayout.granules(LinkLeaf.byteCount)
        case .wideLeaf: PageLayout.granules(WideLeaf.byteCount)
        case .stringLeaf: PageLayout.granules(StringLeaf.heapOffset)
        case .blobHead: PageLayout.granules(BlobHead.pageByteCount(extentCount: 0))
        case .bucket: PageLayout.granules(Bucket.byteCount)
        case .indexDirectory: PageLayout.granules(IndexDirectory.byteCount(0))
        case .indexInner, .indexLeaf: PageLayout.granules(OrderedNode.byteCount)
        }
    }
}
