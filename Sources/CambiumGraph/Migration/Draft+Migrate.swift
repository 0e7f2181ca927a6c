import CambiumModel
import Glibc

extension Draft {
    /// Changes the schema of a graph that already has a schema. This method is algorithm 1 of the schema op. Docs/Use/MIGRATION.md states
    /// the
    /// rules.
    ///
    /// - Throws: `.invalidInput` for a change that a migration cannot make by itself, or if the draft has already changed objects.
    ///   `.ruleViolated` if an entity that has objects would become abstract. `.limitExceeded` if there may be too few pages.
    mutating func migrate(to newLayout: GraphLayout) throws(CambiumError) {
        guard pending.isEmpty, touched == nil else {
            throw CambiumError(.invalidInput, "A transaction must change the schema before it changes objects.")
        }
        let plan = try MigrationPlan(from: layout, to: newLayout)
        for entity in newLayout.schema.entities where entity.isAbstract {
            guard let table = layout.table(of: entity.root), let before = plan.succession.entity(before: entity.number) else { continue }
            let count = reader.count(of: before.number, in: table)
            if count > 0 {
                throw CambiumError(
                    .ruleViolated,
                    "'\(entity.name)' cannot become abstract while objects of exactly this entity exist: \(count). Delete them first.")
            }
        }
        try checkCapacity(forMigrating: plan.rebuiltGroupCount(reader), adding: addedByteCount(plan))
        replayWork += migrationWork(plan)
        leaveOldEntities(plan)
        let members = plan.links.indices.map { collectMembers(ofLink: $0, plan) }
        let converted = rebuild(plan)
        if !pending.isOff { noteNarrowed(members, plan) }
        for (table, columns) in zip(plan.tables, converted) { try setValues(table, columns) }
        for (link, members) in members.enumerated() { if let members { relink(link, members) } }
        for table in plan.tables {
            for (number, index) in table.indexes.enumerated() where index == nil && table.new.root != nil {
                buildIndex(table.new, table.new.indexes[number])
            }
        }
        // `derived` refers to columns of the old layout, so it is cleared. `derived` is not empty if objects lost links, for example. In
        // this case, or if the migration may change derived values, all derived attributes are computed.
        let isChanged = !derived.isEmpty || plan.mayChangeDerived
        derived = DerivedNotes()
        if isChanged { noteAllDerived() }
        pending.migration = plan.checks
    }

    /// Accepts the nearest value where a migration in this transaction has converted a value that has no exact equivalent.
    package mutating func acceptNearestValues() { pending.migration?.acceptsNearest = true }

    /// Returns the work of rebuilding rows and of building hash indexes.
    private func migrationWork(_ plan: MigrationPlan) -> Int {
        var groupCount = plan.rebuiltGroupCount(reader)
        for table in plan.tables where table.new.root != nil {
            guard let before = table.old else { continue }
            groupCount += table.indexes.count { $0 == nil } * reader.groupCount(before.index)
        }
        return groupCount * PageLayout.fanOut * ReplayWork.migratedRow
    }

