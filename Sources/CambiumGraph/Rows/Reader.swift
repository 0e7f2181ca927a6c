internal import CMachine
import CambiumModel

/// The place of an object in one graph. Reading with a place is fast, but a place is valid only in its own graph.
///
/// ```swift
/// if let place = graph.place(of: note) {
///     print(graph.entity(of: place).name, graph.provenance(of: place).changed)
/// }
/// ```
///
/// To refer to an object for longer, keep its `ObjectID` and resolve it with `Graph.place(of:)`.
public struct ObjectPlace: Hashable, Sendable {
    @usableFromInline package let table: UInt32
    @usableFromInline package let row: UInt32

    /// A number that no table has.
    static let noTable = UInt32.max

    @inlinable @inline(__always) init(table: Int, row: UInt32) {
        self.table = UInt32(truncatingIfNeeded: table)
        self.row = row
    }

    /// Creates a place for an object that is in no graph, such as an object that an edit inserted. The place contains only the number that
    /// the caller chose for the object.
    package init(unplaced number: Int) {
        table = Self.noTable
        row = UInt32(truncatingIfNeeded: number)
    }

    /// The number of an object that is in no graph, or `nil` for a place in a graph.
    package var unplacedNumber: Int? { table == Self.noTable ? Int(row) : nil }
}

/// Reads a graph, beginning at its directory page. A reader owns nothing: its creator must keep the version or the draft alive.
struct Reader {
    let chunks: Chunks
    let directory: PageRef

    @inline(__always) func tablePage(_ table: Int) -> UnsafeMutableRawPointer {
        chunks[chunks[directory].load(fromByteOffset: DirectoryPage.tablesOffset &+ 4 &* table, as: PageRef.self)]
    }

    /// The key of the hashes in the graph's indexes.
    var hashKey: HashKey { chunks[directory].load(fromByteOffset: DirectoryPage.hashKeyOffset, as: HashKey.self) }

    /// The function that computes the hashes in the graph's indexes.
    @inline(__always) var hasher: KeyHasher { chunks.hasher }

    var transaction: UInt64 { chunks[directory].load(fromByteOffset: DirectoryPage.transactionOffset, as: UInt64.self) }

    @inline(__always) func vector(_ table: Int, _ offset: Int) -> RadixVector {
        tablePage(table).load(fromByteOffset: offset, as: RadixVector.self)
    }

    @inline(__always) func rows(_ table: Int) -> Rows {
        Rows(chunks: chunks, groups: vector(table, TablePage.rowsOffset))
    }

    func nextSerial(_ table: Int) -> UInt64 {
        tablePage(table).load(fromByteOffset: TablePage.nextSerialOffset, as: UInt64.self)
    }

    func liveCount(_ table: Int) -> Int {
        Int(tablePage(table).load(fromByteOffset: TablePage.liveCountOffset, as: UInt64.self))
    }

    @inline(__always) func groupCount(_ table: Int) -> Int {
        Int(tablePage(table).load(fromByteOffset: TablePage.groupCountOffset, as: UInt32.self))
    }

    func count(of entity: EntityNumber, in table: TableLayout) -> Int {
        Int(tablePage(table.index).load(fromByteOffset: table.countOffset(of: entity), as: UInt64.self))
    }

    /// Returns the row of the live object with a serial, or `nil` if there is no such object.
    @inline(__always) func row(_ table: Int, serial: UInt64) -> UInt32? {
        let virtualPage = Int(serial >> UInt64(PageLayout.fanOutShift))
        let group = vector(table, TablePage.virtualPagesOffset).get(virtualPage, chunks)
        guard group != 0 else { return nil }
        let row = (group &- 1) &<< PageLayout.rowShift | UInt32(truncatingIfNeeded: serial) & PageLayout.rowMask
        let rows = rows(table)
        return rows.isLive(row) && rows.virtualPage(row) == UInt32(truncatingIfNeeded: virtualPage) ? row : nil
    }
}

/// Reads the rows of one table. Loops use this type, so that the table is looked up only once.
struct Rows {
    let chunks: Chunks
    let groups: RadixVector

    /// An upper bound of the number of rows in the table.
    @inline(__always) var rowCountEnd: Int { groups.elementCountEnd &<< PageLayout.fanOutShift }

    @inline(__always) func group(_ row: UInt32) -> UnsafeMutableRawPointer {
        chunks[groups.existing(Int(row &>> PageLayout.rowShift), chunks)]
    }

    func group(at index: Int) -> UnsafeMutableRawPointer? {
        let page = groups.get(index, chunks)
        return page == 0 ? nil : chunks[page]
    }

