package import CambiumModel

/// Counts what the rows of an import changed.
package enum ImportOutcome {
    // MARK: Outcome

    /// Returns an empty set of rows for each table.
    package static func emptyRowSets(_ draft: borrowing Draft) -> [RowSet] {
        [RowSet](repeating: RowSet(), count: draft.layout.tables.count)
    }

    /// Returns the ids of an entity's objects, in ascending order. Omits objects that this draft inserted, and objects whose rows are in
    /// `mentioned`. `mentioned` has a set of rows for each table.
    package static func absent(_ draft: borrowing Draft, _ entity: Entity, mentioned: [RowSet]) -> [ObjectID] {
        guard let table = draft.layout.table(of: entity.root) else { return [] }
        let rows = draft.reader.rows(table.index)
        let firstNew = draft.base.reader.nextSerialOrOne(table.index, of: draft.base.layout)
        var serials: [UInt64] = []
        draft.reader.forEachRow(of: table) { row in
            guard !mentioned[table.index].contains(row), entity.family.contains(rows.entity(row, table)) else { return }
            if rows.serial(row) < firstNew { serials.append(rows.serial(row)) }
        }
        return serials.sorted().map { ObjectID(root: entity.root, serial: $0) }
    }

    /// Returns whether one of the rows in `mentioned` is an object of an entity or of its sub-entities. `mentioned` has a set of rows for
    /// each table. Complexity: O(rows of the entity's table in `mentioned`).
    package static func hasObject(_ draft: borrowing Draft, of entity: Entity, in mentioned: [RowSet]) -> Bool {
        guard let table = draft.layout.table(of: entity.root) else { return false }
        let rows = draft.reader.rows(table.index)
        var isFound = false
        mentioned[table.index].forEach { row in
            if !isFound, entity.family.contains(rows.entity(row, table)) { isFound = true }
        }
        return isFound
    }

    /// Returns the number of objects of each entity that deleting `ids` would delete, including cascades. Objects that this draft inserted
    /// do not count.
    package static func countDeleted(_ draft: borrowing Draft, _ ids: [ObjectID]) -> [EntityNumber: Int] {
        var counts: [EntityNumber: Int] = [:]
        for place in draft.closure(of: ids.compactMap { draft.place(of: $0) }) {
            let table = draft.layout.tables[Int(place.table)]
            let rows = draft.reader.rows(table.index)
            if rows.serial(place.row) < draft.base.reader.nextSerialOrOne(table.index, of: draft.base.layout) {
                counts[rows.entity(place.row, table), default: 0] += 1
            }
        }
        return counts
    }

    /// Counts the changed objects and the objects in `seen`, by entity and by their net change. `seen` has a set of rows for each table.
    ///
    /// - Parameter changed: The result of `restoreProvenance`, if nothing has changed since that call. With this result, the method need
    ///   not compare the objects again.
    package static func netCounts(_ draft: borrowing Draft, seen: [RowSet], changed: [RowSet]?) -> [EntityNumber: NetCounts] {
        guard let touched = draft.touched else { return [:] }
        // The counts are in an array, because a lookup in a dictionary for each row would take longer than all other work of this method.
        var counts = [NetCounts](repeating: NetCounts(), count: 1 + Int(draft.schema.entities.map(\.number.rawValue).max() ?? 0))
        for table in draft.layout.tables where table.root != nil {
            var all = seen[table.index]
            all.formUnion(touched.attributes[table.index])
            let ends = touchedEnds(draft, table, touched)
            for end in ends { all.formUnion(end.owners) }
            let rows = draft.reader.rows(table.index)
            let firstNew = draft.base.reader.nextSerialOrOne(table.index, of: draft.base.layout)
            let newCount = Int(draft.reader.nextSerial(table.index) - firstNew)
            let liveCountBefore = table.index < draft.base.layout.tables.count ? draft.base.reader.liveCount(table.index) : 0
            let hasDeleted = draft.reader.liveCount(table.index) < liveCountBefore + newCount
            let (known, isKnown) = (changed?[table.index] ?? RowSet(), changed != nil)
            all.forEach { row in
                if hasDeleted, !rows.isLive(row) { return }
                let entity = Int(rows.entity(row, table).rawValue)
                if entity >= counts.count { draft.reader.chunks.refuse("an object has no valid entity") }
                if rows.serial(row) >= firstNew {
                    if rows.isStub(row) {
                        counts[entity].stubs += 1
                    } else {
                        counts[entity].inserted += 1
                    }
                } else if isKnown ? known.contains(row) : isChanged(draft, table, row, touched, ends) {
                    counts[entity].updated += 1
                } else if seen[table.index].contains(row) {
                    counts[entity].unchanged += 1
                }
            }
        }
        var byEntity: [EntityNumber: NetCounts] = [:]
        for entity in draft.schema.entities {
            let count = counts[Int(entity.number.rawValue)]
            if count != NetCounts() { byEntity[entity.number] = count }
        }
        return byEntity
    }

    /// One end of a link, with the objects whose members at this end may have changed.
    private struct TouchedEnd {
        let end: EndLayout
        let owners: RowSet
        let hubs: [UInt32: HubChange]
    }

    /// Returns the ends of links at which the objects of a table have a relationship in the schema.
    private static func touchedEnds(_ draft: borrowing Draft, _ table: TableLayout, _ touched: TouchedRows) -> [TouchedEnd] {
        draft.layout.endsByTable[table.index].filter { draft.layout.marks[2 * $0.link + $0.end].isVisible }.map { end in
            TouchedEnd(end: end, owners: touched.ends[2 * end.link + end.end], hubs: hubs(draft, touched, end))
        }
    }

    private static func hubs(_ draft: borrowing Draft, _ touched: TouchedRows, _ end: EndLayout) -> [UInt32: HubChange] {
        let link = draft.schema.links[end.link]
        guard (end.end == 0 ? link.first : link.second).isToMany else { return [:] }
        var owners: [UInt32] = []
        touched.ends[2 * end.link + end.end].forEach { owners.append($0) }
        return draft.derivation.hubs(among: owners, end, sides: link.isSymmetric ? [0, 1] : [end.end])
    }

    private static func isChanged(
        _ draft: borrowing Draft, _ table: TableLayout, _ row: UInt32, _ touched: TouchedRows, _ ends: [TouchedEnd]
    ) -> Bool {
        if touched.attributes[table.index].contains(row) {
            let rows = draft.reader.rows(table.index)
            let before = draft.base.reader.rows(table.index)
            if rows.isStub(row) != before.isStub(row) { return true }
            let attributes = draft.schema.entity(rows.entity(row, table))?.attributes ?? []
            if attributes.contains(where: { !$0.isDerived && !OpDerivation.isUnchanged($0, table, row, rows, before) }) { return true }
        }
        for touchedEnd in ends where touchedEnd.owners.contains(row) {
            let end = touchedEnd.end
            if let hub = touchedEnd.hubs[row] {
                if draft.derivation.isChanged(hub, end) { return true }
                continue
            }
            var before: [UInt32] = []
            var after: [UInt32] = []
            draft.base.reader.forEachMember(end, owner: row) { before.append($0) }
            draft.reader.forEachMember(end, owner: row) { after.append($0) }
            let definition = draft.schema.links[end.link]
            if !(end.end == 0 ? definition.first : definition.second).isOrdered {
                before.sort()
                after.sort()
            }
            if before != after { return true }
        }
        return false
    }

    // MARK: Provenance

    /// For each object that the import changed and then changed back, restores the number of the transaction that last changed it before
    /// the import. The log has no op for such an object, so a replay keeps this number, too.
    ///
    /// Returns the objects of the original graph that still differ in the draft, as a set of rows for each table. No object may have been
    /// deleted since `trackChanges`. Complexity: O(changed objects and their members).
    package static func restoreProvenance(_ draft: inout Draft) -> [RowSet] {
        var changed = emptyRowSets(draft)
        guard let touched = draft.touched else { return changed }
        for table in draft.layout.tables where table.root != nil {
            for (row, number) in changedBack(draft, table, touched, &changed[table.index]) {
                draft.tableWriter.setProvenance(table.index, row, TableLayout.changedSlot, to: number)
            }
        }
        return changed
    }

    /// Returns the rows of the original graph that were changed and then changed back. With each row, returns the transaction that last
    /// changed it in the original graph. Adds the rows that differ from the original graph to `changed`.
    private static func changedBack(
        _ draft: borrowing Draft, _ table: TableLayout, _ touched: TouchedRows, _ changed: inout RowSet
    ) -> [(row: UInt32, number: UInt64)] {
        // If the original graph has no object, as before a first import, the new objects need not be searched.
        guard table.index < draft.base.layout.tables.count, draft.base.reader.liveCount(table.index) > 0 else { return [] }
        let ends = touchedEnds(draft, table, touched)
        var all = touched.attributes[table.index]
        for end in ends { all.formUnion(end.owners) }
        let rows = draft.reader.rows(table.index)
        let before = draft.base.reader.rows(table.index)
        var found: [(row: UInt32, number: UInt64)] = []
        all.forEach { row in
            if !before.isLive(row) { return }
            if isChanged(draft, table, row, touched, ends) {
                changed.insert(row)
                return
            }
            let number = before.provenance(row, TableLayout.changedSlot)
            if rows.provenance(row, TableLayout.changedSlot) != number { found.append((row, number)) }
        }
        return found
    }
}

/// The numbers of objects by their net change.
package struct NetCounts: Equatable {
    package var inserted = 0
    package var updated = 0
    package var unchanged = 0
    package var stubs = 0

    package init() {}
}
