package import CambiumModel

/// Keeps derived attributes up to date. A change records the objects that it affects, and the values are computed at the end of the
/// transaction. See Docs/Use/DERIVED.md.
extension DerivedNotes {
    // MARK: Notes

    /// Records that every derived attribute of an object must be computed.
    @inline(never)
    static func trackDerived(_ draft: inout Draft, ofObject table: Int, _ row: UInt32) {
        for column in draft.layout.derived.ofTable[table] { draft.derived.trackObject(column, row, of: draft.layout.derived.columns.count) }
    }

    /// Records that the members of an object at one end of a link changed. The derived attributes that depend on these members must be
    /// computed again.
    @inline(never)
    static func trackDerived(_ draft: inout Draft, _ link: Int, _ end: Int, _ row: UInt32) {
        for column in draft.layout.derived.ofEnd[2 * link + end] {
            draft.derived.trackObject(column, row, of: draft.layout.derived.columns.count)
        }
    }

    /// Records that a value changed. The derived attributes that depend on this value must be computed again.
    @inline(never)
    static func trackDerived(_ draft: inout Draft, from table: Int, _ slot: Int, _ row: UInt32) {
        for column in draft.layout.derived.readingTable[table] where column.source?.slot == slot {
            if column.members == nil {
                draft.derived.trackObject(column, row, of: draft.layout.derived.columns.count)
            } else {
                draft.derived.trackSource(column, row, of: draft.layout.derived.columns.count)
            }
        }
    }

    /// Records that every derived attribute of every object must be computed. Complexity: O(objects).
    static func trackAllDerived(_ draft: inout Draft) {
        draft.derived = DerivedNotes()
        for (table, columns) in draft.layout.derived.ofTable.enumerated() where !columns.isEmpty {
            let reader = draft.reader
            reader.forEachRow(of: draft.layout.tables[table]) { trackDerived(&draft, ofObject: table, $0) }
        }
    }

    // MARK: Values

    /// Computes the derived attributes that the changes since the last call affect. Every transaction calls this method at its end, and so
    /// does the replay of a transaction.
    ///
    /// Complexity: O(affected objects x log objects + changed members). The members of some objects are all read: of objects with few
    /// members or without a complete index of their members, and in many-to-many relationships.
    ///
    /// - Throws: `.limitExceeded` if an attribute cannot hold a value, or if the graph has too few pages. After this error, the draft
    ///   cannot be published.
    package static func updateDerived(_ draft: inout Draft) throws(CambiumError) {
        if draft.derived.isEmpty { return }
        let notes = draft.derived
        for column in draft.layout.derived.columns {
            var objects = notes.objects(column)
            if let owners = column.owners {
                let reader = draft.reader
                for row in notes.sources(column).elements where draft.isLive(ObjectPlace(table: column.source?.table ?? 0, row: row)) {
                    reader.forEachMember(owners, owner: row) { objects.insert($0) }
                }
            }
            let rows = objects.elements.filter { draft.isLive(ObjectPlace(table: column.table, row: $0)) && hasDerived(draft, column, $0) }
            var changes = rows.isEmpty ? nil : MemberChanges(column, of: rows, in: draft)
            for row in rows { try updateDerived(&draft, column, row, &changes) }
            draft.derivedWork += changes?.work ?? 0
            draft.replayWork += (changes?.work ?? 0) * ReplayWork.derivedMember
        }
        draft.derived = DerivedNotes()
    }

    private static func updateDerived(
        _ draft: inout Draft, _ column: DerivedColumn, _ row: UInt32, _ changes: inout MemberChanges?
    ) throws(CambiumError) {
        let table = draft.layout.tables[column.table]
        let found = changes?.value(of: row)
        let readCount = found == nil ? readMemberCount(draft, column, row) : 0
        draft.derivedWork += readCount
        draft.replayWork += ReplayWork.derivedValue + readCount * ReplayWork.derivedMember
        let (value, exact) = try derivedValue(draft, column, row, found)
        let cell = try StoredCell(value, column.attribute)
        let isExactStored = exact.withCell { cell in
            column.exactSlot.map { draft.reader.rows(column.table).equals(row, $0, .string, cell) } ?? true
        }
        if let slot = column.exactSlot, !isExactStored {
            try CapacityCheck.check(draft, forStoring: exact, leaving: 0, "the values of '\(column.attribute.name)' need more pages")
            exact.withCell { draft.tableWriter.store(column.table, row, slot, .string, $0) }
        }
        if cell.withCell({ draft.reader.rows(column.table).equals(row, column.slot, column.kind, $0) }) { return }
        try CapacityCheck.check(draft, forStoring: cell, leaving: 0, "the values of '\(column.attribute.name)' need more pages")
        let indexes = table.indexesOfSlot[column.slot]
        for index in indexes { draft.removeFromIndex(table, table.indexes[index], row) }
        cell.withCell { draft.tableWriter.store(column.table, row, column.slot, column.kind, $0) }
        for index in indexes { draft.addToIndex(table, table.indexes[index], row) }
        draft.tableWriter.setProvenance(column.table, row, TableLayout.changedSlot)
    }

    /// Returns the number of members that `derivedValue` reads.
    private static func readMemberCount(_ draft: borrowing Draft, _ column: DerivedColumn, _ row: UInt32) -> Int {
        guard let members = column.members, column.function != .count else { return 0 }
        return draft.reader.memberCount(members, owner: row)
    }

    private static func hasDerived(_ draft: borrowing Draft, _ column: DerivedColumn, _ row: UInt32) -> Bool {
        column.coversTable || column.family.contains(draft.reader.rows(column.table).entity(row, draft.layout.tables[column.table]))
    }

    /// Returns the value of a derived attribute, and the exact sum to store with it.
    ///
    /// - Parameter found: The value, if it is known without reading all members.
    private static func derivedValue(
        _ draft: borrowing Draft, _ column: DerivedColumn, _ row: UInt32, _ found: DerivedValue?
    ) throws(CambiumError) -> (Value, exact: StoredCell) {
        do {
            let derived = try found ?? draft.reader.readAll(column, row)
            return (try draft.reader.value(derived, column), draft.reader.exactCell(derived, column, row))
        } catch {
            let object = draft.text(ObjectPlace(table: column.table, row: row))
            throw CambiumError(
                .limitExceeded,
                "\(object): the value of '\(column.attribute.name)' does not fit into the type \(column.attribute.type.rawValue). "
                    + "Change the values that it is derived from.")
        }
    }

    /// Returns the value that a derived attribute of an object has after the changes so far. Returns `nil` if this value is already stored.
    static func pendingValue(_ draft: borrowing Draft, of attribute: Attribute, at place: ObjectPlace) -> Value? {
        guard attribute.isDerived, !draft.derived.isEmpty else { return nil }
        // The attribute may belong to another schema, such as the schema before a migration. So the comparison uses numbers and names.
        let column = draft.layout.derived.ofTable[Int(place.table)].first {
            $0.attribute.number == attribute.number && $0.attribute.root == attribute.root
                && $0.attribute.schemaName.isSame(as: attribute.schemaName)
        }
        guard let column, hasDerived(draft, column, place.row) else { return nil }
        var changes = MemberChanges(column, of: [place.row], in: draft)
        // An error means that the attribute cannot hold the value. The end of the transaction reports this error.
        if let value = changes?.value(of: place.row) { return try? draft.reader.value(value, column) }
        return try? draft.reader.derivedValue(column, place.row)
    }
}
