import CambiumModel
import Glibc

/// Changes the schema of a graph that has objects.
enum Migrator {
    /// Changes the schema of a graph that already has a schema. This method is algorithm 1 of the schema op. Docs/Use/MIGRATION.md states
    /// the rules.
    ///
    /// - Throws: `.invalidInput` for a change that a migration cannot make by itself, or if the draft has already changed objects.
    ///   `.ruleViolated` if an entity that has objects would become abstract. `.limitExceeded` if there may be too few pages.
    static func migrate(_ draft: inout Draft, to newLayout: GraphLayout) throws(CambiumError) {
        guard draft.pending.isEmpty, draft.touched == nil else {
            throw CambiumError(.invalidInput, "A transaction must change the schema before it changes objects.")
        }
        let plan = try MigrationPlan(from: draft.layout, to: newLayout)
        for entity in newLayout.schema.entities where entity.isAbstract {
            guard let table = draft.layout.table(of: entity.root), let before = plan.succession.entity(before: entity.number) else {
                continue
            }
            let count = draft.reader.count(of: before.number, in: table)
            if count > 0 {
                throw CambiumError(
                    .ruleViolated,
                    "'\(entity.name)' cannot become abstract while objects of exactly this entity exist: \(count). Delete them first.")
            }
        }
        try CapacityCheck.check(draft, forMigrating: plan.rebuiltGroupCount(draft.reader), adding: addedByteCount(draft, plan))
        draft.replayWork += migrationWork(draft, plan)
        leaveOldEntities(&draft, plan)
        let members = plan.links.indices.map { collectMembers(draft, ofLink: $0, plan) }
        let converted = rebuild(&draft, plan)
        if !draft.pending.isOff { trackNarrowed(draft, members, plan) }
        for (table, columns) in zip(plan.tables, converted) { try setValues(&draft, table, columns) }
        for (link, members) in members.enumerated() { if let members { relink(&draft, link, members) } }
        for table in plan.tables {
            for (number, index) in table.indexes.enumerated() where index == nil && table.new.root != nil {
                buildIndex(&draft, table.new, table.new.indexes[number])
            }
        }
        // `derived` refers to columns of the old layout, so it is cleared. `derived` is not empty if objects lost links, for example. In
        // this case, or if the migration may change derived values, all derived attributes are computed.
        let isChanged = !draft.derived.isEmpty || plan.mayChangeDerived
        draft.derived = DerivedNotes()
        if isChanged { DerivedNotes.trackAllDerived(&draft) }
        draft.pending.migration = plan.checks
    }

    /// Returns the work of rebuilding rows and of building hash indexes.
    private static func migrationWork(_ draft: borrowing Draft, _ plan: MigrationPlan) -> Int {
        var groupCount = plan.rebuiltGroupCount(draft.reader)
        for table in plan.tables where table.new.root != nil {
            guard let before = table.old else { continue }
            groupCount += table.indexes.count { $0 == nil } * draft.reader.groupCount(before.index)
        }
        return groupCount * PageLayout.fanOut * ReplayWork.migratedRow
    }

    /// Returns the approximate maximum number of bytes that a migration adds for edges and for entries in hash indexes.
    private static func addedByteCount(_ draft: borrowing Draft, _ plan: MigrationPlan) -> Int {
        let reader = draft.reader
        var (edgeCount, entryCount) = (0, 0)
        for (link, source) in zip(plan.new.links, plan.links) {
            guard case .edges = link, let old = source.old, !source.isKept else { continue }
            let end = draft.layout.end(old, source.isSwapped ? 1 : 0)
            reader.forEachRow(of: draft.layout.tables[draft.layout.startTable(end)]) { edgeCount += reader.memberCount(end, owner: $0) }
        }
        for table in plan.tables where table.new.root != nil {
            guard let before = table.old else { continue }
            entryCount += table.indexes.count { $0 == nil } * reader.groupCount(before.index) * PageLayout.fanOut
        }
        // An edge takes 8 bytes for its objects, at most 32 bytes for its places in two lists, and an entry in an index. An entry takes 8
        // bytes, and buckets are at least half full.
        return edgeCount * (8 + 32 + 16) + entryCount * 16
    }

    // MARK: Removed objects and links

