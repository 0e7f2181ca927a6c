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

    @inline(__always) var directoryPage: DirectoryPage { DirectoryPage(chunks[directory]) }

    @inline(__always) func tableReference(_ table: Int) -> PageRef { directoryPage[table] }

    @inline(__always) func tablePage(_ table: Int) -> TablePage { TablePage(chunks[tableReference(table)]) }

    /// The key of the hashes in the graph's indexes.
    var hashKey: HashKey { directoryPage.hashKey }

    /// The function that computes the hashes in the graph's indexes.
    @inline(__always) var hasher: KeyHasher { chunks.hasher }

    var transaction: UInt64 { directoryPage.transaction }
    /// The last transaction that changed the schema.
    var schemaTransaction: UInt64 { directoryPage.schemaTransaction }

    @inline(__always) func rows(_ table: Int) -> Rows {
        Rows(chunks: chunks, groups: tablePage(table).rows)
    }

    func nextSerial(_ table: Int) -> UInt64 {
        tablePage(table).nextSerial
    }

    func liveCount(_ table: Int) -> Int {
        tablePage(table).liveCount
    }

    @inline(__always) func groupCount(_ table: Int) -> Int {
        Int(tablePage(table).groupCount)
    }

    func freeGroupCount(_ table: Int) -> Int {
        Int(tablePage(table).freeCount)
    }

    func count(of entity: EntityNumber, in table: TableLayout) -> Int {
        table.count(of: entity, in: tablePage(table.index)).pointee
    }

    /// Returns the row of the live object with a serial, or `nil` if there is no such object.
    @inline(__always) func row(_ table: Int, serial: UInt64) -> UInt32? {
        let virtualPage = Int(serial >> UInt64(PageLayout.fanOutShift))
        let group = tablePage(table).virtualPages.get(virtualPage, chunks)
        guard group != 0 else { return nil }
        let row = (group &- 1) &<< PageLayout.rowShift | UInt32(truncatingIfNeeded: serial) & PageLayout.rowMask
        let rows = rows(table)
        return rows.isLive(row) && rows.virtualPage(row) == UInt32(truncatingIfNeeded: virtualPage) ? row : nil
    }
}

extension Reader {
    /// Returns the page of the group that has the row of a serial. Returns `nil` if there is no such group, or if no thread has touched the
    /// chunk of the page.
    @inline(__always) func touchedGroup(_ table: Int, _ serial: UInt64) -> GroupPage? {
        let page = tablePage(table)
        let group = page.virtualPages.get(Int(truncatingIfNeeded: serial >> UInt64(PageLayout.fanOutShift)), chunks)
        if group == 0 { return nil }
        let reference = page.rows.get(Int(group &- 1), chunks)
        return reference == 0 ? nil : chunks.touched(reference).map { GroupPage($0) }
    }
}

/// Reads the rows of one table. Loops use this type, so that the table is looked up only once.
struct Rows {
    let chunks: Chunks
    let groups: RadixVector

    /// An upper bound of the number of rows in the table.
    @inline(__always) var rowCountEnd: Int { groups.elementCountEnd &<< PageLayout.fanOutShift }

    @inline(__always) func group(_ row: UInt32) -> GroupPage {
        chunks.group(groups.existing(Int(row &>> PageLayout.rowShift), chunks))
    }

    func group(at index: Int) -> GroupPage? {
        let page = groups.get(index, chunks)
        return page == 0 ? nil : chunks.group(page)
    }

    @inline(__always) func leaf(_ group: GroupPage, _ slot: Int) -> UnsafeMutableRawPointer {
        chunks[group[slot]]
    }

    @inline(__always) func isLive(_ row: UInt32) -> Bool {
        let page = groups.get(Int(row &>> PageLayout.rowShift), chunks)
        return page != 0 && chunks.group(page).isLive(row)
    }

    @inline(__always) func isStub(_ row: UInt32) -> Bool { group(row).isStub(row) }

    @inline(__always) func serial(_ row: UInt32) -> UInt64 {
        UInt64(virtualPage(row)) << PageLayout.fanOutShift | UInt64(row & PageLayout.rowMask)
    }

    @inline(__always) func virtualPage(_ row: UInt32) -> UInt32 {
        let virtualPage = group(row).virtualPage
        if virtualPage != GroupPage.isShared || !isShared(row &>> PageLayout.rowShift) { return virtualPage }
        return link(row, TableLayout.virtualPageSlot)
    }

    /// Returns whether a group contains rows of several virtual pages (ranges of consecutive serials).
    func isShared(_ group: UInt32) -> Bool {
        let page = self.group(group << PageLayout.rowShift)
        guard page.virtualPage == GroupPage.isShared else { return false }
        // With small pages, an ordinary virtual page may have the number `isShared`. Only a shared group has a column of virtual pages.
        return chunks.birth(page[TableLayout.virtualPageSlot]) != 0
    }

    /// Returns the content of a link column: a row or a number.
    @inline(__always) func link(_ row: UInt32, _ slot: Int) -> UInt32 {
        LinkLeaf(leaf(group(row), slot))[row]
    }

    /// Prefetches the content of a link column in a row.
    @inline(__always) func prefetchLink(_ row: UInt32, _ slot: Int) {
        cmachine_prefetch(LinkLeaf(leaf(group(row), slot)).values + Int(row & PageLayout.rowMask))
    }

    /// Prefetches the value of a row, or the beginning of its leaf if the values have no fixed width.
    @inline(__always) func prefetch(_ row: UInt32, _ slot: Int, _ kind: ColumnKind) {
        let leaf = leaf(group(row), slot)
        if case .fixed(let width) = kind { FixedLeaf(leaf).prefetch(row, width: width) } else { cmachine_prefetch(leaf) }
    }

    @inline(__always) func isPresent(_ row: UInt32, _ slot: Int) -> Bool {
        FixedLeaf(leaf(group(row), slot)).isPresent(row)
    }

    @inline(__always) func fixed<T: BitwiseCopyable>(_ row: UInt32, _ slot: Int, as type: T.Type) -> T {
        FixedLeaf(leaf(group(row), slot)).value(row, as: T.self)
    }

    /// Returns the bytes of a string or data value of at most 255 bytes. Returns `nil` if the value is null or longer. The bytes are valid
    /// as long as the page exists.
    @inline(__always) func bytes(_ row: UInt32, _ slot: Int) -> UnsafeRawBufferPointer? {
        let leaf = leaf(group(row), slot)
        let cell = StringLeaf(leaf).cell(row)
        if cell == 0 { return nil }
        return StringLeaf.isBlob(cell) ? nil : StringLeaf(leaf).inlineBytes(cell)
    }
}

extension Reader {
    /// A vector that counts, for each blob, the cells after the first one that refer to it. A blob is a value of more than 255 bytes.
    var sharedBlobs: RadixVector { directoryPage.sharedBlobs }
}
