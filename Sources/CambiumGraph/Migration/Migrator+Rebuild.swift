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

extension Migrator {
    /// Rebuilds the tables: creates a new directory, and new pages for each table and group whose columns change. Leaves of kept columns
    /// are used again, and new columns have no values.
    ///
    /// - Returns: For each table, the columns whose values must be converted.
    static func rebuild(_ draft: inout Draft, _ plan: MigrationPlan) -> [ConvertedTable] {
        let before = draft.reader
        let register = before.registerReference(of: draft.layout)
        draft.layout = plan.new
        let page = draft.tableWriter.newDirectory(sharedBlobs: before.sharedBlobs, register: register)
        let old = draft.directory
        draft.directory = page
        draft.tableWriter.forgetGroup()
        var converted: [ConvertedTable] = []
        for table in plan.tables {
            let source = table.old.map { before.tableReference($0.index) }
            let reference: PageRef
            if let source, table.hasSamePage { reference = source } else { reference = draft.tableWriter.newTable(table.new) }
            DirectoryPage(draft.chunks[page])[table.new.index] = reference
            converted.append(ConvertedTable())
            guard let source, !table.hasSamePage else { continue }
            copyTable(&draft, table, source, reference, plan.succession)
            if !table.hasSameColumns { converted[converted.count - 1] = rebuildGroups(&draft, table) }
            for index in table.droppedIndexes { discardIndex(&draft, source, index) }
            draft.pageWriter.discard(source)
        }
        for table in plan.droppedTables { discardTable(&draft, plan.old.tables[table], before.tableReference(table)) }
        draft.pageWriter.discard(old)
        return converted
    }

    private static func copyTable(
        _ draft: inout Draft, _ table: TableMigration, _ source: PageRef, _ reference: PageRef, _ succession: SchemaSuccession
    ) {
        guard let before = table.old else { return }
        let (from, to) = (TablePage(draft.chunks[source]), TablePage(draft.chunks[reference]))
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
    private static func rebuildGroups(_ draft: inout Draft, _ table: TableMigration) -> ConvertedTable {
        let columns = table.columns.enumerated().flatMap { slot, column in
            column.conversions.map { ConvertedColumn(slot: slot, conversion: $0) }
        }
        var converted = ConvertedTable(columns: columns)
        let sources = Set(columns.map(\.conversion.slot))
        let kinds = table.old?.columns ?? []
        let constants = draft.space.constants
        for index in 0..<draft.reader.groupCount(table.new.index) where draft.reader.rows(table.new.index).group(at: index) != nil {
            let reference = draft.pageWriter.slot(&draft.tableWriter.ownedTable(table.new.index).rows, index)
            let old = reference.pointee
            let page = draft.pageWriter.allocate(table.new.groupByteCount, .rowGroup)
            let (from, to) = (draft.chunks.group(old), draft.chunks.group(page))
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
                if sources.contains(slot) { converted.released.append((leaf, kinds[slot])) } else { discardLeaf(&draft, leaf, kinds[slot]) }
            }
            draft.pageWriter.discard(old)
        }
        return converted
    }

    // MARK: Releasing pages

    /// Releases a leaf, and the blobs (values of more than 255 bytes) to which its cells refer.
    static func discardLeaf(_ draft: inout Draft, _ page: PageRef, _ kind: ColumnKind) {
        if kind == .string, draft.chunks.birth(page) != 0 {
            let leaf = draft.chunks[page]
            for row in 0..<UInt32(PageLayout.fanOut) {
                let cell = StringLeaf(leaf).cell(row)
                if cell != 0, StringLeaf.isBlob(cell) { draft.tableWriter.discardBlob(StringLeaf(leaf).blob(cell).page) }
            }
        }
        draft.pageWriter.discard(page)
    }

    private static func discardTable(_ draft: inout Draft, _ table: TableLayout, _ page: PageRef) {
        let pointer = TablePage(draft.chunks[page])
        let rows = pointer.rows
        var next = 0
        while let index = rows.firstIndex(from: next, draft.chunks) {
            let group = rows.get(index, draft.chunks)
            for (slot, kind) in table.columns.enumerated() { discardLeaf(&draft, draft.chunks.group(group)[slot], kind) }
            draft.pageWriter.discard(group)
            next = index + 1
        }
        for vector in [rows, pointer.virtualPages, pointer.free] { draft.pageWriter.discard(vector) }
        for index in table.indexes { discardIndex(&draft, page, index.number) }
        draft.pageWriter.discard(page)
    }

    private static func discardIndex(_ draft: inout Draft, _ table: PageRef, _ index: Int) {
        draft.indexWriter.crowds = [:]
        let buckets = TablePage(draft.chunks[table]).index(index).directory
        var next = 0
        var last: PageRef = 0
        // Several slots of the directory may refer to the same bucket. These slots are consecutive, so a comparison with the last bucket
        // shows whether a bucket was already discarded.
        while let place = buckets.firstIndex(from: next, draft.chunks) {
            next = place + 1
            var bucket = buckets.get(place, draft.chunks)
            if bucket == last { continue }
            last = bucket
            var overflowCount = 0
            while bucket != 0 {
                draft.chunks.countOverflow(&overflowCount)
                let overflow = Bucket(draft.chunks[bucket]).overflow
                draft.pageWriter.discard(bucket)
                bucket = overflow
            }
        }
        draft.pageWriter.discard(buckets)
    }
}