    /// Returns the approximate maximum number of bytes that a migration adds for edges and for entries in hash indexes.
    private func addedByteCount(_ plan: MigrationPlan) -> Int {
        let reader = reader
        var (edgeCount, entryCount) = (0, 0)
        for (link, source) in zip(plan.new.links, plan.links) {
            guard case .edges = link, let old = source.old, !source.isKept else { continue }
            let end = layout.end(old, source.isSwapped ? 1 : 0)
            reader.forEachRow(of: layout.tables[layout.startTable(end)]) { edgeCount += reader.memberCount(end, owner: $0) }
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
    private mutating func leaveOldEntities(_ plan: MigrationPlan) {
        let kept = Set(plan.links.compactMap(\.old))
        clearDroppedTargets(kept, plan)
        for table in layout.tables where table.root != nil {
            let dying = plan.dyingEntities(ofTable: table.index)
            if dying.isEmpty { continue }
            let ends = layout.endsByTable[table.index].filter { kept.contains($0.link) }
            for row in liveRows(of: table, dying) {
                let place = ObjectPlace(table: table.index, row: row)
                unlinkAll(place, ends)
                erase(place)
            }
        }
        for (end, entities) in plan.lostEnds {
            for row in liveRows(of: layout.tables[layout.startTable(end)], entities) { unlinkAll(end, row) }
        }
        translatePending(plan)
    }

    /// Removes the targets of dying objects in dropped relationships that are in a unique set. After the targets are deleted, the keys of
    /// the objects in the index could no longer be read.
    private mutating func clearDroppedTargets(_ kept: Set<Int>, _ plan: MigrationPlan) {
        for table in layout.tables where table.hasIndexedLinks {
            let ends = layout.endsByTable[table.index].filter { !kept.contains($0.link) && layout.isIndexed($0) }
            let dying = plan.dyingEntities(ofTable: table.index)
            if ends.isEmpty || dying.isEmpty { continue }
            for row in liveRows(of: table, dying) {
                for end in ends { if let slot = end.target?.slot { setTarget(table.index, row, slot, noRow) } }
            }
        }
    }

    /// Returns the rows of some entities, ascending.
    private func liveRows(of table: TableLayout, _ entities: Set<EntityNumber>) -> [UInt32] {
        let rows = reader.rows(table.index)
        var found: [UInt32] = []
        reader.forEachRow(of: table) { if entities.contains(rows.entity($0, table)) { found.append($0) } }
        return found
    }

    /// Translates the pending checks to the new layout. The objects keep their rows, but their tables get other numbers.
    private mutating func translatePending(_ plan: MigrationPlan) {
        let numbers = Dictionary(
            plan.tables.compactMap { table in table.old.map { ($0.index, table.new.index) } }, uniquingKeysWith: { first, _ in first })
        let (noted, isOff) = (pending.objects, pending.isOff)
        pending = PendingChecks()
        // If the checks were off, as in a replay, they stay off.
        pending.isOff = isOff
        for place in noted { if let table = numbers[Int(place.table)] { pending.noteObject(table, place.row) } }
    }

    // MARK: Values

    /// Converts, fills or clears the values that the migration changes in a table. Throws `.limitExceeded` if defaults need too many pages.
    private mutating func setValues(_ table: TableMigration, _ converted: ConvertedTable) throws(CambiumError) {
        for (slot, column) in table.columns.enumerated() {
            if let entities = column.entities { try setEntities(table.new, slot, entities) }
        }
        for column in converted.columns { convert(table, column) }
        for (leaf, kind) in converted.released { discardLeaf(leaf, kind) }
        for (slot, column) in table.columns.enumerated() {
            guard column.filler != nil || !column.clearedEntities.isEmpty else { continue }
            let kind = table.new.columns[slot]
            try forEachLiveRow(of: table.new) { draft, row throws(CambiumError) in
                let rows = draft.reader.rows(table.new.index)
                let entity = rows.entity(row, table.new)
                let isNull = rows.isNull(row, slot, kind)
                if !isNull, column.clearedEntities.contains(entity) { draft.tableWriter.store(table.new.index, row, slot, kind, .null) }
                if let filler = column.filler, isNull, !rows.isStub(row), column.filledEntities.contains(entity) {
                    let reserve = draft.space.capacity.reserveChunkCount
                    try draft.checkCapacity(forStoring: filler, leaving: reserve, "the defaults of the new schema need more pages")
                    filler.withCell { draft.tableWriter.store(table.new.index, row, slot, kind, $0) }
                }
            }
        }
    }

    private mutating func setEntities(
        _ table: TableLayout, _ slot: Int, _ entities: ColumnMigration.Entities
    ) throws(CambiumError) {
        try forEachLiveRow(of: table) { draft, row throws(CambiumError) in
            switch entities {
            case .only(let entity): draft.tableWriter.setFixed(table.index, row, slot, entity.rawValue)
            case .renumbered(let numbers):
                guard let number = numbers[draft.reader.rows(table.index).entity(row, table)] else { return }
                draft.tableWriter.setFixed(table.index, row, slot, number.rawValue)
            }
        }
    }

    private mutating func forEachLiveRow(
        of table: TableLayout, _ body: (inout Draft, UInt32) throws(CambiumError) -> Void
    ) throws(CambiumError) {
        for index in 0..<reader.groupCount(table.index) {
            guard let group = reader.rows(table.index).group(at: index) else { continue }
            for half in 0..<PageLayout.fanOut / 64 {
                var bits = group.live.word(half)
                while bits != 0 {
                    try body(&self, UInt32(index << PageLayout.fanOutShift + half << 6 + bits.trailingZeroBitCount))
                    bits &= bits - 1
                }
            }
        }
    }

    /// Writes the values of old leaves to another column.
    private mutating func convert(_ table: TableMigration, _ column: ConvertedColumn) {
        let (from, to) = (column.conversion.from, column.conversion.to)
        let oldKind = from.byteCount.map { ColumnKind.fixed(width: $0) } ?? .string
        let kind = table.new.columns[column.slot]
        for (group, page) in column.leaves {
            for place in 0..<UInt32(PageLayout.fanOut) {
                let row = group << PageLayout.rowShift | place
                if let entities = column.conversion.entities {
                    let rows = reader.rows(table.new.index)
                    guard rows.isLive(row), entities.contains(rows.entity(row, table.new)) else { continue }
                }
                guard let value = oldValue(page, row, oldKind, from), let converted = from.converted(value, to: to),
                    let form = StoredForm(converted, type: to)
                else { continue }
                switch form {
                case .fixed(let low, let high): tableWriter.store(table.new.index, row, column.slot, kind, .fixed(low, high))
                case .bytes(let bytes): bytes.withUnsafeBytes { tableWriter.store(table.new.index, row, column.slot, kind, .bytes($0)) }
                }
            }
        }
    }

    private func oldValue(_ page: PageRef, _ row: UInt32, _ kind: ColumnKind, _ type: AttributeType) -> Value? {
        let leaf = chunks[page]
        guard case .fixed(let width) = kind else {
            let cell = StringLeaf(leaf).cell(row)
            if cell == 0 { return nil }
            let bytes =
                StringLeaf.isBlob(cell) ? Blob.bytes(StringLeaf(leaf).blob(cell).page, chunks) : [UInt8](StringLeaf(leaf).inlineBytes(cell))
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
    private mutating func buildIndex(_ table: TableLayout, _ index: IndexLayout) {
        var entries: [UInt64] = []
        var other: [UInt64] = []
        let groupCount = reader.groupCount(table.index)
        var first = 0
        while first < groupCount {
            let end = min(first + Self.batchPageCount, groupCount)
            entries.removeAll(keepingCapacity: true)
            let reader = reader
            let rows = reader.rows(table.index)
            reader.forEachRow(of: table, groups: first..<end) { row in
                guard index.coversTable || index.family.contains(rows.entity(row, table)), let hash = reader.keyHash(index, rows, row)
                else { return }
                entries.append(hash & IndexWriter.hashMask | UInt64(row))
            }
            first = end
            addEntries(table, index, &entries, &other, isUnique: false)
        }
    }
}