    /// Deletes the objects of dropped entities. If a remaining entity loses a relationship, removes the links of its objects in this
    /// relationship.
    private static func leaveOldEntities(_ draft: inout Draft, _ plan: MigrationPlan) {
        let kept = Set(plan.links.compactMap(\.old))
        clearDroppedTargets(&draft, kept, plan)
        for table in draft.layout.tables where table.root != nil {
            let dying = plan.dyingEntities(ofTable: table.index)
            if dying.isEmpty { continue }
            let ends = draft.layout.endsByTable[table.index].filter { kept.contains($0.link) }
            for row in liveRows(draft, of: table, dying) {
                let place = ObjectPlace(table: table.index, row: row)
                draft.unlinkAll(place, ends)
                draft.erase(place)
            }
        }
        for (end, entities) in plan.lostEnds {
            for row in liveRows(draft, of: draft.layout.tables[draft.layout.startTable(end)], entities) { draft.unlinkAll(end, row) }
        }
        translatePending(&draft, plan)
    }

    /// Removes the targets of dying objects in dropped relationships that are in a unique set. After the targets are deleted, the keys of
    /// the objects in the index could no longer be read.
    private static func clearDroppedTargets(_ draft: inout Draft, _ kept: Set<Int>, _ plan: MigrationPlan) {
        for table in draft.layout.tables where table.hasIndexedLinks {
            let ends = draft.layout.endsByTable[table.index].filter { !kept.contains($0.link) && draft.layout.isIndexed($0) }
            let dying = plan.dyingEntities(ofTable: table.index)
            if ends.isEmpty || dying.isEmpty { continue }
            for row in liveRows(draft, of: table, dying) {
                for end in ends { if let slot = end.target?.slot { draft.setTarget(table.index, row, slot, noRow) } }
            }
        }
    }

    /// Returns the rows of some entities, ascending.
    private static func liveRows(_ draft: borrowing Draft, of table: TableLayout, _ entities: Set<EntityNumber>) -> [UInt32] {
        let rows = draft.reader.rows(table.index)
        var found: [UInt32] = []
        draft.reader.forEachRow(of: table) { if entities.contains(rows.entity($0, table)) { found.append($0) } }
        return found
    }

    /// Translates the pending checks to the new layout. The objects keep their rows, but their tables get other numbers.
    private static func translatePending(_ draft: inout Draft, _ plan: MigrationPlan) {
        let numbers = Dictionary(
            plan.tables.compactMap { table in table.old.map { ($0.index, table.new.index) } }, uniquingKeysWith: { first, _ in first })
        let (noted, isOff) = (draft.pending.objects, draft.pending.isOff)
        draft.pending = PendingChecks()
        // If the checks were off, as in a replay, they stay off.
        draft.pending.isOff = isOff
        for place in noted { if let table = numbers[Int(place.table)] { draft.pending.trackObject(table, place.row) } }
    }

    // MARK: Values

    /// Converts, fills or clears the values that the migration changes in a table. Throws `.limitExceeded` if defaults need too many pages.
    private static func setValues(_ draft: inout Draft, _ table: TableMigration, _ converted: ConvertedTable) throws(CambiumError) {
        for (slot, column) in table.columns.enumerated() {
            if let entities = column.entities { try setEntities(&draft, table.new, slot, entities) }
        }
        for column in converted.columns { convert(&draft, table, column) }
        for (leaf, kind) in converted.released { discardLeaf(&draft, leaf, kind) }
        for (slot, column) in table.columns.enumerated() {
            guard column.filler != nil || !column.clearedEntities.isEmpty else { continue }
            let kind = table.new.columns[slot]
            try forEachLiveRow(&draft, of: table.new) { draft, row throws(CambiumError) in
                let rows = draft.reader.rows(table.new.index)
                let entity = rows.entity(row, table.new)
                let isNull = rows.isNull(row, slot, kind)
                if !isNull, column.clearedEntities.contains(entity) { draft.tableWriter.store(table.new.index, row, slot, kind, .null) }
                if let filler = column.filler, isNull, !rows.isStub(row), column.filledEntities.contains(entity) {
                    let reserve = draft.space.capacity.reserveChunkCount
                    try CapacityCheck.check(draft, forStoring: filler, leaving: reserve, "the defaults of the new schema need more pages")
                    filler.withCell { draft.tableWriter.store(table.new.index, row, slot, kind, $0) }
                }
            }
        }
    }

