internal import CMachine
import Glibc

/// The page of a group of 128 rows of a table.
struct GroupPage: Equatable {
    static let virtualPageOffset = 16
    static let liveCountOffset = 20
    static let provenanceOffset = 24
    static let liveBitsOffset = 32
    static let stubBitsOffset = 48
    static let columnsOffset = 64
    /// The value of `virtualPage` in a shared group, whose rows belong to several virtual pages (ranges of consecutive serials). A column
    /// of this group contains the virtual page of each row.
    static let isShared = UInt32.max

    let page: UnsafeMutableRawPointer

    @inline(__always) init(_ page: UnsafeMutableRawPointer) { self.page = page }

    static func byteCount(columnCount: Int) -> Int { columnsOffset + 4 * columnCount }

    @inline(__always) var birth: UInt64 { PageHeader(page).birth }

    /// The only virtual page whose rows the group contains, or `isShared`.
    @inline(__always) var virtualPage: UInt32 {
        get { page.load(fromByteOffset: Self.virtualPageOffset, as: UInt32.self) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.virtualPageOffset, as: UInt32.self) }
    }

    /// The number of rows that contain an object.
    @inline(__always) var liveCount: UInt32 {
        get { page.load(fromByteOffset: Self.liveCountOffset, as: UInt32.self) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.liveCountOffset, as: UInt32.self) }
    }

    /// The transaction to which the numbers in the columns of provenance are added.
    @inline(__always) var provenance: UInt64 {
        get { page.load(fromByteOffset: Self.provenanceOffset, as: UInt64.self) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.provenanceOffset, as: UInt64.self) }
    }

    @inline(__always) func isLive(_ row: UInt32) -> Bool { PageBits(page + Self.liveBitsOffset)[row] }
    @inline(__always) func isStub(_ row: UInt32) -> Bool { PageBits(page + Self.stubBitsOffset)[row] }
    @inline(__always) func setStub(_ row: UInt32, _ isStub: Bool) { stubs.set(row, isStub) }

    /// Marks a row as one that contains an object, and counts it.
    @inline(__always) func addRow(_ row: UInt32) {
        live.set(row, true)
        liveCount &+= 1
    }

    /// Marks a row as one without an object, and counts it.
    @inline(__always) func removeRow(_ row: UInt32) {
        live.set(row, false)
        stubs.set(row, false)
        liveCount &-= 1
    }

    @inline(__always) var live: PageBits { PageBits(page + Self.liveBitsOffset) }
    @inline(__always) var stubs: PageBits { PageBits(page + Self.stubBitsOffset) }

    /// The reference to the leaf of a column.
    @inline(__always) subscript(slot: Int) -> PageRef {
        get { page.load(fromByteOffset: Self.columnsOffset &+ 4 &* slot, as: PageRef.self) }
        nonmutating _modify { yield &reference(slot).pointee }
    }

    /// Returns the address of the reference to the leaf of a column.
    @inline(__always) func reference(_ slot: Int) -> UnsafeMutablePointer<PageRef> {
        (page + Self.columnsOffset + 4 * slot).assumingMemoryBound(to: PageRef.self)
    }

    /// Prefetches the header and the first references to leaves.
    @inline(__always) func prefetch() {
        cmachine_prefetch(page)
        cmachine_prefetch(page + Self.columnsOffset)
    }

    /// Whether the page has the kind and the size of a group with this number of columns.
    @inline(__always) func isGroup(columnCount: Int) -> Bool {
        let header = PageHeader(page)
        return header.kind == .rowGroup && header.granules >= PageLayout.granules(Self.byteCount(columnCount: columnCount))
    }

    /// Clears everything except the references to leaves.
    func clear() { memset(page + PageLayout.header, 0, Self.columnsOffset - PageLayout.header) }

    /// Copies everything except the references to leaves.
    func copyRows(from other: GroupPage) {
        memcpy(page + PageLayout.header, other.page + PageLayout.header, Self.columnsOffset - PageLayout.header)
    }
}

/// A bit for each row of a group of rows, in the page of the group or in a leaf.
struct PageBits {
    private let place: UnsafeMutableRawPointer

    @inline(__always) init(_ place: UnsafeMutableRawPointer) { self.place = place }

    @inline(__always) subscript(row: UInt32) -> Bool {
        let byte = place.load(fromByteOffset: Int((row & PageLayout.rowMask) >> 3), as: UInt8.self)
        return byte >> UInt8(truncatingIfNeeded: row & 7) & 1 != 0
    }

    @inline(__always) func set(_ row: UInt32, _ value: Bool) {
        let place = place + Int((row & PageLayout.rowMask) >> 3)
        let mask: UInt8 = 1 << UInt8(truncatingIfNeeded: row & 7)
        let byte = place.load(as: UInt8.self)
        place.storeBytes(of: value ? byte | mask : byte & ~mask, as: UInt8.self)
    }

    /// The bits of the 64 rows from 64 x `index` on.
    @inline(__always) func word(_ index: Int) -> UInt64 { place.load(fromByteOffset: 8 &* index, as: UInt64.self) }

    /// All bits of the group: 128, or 64 in builds with small pages.
    @inline(__always) var all: UInt128 {
        get {
            if PageLayout.fanOut == 64 { return UInt128(word(0)) }
            return UInt128(truncatingIfNeeded: word(0)) | UInt128(truncatingIfNeeded: word(1)) &<< 64
        }
        nonmutating set {
            place.storeBytes(of: UInt64(truncatingIfNeeded: newValue), as: UInt64.self)
            if PageLayout.fanOut == 64 { return }
            place.storeBytes(of: UInt64(truncatingIfNeeded: newValue &>> 64), toByteOffset: 8, as: UInt64.self)
        }
    }
}
