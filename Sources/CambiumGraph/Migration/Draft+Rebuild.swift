import CambiumModel
import Glibc

/// A column that takes the values of an old column: the leaves (pages) with the old values, each with the number of its group of rows.
struct ConvertedColumn {
    let slot: Int
    let conversion: ColumnMigration.Conversion
    var leaves: [(group: UInt32, page: PageRef)] = []
}

/// The columns of a table whose values must be converted, and the leaves to release afterwards.
struct ConvertedTable {
    var columns: [ConvertedColumn] = []
    var released: [(leaf: PageRef, kind: ColumnKind)] = []
}

extension Draft {
    /// Rebuilds the tables: creates a new directory, and new pages for each table and group whose columns change. Leaves of kept columns
    /// are used again, and new columns have no values.
    ///
    /// - Returns: For each table, the columns whose values must be converted.
    mutating func rebuild(_ plan: MigrationPlan) -> [ConvertedTable] {
        let before = reader
        let register = before.registerReference(of: layout)
        layout = plan.new
        let page = tableWriter.newDirectory(sharedBlobs: before.sharedBlobs, register: register)
        let old = directory
        directory = page
        tableWriter.forgetGroup()
        var converted: [ConvertedTable] = []
        for table in plan.tables {
            let source = table.old.map { before.tableReference($0.index) }
            let reference: PageRef
            if let source, table.hasSamePage { reference = source } else { reference = tableWriter.newTable(table.new) }
            DirectoryPage(chunks[page])[table.new.index] = reference
            converted.append(ConvertedTable())
            guard let source, !table.hasSamePage else { continue }
            copyTable(table, source, reference, plan.succession)
            if !table.hasSameColumns { converted[converted.count - 1] = rebuildGroups(table) }
            for index in table.droppedIndexes { discardIndex(source, index) }
            pageWriter.discard(source)
        }
        for table in plan.droppedTables { discardTable(plan.old.tables[table], before.tableReference(table)) }
        pageWriter.discard(old)
        return converted
    }

    private mutating func copyTable(
        _ table: TableMigration, _ source: PageRef, _ reference: PageRef, _ succession: SchemaSuccession
    ) {
        guard let before = table.old else { return }
        let (from, to) = (TablePage(chunks[source]), TablePage(chunks[reference]))
        to.copyRows(from: from)
        for (number, index) in table.indexes.enumerated() {
            if let index { to.index(number).copy(from: from.index(index)) }
        }
        for entity in table.new.entities {
            guard let source = succession.entity(before: entity)?.number, before.place(of: source) != nil else { continue }
            table.new.count(of: entity, in: to).pointee = before.count(of: source, in: from).pointee
        }
    }

    /// Replaces the page of each group of a table with a page that contains the new columns. Returns the columns whose values must be
    /// converted.
    private mutating func rebuildGroups(_ table: TableMigration) -> ConvertedTable {
        let columns = table.columns.enumerated().flatMap { slot, column in
            column.conversions.map { ConvertedColumn(slot: slot, conversion: $0) }
        }
        var converted = ConvertedTable(columns: columns)
        let sources = Set(columns.map(\.conversion.slot))
        let kinds = table.old?.columns ?? []
        let constants = space.constants
        for index in 0..<reader.groupCount(table.new.index) where reader.rows(table.new.index).group(at: index) != nil {
            let reference = pageWriter.slot(&tableWriter.ownedTable(table.new.index).rows, index)
            let old = reference.pointee
            let page = pageWriter.allocate(table.new.groupByteCount, .rowGroup)
            let (from, to) = (chunks.group(old), chunks.group(page))
            to.copyRows(from: from)
            for (slot, column) in table.columns.enumerated() {
                to[slot] = column.keptSlot.map { from[$0] } ?? table.new.columns[slot].emptyLeaf(constants)
            }
            for place in columns.indices {
                converted.columns[place].leaves.append((UInt32(index), from[columns[place].conversion.slot]))
            }
            reference.pointee = page
            for slot in table.droppedSlots {
                let leaf = from[slot]
                if sources.contains(slot) { converted.released.append((leaf, kinds[slot])) } else { discardLeaf(leaf, kinds[slot]) }
            }
            pageWriter.discard(old)
        }
        return converted
    }

    // MARK: Releasing pages

    /// Releases a leaf, and the blobs (values of more than 255 bytes) to which its cells refer.
    mutating func discardLeaf(_ page: PageRef, _ kind: ColumnKind) {
        if kind == .string, chunks.birth(page) != 0 {
            let leaf = chunks[page]
            for row in 0..<UInt32(PageLayout.fanOut) {
                let cell = StringLeaf(leaf).cell(row)
                if cell != 0, StringLeaf.isBlob(cell) { tableWriter.discardBlob(StringLeaf(leaf).blob(cell).page) }
            }
        }
        pageWriter.discard(page)
    }

    private mutating func discardTable(_ table: TableLayout, _ page: PageRef) {
        let pointer = TablePage(chunks[page])
        let rows = pointer.rows
        var next = 0
        while let index = rows.firstIndex(from: next, chunks) {
            let group = rows.get(index, chunks)
            for (slot, kind) in table.columns.enumerated() { discardLeaf(chunks.group(group)[slot], kind) }
            pageWriter.discard(group)
            next = index + 1
        }
        for vector in [rows, pointer.virtualPages, pointer.free] { pageWriter.discard(vector) }
        for index in table.indexes { discardIndex(page, index.number) }
        pageWriter.discard(page)
    }

    private mutating func discardIndex(_ table: PageRef, _ index: Int) {
        indexWriter.crowds = [:]
        let buckets = TablePage(chunks[table]).index(index).directory
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
                pageWriter.discard(bucket)
                bucket = overflow
            }
        }
        pageWriter.discard(buckets)
    }
}
