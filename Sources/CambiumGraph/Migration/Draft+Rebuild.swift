import CambiumModel
import Glibc

/// A column whose type changes: the leaves (pages) with the old values, each with the number of its group of rows.
struct ConvertedColumn {
    let slot: Int
    let conversion: ColumnMigration.Conversion
    var leaves: [(group: UInt32, page: PageRef)] = []
}

extension Draft {
    /// Rebuilds the tables: creates a new directory, and new pages for each table and group whose columns change. Leaves of kept columns
    /// are used again, and new columns have no values.
    ///
    /// - Returns: For each table, the columns whose values must be converted.
    mutating func rebuild(_ plan: MigrationPlan) -> [[ConvertedColumn]] {
        let before = reader
        let register = before.registerReference(of: layout)
        layout = plan.new
        let page = newDirectory(sharedBlobs: before.sharedBlobs, register: register)
        let old = directory
        directory = page
        forgetGroup()
        var converted: [[ConvertedColumn]] = []
        for table in plan.tables {
            let source = table.old.map { before.tableReference($0.index) }
            let reference: PageRef
            if let source, table.hasSamePage { reference = source } else { reference = newTable(table.new) }
            chunks[page].storeBytes(of: reference, toByteOffset: DirectoryPage.tablesOffset + 4 * table.new.index, as: PageRef.self)
            converted.append([])
            guard let source, !table.hasSamePage else { continue }
            copyTable(table, source, reference)
            if !table.hasSameColumns { converted[converted.count - 1] = rebuildGroups(table) }
            for index in table.droppedIndexes { discardIndex(source, index) }
            discard(source)
        }
        for table in plan.droppedTables { discardTable(plan.old.tables[table], before.tableReference(table)) }
        discard(old)
        return converted
    }

    private mutating func copyTable(_ table: TableMigration, _ source: PageRef, _ reference: PageRef) {
        guard let before = table.old else { return }
        let (from, to) = (chunks[source], chunks[reference])
        memcpy(to + TablePage.rowsOffset, from + TablePage.rowsOffset, TablePage.indexesOffset - TablePage.rowsOffset)
        for (number, index) in table.indexes.enumerated() {
            guard let index else { continue }
            let offsets = [number, index].map { TablePage.indexesOffset + TablePage.indexStride * $0 }
            memcpy(to + offsets[0], from + offsets[1], TablePage.indexStride)
        }
        for entity in table.new.entities where before.place(of: entity) != nil {
            let count = from.load(fromByteOffset: before.countOffset(of: entity), as: UInt64.self)
            to.storeBytes(of: count, toByteOffset: table.new.countOffset(of: entity), as: UInt64.self)
        }
    }

    /// Replaces the page of each group of a table with a page that contains the new columns. Returns the columns whose values must be
    /// converted.
    private mutating func rebuildGroups(_ table: TableMigration) -> [ConvertedColumn] {
        var converted = table.columns.enumerated().compactMap { slot, column in
            column.conversion.map { ConvertedColumn(slot: slot, conversion: $0) }
        }
        let kinds = table.old?.columns ?? []
        let constants = space.constants
        for index in 0..<reader.groupCount(table.new.index) where reader.rows(table.new.index).group(at: index) != nil {
            let rows = (ownedTable(table.new.index) + TablePage.rowsOffset).assumingMemoryBound(to: RadixVector.self)
            let reference = slot(&rows.pointee, index)
            let old = reference.pointee
            let page = allocate(table.new.groupByteCount, .rowGroup)
            let (from, to) = (chunks[old], chunks[page])
            memcpy(to + PageLayout.header, from + PageLayout.header, GroupLayout.columnsOffset - PageLayout.header)
            for (slot, column) in table.columns.enumerated() {
                let leaf = column.keptSlot.map { Self.leafReference(from, $0) } ?? table.new.columns[slot].emptyLeaf(constants)
                to.storeBytes(of: leaf, toByteOffset: GroupLayout.columnsOffset + 4 * slot, as: PageRef.self)
            }
            for place in converted.indices {
                converted[place].leaves.append((UInt32(index), Self.leafReference(from, converted[place].conversion.slot)))
            }
            reference.pointee = page
            for slot in table.droppedSlots { discardLeaf(Self.leafReference(from, slot), kinds[slot]) }
            discard(old)
        }
        return converted
    }

    private static func leafReference(_ group: UnsafeMutableRawPointer, _ slot: Int) -> PageRef {
        group.load(fromByteOffset: GroupLayout.columnsOffset + 4 * slot, as: PageRef.self)
    }

    // MARK: Releasing pages

    /// Releases a leaf, and the blobs (values of more than 255 bytes) to which its cells refer.
    mutating func discardLeaf(_ page: PageRef, _ kind: ColumnKind) {
        if kind == .string, chunks.birth(page) != 0 {
            let leaf = chunks[page]
            for row in 0..<UInt32(PageLayout.fanOut) {
                let cell = StringLeaf.cell(leaf, row)
                if cell != 0, StringLeaf.isBlob(cell) { discardBlob(StringLeaf.blob(leaf, cell).page) }
            }
        }
        discard(page)
    }

    private mutating func discardTable(_ table: TableLayout, _ page: PageRef) {
        let pointer = chunks[page]
        let rows = pointer.load(fromByteOffset: TablePage.rowsOffset, as: RadixVector.self)
        var next = 0
        while let index = rows.firstIndex(from: next, chunks) {
            let group = rows.get(index, chunks)
            for (slot, kind) in table.columns.enumerated() { discardLeaf(Self.leafReference(chunks[group], slot), kind) }
            discard(group)
            next = index + 1
        }
        for offset in [TablePage.rowsOffset, TablePage.virtualPagesOffset, TablePage.freeOffset] {
            discard(pointer.load(fromByteOffset: offset, as: RadixVector.self))
        }
        for index in table.indexes { discardIndex(page, index.number) }
        discard(page)
    }

    private mutating func discardIndex(_ table: PageRef, _ index: Int) {
        crowds = [:]
        let buckets = chunks[table].load(fromByteOffset: TablePage.indexesOffset + TablePage.indexStride * index, as: RadixVector.self)
        var next = 0
        var last: PageRef = 0
        // Several slots of the directory may refer to the same bucket. These slots are consecutive, so a comparison with the last bucket
        // shows whether a bucket was already discarded.
        while let place = buckets.firstIndex(from: next, chunks) {
            next = place + 1
            var bucket = buckets.get(place, chunks)
            if bucket == last { continue }
            last = bucket
            var overflowCount = 0
            while bucket != 0 {
                chunks.countOverflow(&overflowCount)
                let overflow = Bucket(chunks[bucket]).overflow
                discard(bucket)
                bucket = overflow
            }
        }
        discard(buckets)
    }
}

extension Reader {
    func tableReference(_ table: Int) -> PageRef {
        chunks[directory].load(fromByteOffset: DirectoryPage.tablesOffset + 4 * table, as: PageRef.self)
    }
}
