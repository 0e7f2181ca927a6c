/// Where a page lies: in units of 16 bytes, through a table of 64 KiB chunks. 0 is no page.
typealias PageRef = UInt32

/// The absence of a row in a link column.
let noRow: UInt32 = .max

/// What a page holds. The numbers are in page headers and never reused.
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

/// Offsets and sizes of pages, in bytes. Docs/ARCHITECTURE.md tells the layouts in prose.
enum PageLayout {
    static let granule = 16
    static let chunkByteCount = 65_536
    static let chunkGranules = chunkByteCount / granule
    static let chunkCountMax = 1 << 20
    /// What can be read after the last chunk of a piece of memory: a page that was not proven may say that it goes on there.
    static let slackByteCount = 2 * chunkByteCount

    static let header = 16
    static let birthOffset = 0
    static let granulesOffset = 8
    static let kindOffset = 10
    static let nextFreeOffset = 12

    /// Rows in a group, elements in a vector node: 128. Tests run with 64 too, and come to the same digests.
    #if CAMBIUM_SMALL_PAGES
        static let fanOutShift = 6
    #else
        static let fanOutShift = 7
    #endif
    static let fanOut = 1 << fanOutShift
    static let fanOutMask = fanOut - 1
    static let rowShift = UInt32(fanOutShift)
    static let rowMask = UInt32(fanOutMask)

    static let presenceOffset = 16
    static let valuesOffset = 32
    static let linkValuesOffset = 16
    static let cellsOffset = 32
    static let heapUsedOffset = 16
    static let heapGarbageOffset = 20
    static let heapOffset = cellsOffset + 4 * fanOut

    static func granules(_ byteCount: Int) -> Int { (byteCount + granule - 1) / granule }
    static func fixedLeafByteCount(width: Int) -> Int { valuesOffset + width * fanOut }
    static let linkLeafByteCount = linkValuesOffset + 4 * fanOut
    static let wideLeafByteCount = linkValuesOffset + 8 * fanOut
    static let vectorNodeByteCount = header + 4 * fanOut
}
