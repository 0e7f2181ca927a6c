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

/// The sizes of pages, in bytes. Docs/Formats/PAGES.md describes the layouts in prose.
@usableFromInline enum PageLayout {
    static let granule = 16
    static let chunkByteCount = 65_536
    static let chunkGranules = chunkByteCount / granule
    static let chunkCountMax = 1 << 20
    /// The number of readable bytes after the last chunk of a mapping. The header of a page that has not been proven valid may state a size
    /// that exceeds the chunk.
    static let slackByteCount = 2 * chunkByteCount

    static let header = 16
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

    static func granules(_ byteCount: Int) -> Int { (byteCount + granule - 1) / granule }
}

/// The first bytes of every page.
struct PageHeader {
    static let birthOffset = 0
    static let granulesOffset = 8
    static let kindOffset = 10
    private static let nextFreeOffset = 12

    let page: UnsafeMutableRawPointer

    @inline(__always) init(_ page: UnsafeMutableRawPointer) { self.page = page }

    /// The epoch of the draft that created the page; 0 for a constant page.
    @inline(__always) var birth: UInt64 {
        get { page.load(fromByteOffset: Self.birthOffset, as: UInt64.self) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.birthOffset, as: UInt64.self) }
    }

    /// The size of the page, in units of 16 bytes.
    @inline(__always) var granules: Int { Int(page.load(fromByteOffset: Self.granulesOffset, as: UInt16.self)) }
    @inline(__always) var byteCount: Int { granules &* PageLayout.granule }

    /// The kind of the page, or `nil` if the header states no valid kind.
    @inline(__always) var kind: PageKind? { PageKind(rawValue: page.load(fromByteOffset: Self.kindOffset, as: UInt8.self)) }

    func markFree() {
        birth = .max
        page.storeBytes(of: PageKind.free.rawValue, toByteOffset: Self.kindOffset, as: UInt8.self)
    }

    /// The second half of the header: the size and the kind, without the link to the next free page. Setting it clears this link.
    @inline(__always) var tail: UInt64 {
        get { UInt64(page.load(fromByteOffset: Self.granulesOffset, as: UInt32.self)) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.granulesOffset, as: UInt64.self) }
    }

    /// The next free page of the same size. Only a free page has a valid link.
    @inline(__always) var nextFree: PageRef {
        get { page.load(fromByteOffset: Self.nextFreeOffset, as: PageRef.self) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.nextFreeOffset, as: PageRef.self) }
    }
}
