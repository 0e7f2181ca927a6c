import CambiumModel
import Glibc

/// Writes the pages of tables: rows, cells, texts and provenance. No rule of the schema is checked, and no index is updated.
struct TableWriter: ~Copyable {
    var pageWriter: PageWriter
    var layout: GraphLayout
    /// The page from which a reader reaches all other pages.
    var directory: PageRef
    var transaction: UInt64
    private var groupCache = GroupCache()

    init(_ pageWriter: consuming PageWriter, _ layout: GraphLayout, _ directory: PageRef) {
        transaction = DirectoryPage(pageWriter.chunks[directory]).transaction + 1
        self.pageWriter = pageWriter
        self.layout = layout
        self.directory = directory
    }

    var space: PageSpace { pageWriter.space }
    @inline(__always) var chunks: Chunks { pageWriter.chunks }
    @inline(__always) var reader: Reader { Reader(chunks: pageWriter.chunks, directory: directory) }

    /// Writes the transaction number into the directory page.
    mutating func stamp() { ownedDirectory().transaction = transaction }

    // MARK: New pages

    /// Creates a directory page for the layout.
    ///
    /// - Parameter table: Returns the page of a table. The closure may create the page.
    mutating func newDirectory(
        sharedBlobs: RadixVector, register: PageRef, table: (inout TableWriter, TableLayout) -> PageRef
    ) -> PageRef {
        let page = newDirectory(sharedBlobs: sharedBlobs, register: register)
        for each in layout.tables {
            let reference = table(&self, each)
            DirectoryPage(chunks[page])[each.index] = reference
        }
        return page
    }

    /// Creates a directory page for the layout. The page does not refer to any table yet.
    mutating func newDirectory(sharedBlobs: RadixVector, register: PageRef) -> PageRef {
        let page = pageWriter.allocate(layout.directoryByteCount, .directory)
        let directory = DirectoryPage(chunks[page])
        (directory.transaction, directory.sharedBlobs, directory.hashKey) = (transaction, sharedBlobs, reader.hashKey)
        // Only a change to the schema needs a new directory.
        directory.schemaTransaction = transaction
        if let place = layout.registerPlace { directory[place] = register }
        if let place = layout.indexesPlace { directory[place] = 0 }
        return page
    }

    mutating func newTable(_ table: TableLayout) -> PageRef {
        let page = pageWriter.allocate(table.pageByteCount, .table)
        let pointer = chunks[page]
        (pointer + PageLayout.header).initializeMemory(
            as: UInt8.self, repeating: 0, count: PageLayout.granules(table.pageByteCount) * 16 - PageLayout.header)
        TablePage(pointer).nextSerial = table.root == nil ? 0 : 1
        return page
    }

    // MARK: Owned pages

    /// The group of rows to which the draft wrote last. The next write probably needs the same group.
    struct GroupCache {
        var table = -1
        var index: UInt32 = 0
        var page: GroupPage?
    }

    @inline(__always)
    mutating func ownedDirectory() -> DirectoryPage {
        pageWriter.hasWritten = true
        if chunks.birth(directory) != pageWriter.epoch { directory = pageWriter.copy(directory, .directory, 0) }
        return DirectoryPage(chunks[directory])
    }

    @inline(__always)
    mutating func ownedTable(_ table: Int) -> TablePage {
        let directory = ownedDirectory()
        pageWriter.own(&directory[table])
        return TablePage(chunks[directory[table]])
    }

    @inline(__always)
    mutating func ownedGroup(_ table: Int, _ row: UInt32) -> GroupPage {
        let index = row &>> PageLayout.rowShift
        if groupCache.table == table, groupCache.index == index, let page = groupCache.page { return page }
        return ownedGroupByPath(table, index)
    }

    @inline(never)
    private mutating func ownedGroupByPath(_ table: Int, _ index: UInt32) -> GroupPage {
        pageWriter.hasWritten = true
        let found = reader.rows(table).group(index &<< PageLayout.rowShift)
        // If the draft created the group, it also created all pages on the path to the group, and need not copy them.
        if found.birth == pageWriter.trustedEpoch {
            groupCache = GroupCache(table: table, index: index, page: found)
            return found
        }
        let slot = pageWriter.slot(&ownedTable(table).rows, Int(index))
        pageWriter.own(&slot.pointee, .rowGroup, byteCount: layout.tables[table].groupByteCount)
        let page = chunks.group(slot.pointee)
        groupCache = GroupCache(table: table, index: index, page: page)
        return page
    }

    /// Clears the cache of the last written group, for example because the page of the group is released.
    mutating func forgetGroup() { groupCache.table = -1 }
}

// MARK: - Cells

extension TableWriter {
    /// Stores a value in a column. The row must not be in an index over the column.
    @inline(__always)
    mutating func store(_ table: Int, _ row: UInt32, _ slot: Int, _ kind: ColumnKind, _ cell: Cell) {
        guard case .fixed(let width) = kind else {
            setBytes(table, row, slot, cell.kind == .null ? nil : cell.bytes)
            return
        }
        if cell.kind == .null { return clearFixed(table, row, slot, width: width) }
        switch width {
        case 1: setFixed(table, row, slot, UInt8(truncatingIfNeeded: cell.low))
        case 2: setFixed(table, row, slot, UInt16(truncatingIfNeeded: cell.low))
        case 4: setFixed(table, row, slot, UInt32(truncatingIfNeeded: cell.low))
        case 8: setFixed(table, row, slot, cell.low)
        default: setFixed(table, row, slot, SIMD2<UInt64>(cell.low, cell.high))
        }
    }

    @inline(__always)
    mutating func ownedLeaf(
        _ group: GroupPage, _ slot: Int, _ kind: PageKind? = nil, byteCount: Int = 0
    ) -> UnsafeMutableRawPointer {
        let reference = group.reference(slot)
        pageWriter.own(&reference.pointee, kind, byteCount: byteCount)
        return chunks[reference.pointee]
    }

    @inline(__always)
    func link(_ table: Int, _ row: UInt32, _ slot: Int) -> UInt32 { reader.rows(table).link(row, slot) }

    @inline(__always)
    mutating func setLink(_ table: Int, _ row: UInt32, _ slot: Int, _ value: UInt32) {
        let leaf = ownedLeaf(ownedGroup(table, row), slot, .linkLeaf)
        LinkLeaf(leaf)[row] = value
    }

    @inline(__always)
    mutating func setFixed<T: BitwiseCopyable>(_ table: Int, _ row: UInt32, _ slot: Int, _ value: T) {
        let byteCount = FixedLeaf.byteCount(width: MemoryLayout<T>.stride)
        let leaf = ownedLeaf(ownedGroup(table, row), slot, .fixedLeaf, byteCount: byteCount)
        FixedLeaf(leaf).set(row, value)
    }

    /// Sets a fixed-width value to null.
    mutating func clearFixed(_ table: Int, _ row: UInt32, _ slot: Int, width: Int) {
        guard reader.rows(table).isPresent(row, slot) else { return }
        let leaf = ownedLeaf(ownedGroup(table, row), slot, .fixedLeaf, byteCount: FixedLeaf.byteCount(width: width))
        FixedLeaf(leaf).clear(row, width: width)
    }
}