    private static func setEntities(
        _ draft: inout Draft, _ table: TableLayout, _ slot: Int, _ entities: ColumnMigration.Entities
    ) throws(CambiumError) {
        try forEachLiveRow(&draft, of: table) { draft, row throws(CambiumError) in
            switch entities {
            case .only(let entity): draft.tableWriter.setFixed(table.index, row, slot, entity.rawValue)
            case .renumbered(let numbers):
                guard let number = numbers[draft.reader.rows(table.index).entity(row, table)] else { return }
                draft.tableWriter.setFixed(table.index, row, slot, number.rawValue)
            }
        }
    }

    private static func forEachLiveRow(
        _ draft: inout Draft, of table: TableLayout, _ body: (inout Draft, UInt32) throws(CambiumError) -> Void
    ) throws(CambiumError) {
        for index in 0..<draft.reader.groupCount(table.index) {
            guard let group = draft.reader.rows(table.index).group(at: index) else { continue }
            for half in 0..<PageLayout.fanOut / 64 {
                var bits = group.live.word(half)
                while bits != 0 {
                    try body(&draft, UInt32(index << PageLayout.fanOutShift + half << 6 + bits.trailingZeroBitCount))
                    bits &= bits - 1
                }
            }
        }
    }

    /// Writes the values of old leaves to another column.
    private static func convert(_ draft: inout Draft, _ table: TableMigration, _ column: ConvertedColumn) {
        let (from, to) = (column.conversion.from, column.conversion.to)
        let oldKind = from.byteCount.map { ColumnKind.fixed(width: $0) } ?? .string
        let kind = table.new.columns[column.slot]
        for (group, page) in column.leaves {
            for place in 0..<UInt32(PageLayout.fanOut) {
                let row = group << PageLayout.rowShift | place
                if let entities = column.conversion.entities {
                    let rows = draft.reader.rows(table.new.index)
                    guard rows.isLive(row), entities.contains(rows.entity(row, table.new)) else { continue }
                }
                guard let value = oldValue(draft, page, row, oldKind, from), let converted = from.converted(value, to: to),
                    let form = StoredForm(converted, type: to)
                else { continue }
                switch form {
                case .fixed(let low, let high): draft.tableWriter.store(table.new.index, row, column.slot, kind, .fixed(low, high))
                case .bytes(let bytes):
                    bytes.withUnsafeBytes { draft.tableWriter.store(table.new.index, row, column.slot, kind, .bytes($0)) }
                }
            }
        }
    }

    private static func oldValue(
        _ draft: borrowing Draft, _ page: PageRef, _ row: UInt32, _ kind: ColumnKind, _ type: AttributeType
    ) -> Value? {
        let leaf = draft.chunks[page]
        guard case .fixed(let width) = kind else {
            let cell = StringLeaf(leaf).cell(row)
            if cell == 0 { return nil }
            let bytes =
                StringLeaf.isBlob(cell)
                ? Blob.bytes(StringLeaf(leaf).blob(cell).page, draft.chunks) : [UInt8](StringLeaf(leaf).inlineBytes(cell))
            return Value(stored: .bytes(bytes), type: type)
        }
        guard FixedLeaf(leaf).isPresent(row) else { return nil }
        var bits = SIMD2<UInt64>(0, 0)
        withUnsafeMutableBytes(of: &bits) { target in
            // SAFETY: a value of fixed width takes at most 16 bytes. The leaf has `width` bytes for each row.
            target.copyMemory(
                from: UnsafeRawBufferPointer(
                    start: FixedLeaf(leaf).address(row, width: width), count: min(width, 16)))
        }
        return Value(stored: .fixed(bits.x, bits.y), type: type)
    }

    // MARK: Indexes

    /// Adds every row of a table to an empty index.
    private static func buildIndex(_ draft: inout Draft, _ table: TableLayout, _ index: IndexLayout) {
        var entries: [UInt64] = []
        var other: [UInt64] = []
        let groupCount = draft.reader.groupCount(table.index)
        var first = 0
        while first < groupCount {
            let end = min(first + Draft.batchPageCount, groupCount)
            entries.removeAll(keepingCapacity: true)
            let reader = draft.reader
            let rows = reader.rows(table.index)
            reader.forEachRow(of: table, groups: first..<end) { row in
                guard index.coversTable || index.family.contains(rows.entity(row, table)), let hash = reader.keyHash(index, rows, row)
                else { return }
                entries.append(hash & IndexWriter.hashMask | UInt64(row))
            }
            first = end
            draft.addEntries(table, index, &entries, &other, isUnique: false)
        }
    }
}