    @inline(__always) func leaf(_ group: UnsafeMutableRawPointer, _ slot: Int) -> UnsafeMutableRawPointer {
        chunks[group.load(fromByteOffset: GroupLayout.columnsOffset &+ 4 &* slot, as: PageRef.self)]
    }

    @inline(__always) func isLive(_ row: UInt32) -> Bool {
        let page = groups.get(Int(row &>> PageLayout.rowShift), chunks)
        return page != 0 && Rows.bit(chunks[page], GroupLayout.liveBitsOffset, row)
    }

    @inline(__always) func isStub(_ row: UInt32) -> Bool { Rows.bit(group(row), GroupLayout.stubBitsOffset, row) }

    @inline(__always) func serial(_ row: UInt32) -> UInt64 {
        UInt64(virtualPage(row)) << PageLayout.fanOutShift | UInt64(row & PageLayout.rowMask)
    }

    @inline(__always) func virtualPage(_ row: UInt32) -> UInt32 {
        let virtualPage = group(row).load(fromByteOffset: GroupLayout.virtualPageOffset, as: UInt32.self)
        if virtualPage != GroupLayout.isShared || !isShared(row &>> PageLayout.rowShift) { return virtualPage }
        return link(row, TableLayout.virtualPageSlot)
    }

    /// Returns whether a group contains rows of several virtual pages (ranges of consecutive serials).
    func isShared(_ group: UInt32) -> Bool {
        let page = self.group(group << PageLayout.rowShift)
        guard page.load(fromByteOffset: GroupLayout.virtualPageOffset, as: UInt32.self) == GroupLayout.isShared else { return false }
        // With small pages, an ordinary virtual page may have the number `isShared`. Only a shared group has a column of virtual pages.
        return chunks.birth(page.load(fromByteOffset: GroupLayout.columnsOffset + 4 * TableLayout.virtualPageSlot, as: PageRef.self)) != 0
    }

    /// Returns the content of a link column: a row or a number.
    @inline(__always) func link(_ row: UInt32, _ slot: Int) -> UInt32 {
        leaf(group(row), slot).load(fromByteOffset: PageLayout.linkValuesOffset &+ 4 &* Int(row & PageLayout.rowMask), as: UInt32.self)
    }

    /// Prefetches the content of a link column in a row.
    @inline(__always) func prefetchLink(_ row: UInt32, _ slot: Int) {
        cmachine_prefetch(leaf(group(row), slot) + PageLayout.linkValuesOffset + 4 &* Int(row & PageLayout.rowMask))
    }

    @inline(__always) func isPresent(_ row: UInt32, _ slot: Int) -> Bool {
        Rows.bit(leaf(group(row), slot), PageLayout.presenceOffset, row)
    }

    @inline(__always) func fixed<T: BitwiseCopyable>(_ row: UInt32, _ slot: Int, as type: T.Type) -> T {
        leaf(group(row), slot).load(
            fromByteOffset: PageLayout.valuesOffset &+ MemoryLayout<T>.stride &* Int(row & PageLayout.rowMask), as: T.self)
    }

    /// Returns the bytes of a string or data value of at most 255 bytes. Returns `nil` if the value is null or longer. The bytes are valid
    /// as long as the page exists.
    @inline(__always) func bytes(_ row: UInt32, _ slot: Int) -> UnsafeRawBufferPointer? {
        let leaf = leaf(group(row), slot)
        let cell = StringLeaf.cell(leaf, row)
        if cell == 0 { return nil }
        return StringLeaf.isBlob(cell) ? nil : StringLeaf.inlineBytes(leaf, cell)
    }

    @inline(__always) static func bit(_ page: UnsafeMutableRawPointer, _ offset: Int, _ row: UInt32) -> Bool {
        let byte = page.load(fromByteOffset: offset &+ Int((row & PageLayout.rowMask) >> 3), as: UInt8.self)
        return byte >> UInt8(truncatingIfNeeded: row & 7) & 1 != 0
    }

    @inline(__always)
    static func setBit(_ page: UnsafeMutableRawPointer, _ offset: Int, _ row: UInt32, _ value: Bool) {
        let place = page + offset + Int((row & PageLayout.rowMask) >> 3)
        let mask: UInt8 = 1 << UInt8(truncatingIfNeeded: row & 7)
        let byte = place.load(as: UInt8.self)
        place.storeBytes(of: value ? byte | mask : byte & ~mask, as: UInt8.self)
    }
}

extension Reader {
    /// A vector that counts, for each blob, the cells after the first one that refer to it. A blob is a value of more than 255 bytes.
    var sharedBlobs: RadixVector { chunks[directory].load(fromByteOffset: DirectoryPage.sharedBlobsOffset, as: RadixVector.self) }
}
