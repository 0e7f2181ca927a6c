#if CAMBIUM_CHECKS
    internal import CMachine
#endif

/// A reference to a page: its position in units of 16 bytes, counted through all chunks of 64 KiB. 0 means no page.
typealias PageRef = UInt32

/// The row number that means no row, such as in the link column of an object without a target.
@usableFromInline let noRow: UInt32 = .max

/// The kind of a page's content. The header of a page contains the raw value. Raw values are never reused.
enum PageKind: UInt8 {
    case free = 0
    case directory = 1
    case table = 2
    case vectorNode = 3
    case rowGroup = 4
    case fixedLeaf = 5
    case linkLeaf = 6
    case wideLeaf = 7
    case stringLeaf = 8
    case blobHead = 9
    case blobExtent = 10
    case bucket = 11
    case indexDirectory = 12
    case indexInner = 13
    case indexLeaf = 14
}

/// The offsets and sizes of pages, in bytes. Docs/Formats/PAGES.md describes the layouts in prose.
@usableFromInline enum PageLayout {
    static let granule = 16
    static let chunkByteCount = 65_536
    static let chunkGranules = chunkByteCount / granule
    static let chunkCountMax = 1 << 20
    /// The number of readable bytes after the last chunk of a mapping. The header of a page that has not been proven valid may state a size
    /// that exceeds the chunk.
    static let slackByteCount = 2 * chunkByteCount

    static let header = 16
    static let birthOffset = 0
    static let granulesOffset = 8
    static let kindOffset = 10
    static let nextFreeOffset = 12

    /// The binary logarithm of `fanOut`, the number of rows in a group and of elements in a vector node. Builds of script/check can choose
    /// 64 instead of 128. The choice does not change any digest.
    #if CAMBIUM_CHECKS
        @usableFromInline static var fanOutShift: Int { hasSmallPages ? 6 : 7 }
        static var hasSmallPages: Bool { cmachine_has_small_pages() != 0 }
    #else
        @usableFromInline static let fanOutShift = 7
    #endif
    static var fanOut: Int { 1 << fanOutShift }
    static var fanOutMask: Int { fanOut - 1 }
    @inlinable static var rowShift: UInt32 { UInt32(truncatingIfNeeded: fanOutShift) }
    @inlinable static var rowMask: UInt32 { 1 &<< rowShift &- 1 }

    @usableFromInline static let presenceOffset = 16
    @usableFromInline static let valuesOffset = 32
    @usableFromInline static let linkValuesOffset = 16
    @usableFromInline static let cellsOffset = 32
    static let heapUsedOffset = 16
    static let heapGarbageOffset = 20
    static var heapOffset: Int { cellsOffset + 4 * fanOut }

    static func granules(_ byteCount: Int) -> Int { (byteCount + granule - 1) / granule }
    static func fixedLeafByteCount(width: Int) -> Int { valuesOffset + width * fanOut }
    static var linkLeafByteCount: Int { linkValuesOffset + 4 * fanOut }
    static var wideLeafByteCount: Int { linkValuesOffset + 8 * fanOut }
    static var vectorNodeByteCount: Int { header + 4 * fanOut }
}
