package import CambiumModel

/// Keeps derived attributes up to date. A change records the objects that it affects, and the values are computed at the end of the
/// transaction. See Docs/Use/DERIVED.md.
extension Draft {
    // MARK: Notes

    /// Records that every derived attribute of an object must be computed.
    @inline(never)
    mutating func noteDerived(ofObject table: Int, _ row: UInt32) {
        for column in layout.derived.ofTable[table] { derived.noteObject(column, row, of: layout.derived.columns.count) }
    }

    /// Records that the members of an object at one end of a link changed. The derived attributes that depend on these members must be
    /// computed again.
    @inline(never)
    mutating func noteDerived(_ link: Int, _ end: Int, _ row: UInt32) {
        for column in layout.derived.ofEnd[2 * link + end] { derived.noteObject(column, row, of: layout.derived.columns.count) }
    }

    /// Records that a value changed. The derived attributes that depend on this value must be computed again.
    @inline(never)
    mutating func noteDerived(from table: Int, _ slot: Int, _ row: UInt32) {
        for column in layout.derived.readingTable[table] where column.source?.slot == slot {
            if column.members == nil {
                derived.noteObject(column, row, of: layout.derived.columns.count)
            } else {
                derived.noteSource(column, row, of: layout.derived.columns.count)
            }
        }
    }

    /// Records that every derived attribute of every object must be computed. Complexity: O(objects).
    mutating func noteAllDerived() {
        derived = DerivedNotes()
        for (table, columns) in layout.derived.ofTable.enumerated() where !columns.isEmpty {
            let reader = reader
            reader.forEachRow(of: layout.tables[table]) { noteDerived(ofObject: table, $0) }
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
    package mutating func updateDerived() throws(CambiumError) {
        if derived.isEmpty { return }
        let notes = derived
        for column in layout.derived.columns {
            var objects = notes.objects(column)
            if let owners = column.owners {
                let reader = reader
                for row in notes.sources(column).elements where isLive(ObjectPlace(table: column.source?.table ?? 0, row: row)) {
                    reader.forEachMember(owners, owner: row) { objects.insert($0) }
                }
            }
            let rows = objects.elements.filter { isLive(ObjectPlace(table: column.table, row: $0)) && hasDerived(column, $0) }
            var changes = rows.isEmpty ? nil : MemberChanges(column, of: rows, in: self)
            for row in rows { try updateDerived(column, row, &changes) }
            derivedWork += changes?.work ?? 0
            replayWork += (changes?.work ?? 0) * ReplayWork.derivedMember
        }
        derived = DerivedNotes()
    }

    private mutating func updateDerived(_ column: DerivedColumn, _ row: UInt32, _ changes: inout MemberChanges?) throws(CambiumError) {
        let table = layout.tables[column.table]
        let found = changes?.value(of: row)
        let readCount = found == nil ? readMemberCount(column, row) : 0
        derivedWork += readCount
        replayWork += ReplayWork.derivedValue + readCount * ReplayWork.derivedMember
        let (value, exact) = try derivedValue(column, row, found)
        let cell = try StoredCell(value, column.attribute)
        let isExactStored = exact.withCell { cell in
            column.exactSlot.map { reader.rows(column.table).equals(row, $0, .string, cell) } ?? true
        }
        if let slot = column.exactSlot, !isExactStored {
            try checkCapacity(forStoring: exact, leaving: 0, "the values of '\(column.attribute.name)' need more pages")
            exact.withCell { tableWriter.store(column.table, row, slot, .string, $0) }
        }
        if cell.withCell({ reader.rows(column.table).equals(row, column.slot, column.kind, $0) }) { return }
        try checkCapacity(forStoring: cell, leaving: 0, "the values of '\(column.attribute.name)' need more pages")
        let indexes = table.indexesOfSlot[column.slot]
        for index in indexes { removeFromIndex(table, table.indexes[index], row) }
        cell.withCell { tableWriter.store(column.table, row, column.slot, column.kind, $0) }
        for index in indexes { addToIndex(table, table.indexes[index], row) }
        tableWriter.setProvenance(column.table, row, TableLayout.changedSlot)
    }

    /// Returns the number of members that `derivedValue` reads.
    private func readMemberCount(_ column: DerivedColumn, _ row: UInt32) -> Int {
        guard let members = column.members, column.function != .count else { return 0 }
        return reader.memberCount(members, owner: row)
    }

    private func hasDerived(_ column: DerivedColumn, _ row: UInt32) -> Bool {
        column.coversTable || column.family.contains(reader.rows(column.table).entity(row, layout.tables[column.table]))
    }

    /// Returns the value of a derived attribute, and the exact sum to store with it.
    ///
    /// - Parameter found: The value, if it is known without reading all members.
    private func derivedValue(
        _ column: DerivedColumn, _ row: UInt32, _ found: DerivedValue?
    ) throws(CambiumError) -> (Value, exact: StoredCell) {
        do {
            let derived = try found ?? reader.readAll(column, row)
            return (try reader.value(derived, column), reader.exactCell(derived, column, row))
        } catch {
            let object = text(ObjectPlace(table: column.table, row: row))
            throw CambiumError(
                .limitExceeded,
                "\(object): the value of '\(column.attribute.name)' does not fit into the type \(column.attribute.type.rawValue). "
                    + "Change the values that it is derived from.")
        }
    }

    /// Returns the value that a derived attribute of an object has after the changes so far. Returns `nil` if this value is already stored.
    func pendingValue(of attribute: Attribute, at place: ObjectPlace) -> Value? {
        guard attribute.isDerived, !derived.isEmpty else { return nil }
        // The attribute may belong to another schema, such as the schema before a migration. So the comparison uses numbers and names.
        let column = layout.derived.ofTable[Int(place.table)].first {
            $0.attribute.number == attribute.number && $0.attribute.root == attribute.root
                && $0.attribute.schemaName.isSame(as: attribute.schemaName)
        }
        guard let column, hasDerived(column, place.row) else { return nil }
        var changes = MemberChanges(column, of: [place.row], in: self)
        // An error means that the attribute cannot hold the value. The end of the transaction reports this error.
        if let value = changes?.value(of: place.row) { return try? reader.value(value, column) }
        return try? reader.derivedValue(column, place.row)
    }
}
