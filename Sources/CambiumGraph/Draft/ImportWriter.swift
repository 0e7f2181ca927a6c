package import CambiumModel

/// Writes row by row, for imports. The caller checks each row, and the ops are derived afterwards.
package enum ImportWriter {
    // MARK: Objects

    /// Returns the row whose identity has the values `cells`, or `nil` if there is no such row.
    package static func row(_ draft: borrowing Draft, _ table: ImportTable, identity cells: [Cell]) -> UInt32? {
        guard let index = table.identity else { return nil }
        let row = draft.reader.row(table.number, index, keys: cells)
        return row == noRow ? nil : row
    }

    /// Returns the row whose identity has these forms, or `nil` if there is no such row. The form of a relationship is the serial of its
    /// target.
    package static func row(_ draft: borrowing Draft, _ table: ImportTable, identity forms: [StoredForm]) -> UInt32? {
        guard let index = table.identity else { return nil }
        let row = draft.reader.row(table.number, index, forms: forms)
        return row == noRow ? nil : row
    }

    /// Returns the row whose identity is `key`, the value of one attribute. `hash` is the hash of the key.
    @inline(__always)
    package static func row(_ draft: borrowing Draft, _ place: KeyPlace, _ key: Cell, hash: UInt64) -> UInt32? {
        let row = draft.reader.row(
            place.table, place.index, place.slot, place.kind, place.negativeZero, key: key.key(place.negativeZero), hash: hash)
        return row == noRow ? nil : row
    }

    /// Lets another thread supply memory for several MiB of pages, unless this memory is already available.
    package static func prepareMemory(_ draft: borrowing Draft) { draft.space.memory.prepareAhead() }

    /// Prefetches the block of an index in which the lookup of a hash begins.
    package static func prefetch(_ draft: borrowing Draft, _ place: KeyPlace, hash: UInt64) {
        draft.reader.prefetchBlock(place.table, place.index, hash)
    }

    /// Calls `body` with the rows of a table, by ascending serial.
    package static func forEachRow(_ draft: borrowing Draft, _ table: ImportTable, _ body: (UInt32) -> Void) {
        let map = draft.reader.tablePage(table.number).virtualPages
        var next = 0
        // The loop skips large gaps between serials: it visits only the virtual pages (ranges of consecutive serials) that are in the map.
        while let page = map.firstIndex(from: next, draft.reader.chunks) {
            let first = UInt64(page) << UInt64(PageLayout.fanOutShift)
            for serial in first...first | UInt64(PageLayout.fanOutMask) {
                if let row = draft.reader.row(table.number, serial: serial) { body(row) }
            }
            next = page + 1
        }
    }

    /// Calls `body` with the stored value of an attribute. `attribute` is the index of the attribute among all attributes of the entity.
    package static func withCell<R>(_ draft: borrowing Draft, _ table: ImportTable, _ row: UInt32, attribute: Int, _ body: (Cell) -> R) -> R
    {
        let slot = table.slots[attribute]
        return draft.reader.rows(table.number).withCell(row, slot, table.table.columns[slot], body)
    }

    /// Returns the concrete entity of a row.
    package static func entity(_ draft: borrowing Draft, _ table: ImportTable, _ row: UInt32) -> EntityNumber {
        draft.reader.rows(table.number).entity(row, table.table)
    }

    package static func isStub(_ draft: borrowing Draft, _ table: ImportTable, _ row: UInt32) -> Bool {
        draft.reader.rows(table.number).isStub(row)
    }

    /// Returns whether an object is from the original graph: the graph from which the draft was made.
    package static func isOriginal(_ draft: borrowing Draft, _ table: ImportTable, _ row: UInt32) -> Bool {
        draft.reader.rows(table.number).serial(row) < draft.base.reader.nextSerialOrOne(table.number, of: draft.base.layout)
    }

    /// Inserts an object that has no values yet and is in no index until `endInsert`.
    package static func beginInsert(_ draft: inout Draft, _ table: ImportTable) throws(CambiumError) -> UInt32 {
        let serial = draft.reader.nextSerial(table.number)
        guard serial <= ObjectID.serialMax else {
            throw CambiumError(
                .limitExceeded,
                "The hierarchy of '\(table.entity.name)' has used all of its serials, the numbers in object ids. Create a new store, and "
                    + "import the objects into it.")
        }
        try CapacityCheck.checkRows(draft, table.table, CollectionOfOne(serial...serial))
        return draft.insertRow(table.table, serial: serial, entity: table.entity.number)
    }

    /// Stores a value in a new object. `attribute` is the index of the attribute in the attributes of the entity.
    package static func initialize(_ draft: inout Draft, _ table: ImportTable, _ row: UInt32, attribute: Int, _ cell: Cell) {
        let slot = table.slots[attribute]
        draft.tableWriter.store(table.number, row, slot, table.table.columns[slot], cell)
    }

    /// Stores the default of an attribute in a new object, if the attribute has a default. `attribute` is the index of the attribute among
    /// all attributes of the entity.
    package static func initializeDefault(_ draft: inout Draft, _ table: ImportTable, _ row: UInt32, attribute: Int) {
        guard let cell = table.defaults[attribute] else { return }
        let slot = table.slots[attribute]
        cell.withCell { draft.tableWriter.store(table.number, row, slot, table.table.columns[slot], $0) }
    }

    /// Completes an insertion that `beginInsert` began: adds the new object to the indexes. If `isStub` is `true`, marks the object as a
    /// stub, because only its identity is known.
    ///
    /// - Parameter hash: The hash of the object's identity, if the caller has just looked for this identity and found no object. Otherwise
    ///   0.
    package static func endInsert(_ draft: inout Draft, _ table: ImportTable, _ row: UInt32, isStub: Bool, hash: UInt64) {
        if hash != 0, let place = table.keyPlace {
            draft.indexWriter.addEntry(place.table, place.index, hash: hash, row: row)
            if table.table.indexes.count > 1 {
                for index in table.table.indexes where index.number != place.index { draft.addToIndex(table.table, index, row) }
            }
        } else {
            for index in table.table.indexes { draft.addToIndex(table.table, index, row) }
        }
        if isStub { draft.setStub(table.table, row, true) }
        if table.isCounted, !isStub { draft.pending.trackObject(table.number, row) }
    }

    /// Changes a value of an existing object. Returns whether the new value differs from the old value. `attribute` is the index of the
    /// attribute in the attributes of the entity.
    @discardableResult
    package static func change(_ draft: inout Draft, _ table: ImportTable, _ row: UInt32, attribute: Int, _ cell: Cell) -> Bool {
        guard draft.set(table.table, row, table.slots[attribute], cell) else { return false }
        draft.tableWriter.setProvenance(table.number, row, TableLayout.changedSlot)
        return true
    }

    package static func changeToDefault(_ draft: inout Draft, _ table: ImportTable, _ row: UInt32, attribute: Int) {
        table.defaults[attribute]?.withCell { _ = change(&draft, table, row, attribute: attribute, $0) }
    }

    /// Turns a stub, an object of which only the identity was known, into a full object.
    package static func fill(_ draft: inout Draft, _ table: ImportTable, _ row: UInt32) {
        draft.setStub(table.table, row, false)
        draft.tableWriter.setProvenance(table.number, row, TableLayout.changedSlot)
        if table.isCounted { draft.pending.trackObject(table.number, row) }
    }

    package static func id(_ draft: borrowing Draft, _ table: ImportTable, _ row: UInt32) -> ObjectID {
        draft.reader.id(ObjectPlace(table: table.number, row: row), draft.layout)
    }

    /// Returns the serial of a row: the number in the id of its object.
    package static func serial(_ draft: borrowing Draft, _ table: Int, _ row: UInt32) -> UInt64 { draft.reader.rows(table).serial(row) }

    package static func isNull(_ draft: borrowing Draft, _ table: ImportTable, _ row: UInt32, attribute: Int) -> Bool {
        let slot = table.slots[attribute]
        return draft.reader.rows(table.number).isNull(row, slot, table.table.columns[slot])
    }

    // MARK: Links

    package static func importEnd(_ draft: borrowing Draft, _ relationship: Relationship) -> ImportEnd {
        let end = draft.layout.handle(relationship).end
        let (number, other) = (2 * end.link + end.end, 2 * end.link + 1 - end.end)
        let isSymmetric = draft.schema.links[end.link].isSymmetric
        let isToManyAtOtherEnd =
            switch end.layout {
            case .pair: false
            case .list(_, let childEnd): end.end == childEnd
            case .edges: true
            }
        let takesNoMember = isToManyAtOtherEnd && !isSymmetric
        let isKey = draft.layout.isIndexed(end)
        return ImportEnd(
            end: end, isOrdered: relationship.isOrdered, number: number, opposite: isSymmetric ? number : other,
            isFree: takesNoMember && !draft.layout.marks[other].isCounted && !isKey,
            isAddition: takesNoMember && !draft.layout.marks[other].hasMinimum, isKey: isKey,
            isKeyAtOtherEnd: isSymmetric ? isKey : draft.layout.isIndexed(draft.layout.ends[other]))
    }

    /// Sets the target of a to-one relationship. If `target` is `nil`, removes the present target.
    package static func setTarget(_ draft: inout Draft, _ end: ImportEnd, _ owner: UInt32, _ target: UInt32?) {
        if let target { draft.link(end.end, owner: owner, target: target) } else { BlockWriter.clearTarget(&draft, end.end, owner) }
    }

    /// Replaces the members of `owner` with `targets`, in this order if the relationship is ordered. `targets` must not contain a row
    /// twice.
    package static func replaceMembers(_ draft: inout Draft, _ end: ImportEnd, _ owner: UInt32, _ targets: [UInt32]) {
        if end.isOrdered { draft.touched?.markStatedOrder(end.end, owner) }
        var current: [UInt32] = []
        draft.reader.forEachMember(end.end, owner: owner) { current.append($0) }
        if current == targets { return }
        if current.isEmpty { return draft.linkFirst(end.end, owner: owner, targets: targets) }
        if end.isOrdered {
            let kept = zip(current, targets).prefix { $0 == $1 }.count
            BlockWriter.replaceSuffix(&draft, end.end, owner: owner, kept: kept, Array(targets[kept...]))
            return
        }
        let wanted = Set(targets)
        for member in current where !wanted.contains(member) { draft.unlink(end.end, owner: owner, target: member) }
        appendMembers(&draft, end, owner, targets)
    }

    /// Adds the rows of `targets` that are not members of `owner` yet.
    package static func appendMembers(_ draft: inout Draft, _ end: ImportEnd, _ owner: UInt32, _ targets: [UInt32]) {
        for target in targets { draft.link(end.end, owner: owner, target: target) }
    }
}
