package import CambiumModel

extension Draft {
    // MARK: Objects

    /// The number of assignments up to which a linear search is faster than a hash table.
    private static let comparedCountMax = 32

    mutating func insert(_ id: ObjectID, _ number: EntityNumber, _ assignments: [Assignment]) throws(CambiumError) {
        guard let entity = schema.entity(number), !entity.isAbstract, entity.root == id.root,
            let table = layout.table(of: id.root)
        else { throw CambiumError(.invalidInput, "The schema has no concrete \(number) in the hierarchy of \(id.root).") }
        guard id.serial > 0, reader.row(table.index, serial: id.serial) == nil else {
            throw CambiumError(.invalidInput, "\(entity.name)/\(id.serial) already exists.")
        }
        try CapacityCheck.checkRows(self, table, CollectionOfOne(id.serial...id.serial))
        var cells = try takeCells(assignments, entity, table)
        lazy var given = Set(assignments.map(\.property))
        let areMany = assignments.count > Self.comparedCountMax
        for attribute in entity.attributes where !attribute.defaultValue.isNull {
            if areMany ? given.contains(attribute.number) : assignments.contains(where: { $0.property == attribute.number }) { continue }
            cells.append(AssignedCell(slot: table.slot(of: attribute.number), cell: try StoredCell(attribute.defaultValue, attribute)))
        }
        let row = insertRow(table, serial: id.serial, entity: number)
        for assigned in cells {
            let kind = table.columns[assigned.slot]
            // A null is stored only if an earlier assignment to the same attribute has stored a value, which the null must clear.
            if assigned.cell.isNull, reader.rows(table.index).isNull(row, assigned.slot, kind) { continue }
            assigned.cell.withCell { tableWriter.store(table.index, row, assigned.slot, kind, $0) }
        }
        space.spareCells.recycle(&cells)
        for index in table.indexes { addToIndex(table, index, row) }
        pending.trackObject(table.index, row)
    }

    mutating func set(_ id: ObjectID, _ assignments: [Assignment]) throws(CambiumError) {
        let place = try livePlace(id)
        guard let entity = entity(at: place) else { throw CambiumError(.corrupted, "\(text(of: id)) has no valid entity.") }
        let table = layout.tables[Int(place.table)]
        var cells = try takeCells(assignments, entity, table)
        store(cells, at: place, table)
        space.spareCells.recycle(&cells)
        if assignments.contains(where: { $0.value.isNull && entity.attribute($0.property)?.isOptional == false }) {
            pending.trackObject(table.index, place.row)
        }
    }

    /// Sets the source of an object, and whether the object is a stub (only its identity is known). No source is serial 0. A copy gets a
    /// higher serial than its source, so no chain of sources leads back to its beginning.
    mutating func mark(_ id: ObjectID, source: UInt64, isStub: Bool) throws(CambiumError) {
        let place = try livePlace(id)
        let table = layout.tables[Int(place.table)]
        guard source < id.serial else {
            throw CambiumError(
                .invalidInput, "\(text(of: id)) cannot be a copy of serial \(source), because it is not younger than its source.")
        }
        if source == 0 {
            tableWriter.clearFixed(table.index, place.row, TableLayout.sourceSlot, width: 8)
        } else {
            tableWriter.setFixed(table.index, place.row, TableLayout.sourceSlot, source)
        }
        setStub(table, place.row, isStub)
        tableWriter.setProvenance(table.index, place.row, TableLayout.changedSlot)
        pending.trackObject(table.index, place.row)
    }

    /// Sets attributes of an object, as `apply` does for a `.set` op. The caller has already found the object, and all attributes must
    /// belong to its entity. Omits values that the object already has.
    ///
    /// Throws the errors of `apply`. Complexity: O(values), and O(bytes) for text and data.
    ///
    /// - Parameter changed: Receives the assignments of the op. Stays empty if nothing changes.
    package mutating func set(
        _ values: [(Attribute, Value)], at place: ObjectPlace, _ changed: inout [Assignment]
    ) throws(CambiumError) {
        let table = layout.tables[Int(place.table)]
        // Pages of a graph that has not been proven valid may contain references to any address, so nothing is prefetched.
        if space.isProven { reader.rows(table.index).prefetch(values, place.row, table) }
        var cells = space.spareCells.take()
        defer { space.spareCells.recycle(&cells) }
        changed.reserveCapacity(values.count)
        cells.reserveCapacity(values.count)
        var losesMandatory = false
        let areMany = values.count > Self.comparedCountMax
        var slots: Set<Int> = []
        for (attribute, value) in values {
            if attribute.isDerived { throw derivedRefusal(attribute) }
            let assigned = AssignedCell(slot: table.slot(of: attribute.number), cell: try StoredCell(value, attribute))
            // If an earlier assignment of this op sets the same attribute, the stored value is about to change. In this case, even a value
            // that equals the stored value must be assigned.
            let isAssigned = areMany ? slots.contains(assigned.slot) : cells.contains { $0.slot == assigned.slot }
            if !isAssigned, holds(assigned, table, place.row) { continue }
            changed.append(Assignment(attribute.number, value))
            cells.append(assigned)
            if areMany { slots.insert(assigned.slot) }
            if value.isNull, !attribute.isOptional { losesMandatory = true }
        }
        if changed.isEmpty { return }
        try CapacityCheck.check(self)
        for cell in cells where space.memory.isLimited { try checkMemory(forValueOf: cell.cell.withCell { $0.bytes.count }) }
        try atomically { draft throws(CambiumError) in
            draft.store(cells, at: place, table)
            if losesMandatory { draft.pending.trackObject(table.index, place.row) }
        }
    }

    private func derivedRefusal(_ attribute: Attribute) -> CambiumError {
        guard let entity = schema.entity(attribute.entity) else { return CambiumError(.invalidInput, "'\(attribute.name)' is derived.") }
        return attribute.refusal(in: entity)
    }

    /// Returns an empty array for the assignments of an op. The caller later passes the array to `recycle`, so that its memory is used
    /// again.
    package func takeAssignments() -> [Assignment] { space.spareAssignments.take() }

    package func recycle(_ assignments: inout [Assignment]) { space.spareAssignments.recycle(&assignments) }

    private func holds(_ assigned: AssignedCell, _ table: TableLayout, _ row: UInt32) -> Bool {
        assigned.cell.withCell { reader.rows(table.index).equals(row, assigned.slot, table.columns[assigned.slot], $0) }
    }

    private mutating func store(_ cells: [AssignedCell], at place: ObjectPlace, _ table: TableLayout) {
        for assigned in cells { assigned.cell.withCell { replace(table, place.row, assigned.slot, $0) } }
        tableWriter.setProvenance(table.index, place.row, TableLayout.changedSlot)
    }

    /// Converts the values of an op. The caller stores the cells, and then passes the array to `recycle`.
    private mutating func takeCells(
        _ assignments: [Assignment], _ entity: Entity, _ table: TableLayout
    ) throws(CambiumError) -> [AssignedCell] {
        var cells = space.spareCells.take()
        var byteCount = 0
        for assignment in assignments {
            guard let attribute = entity.attribute(assignment.property) else {
                throw CambiumError(.invalidInput, "'\(entity.name)' has no attribute with the number \(assignment.property.rawValue).")
            }
            if attribute.isDerived { throw attribute.refusal(in: entity) }
            let cell = try StoredCell(assignment.value, attribute)
            byteCount += cell.withCell { $0.bytes.count }
            cells.append(AssignedCell(slot: table.slot(of: attribute.number), cell: cell))
        }
        try checkMemory(forValueOf: byteCount)
        return cells
    }

    // MARK: Ids

    /// Returns the serial of the next object of a hierarchy.
    package func nextSerial(of root: EntityNumber) -> UInt64 {
        guard let table = layout.table(of: root) else { return 1 }
        return reader.nextSerial(table.index)
    }

    func livePlace(_ id: ObjectID) throws(CambiumError) -> ObjectPlace {
        guard let place = place(of: id) else { throw schema.missingObject(id) }
        return place
    }

    func name(_ property: PropertyNumber, at place: ObjectPlace) -> String {
        entity(at: place)?.relationship(property)?.name ?? "\(property.rawValue)"
    }

    /// Returns the name of an object for messages. If the object exists and has an identity, the name contains it.
    func text(of id: ObjectID) -> String {
        guard let place = place(of: id), let entity = entity(at: place) else {
            return "\(schema.entity(id.root)?.name ?? "\(id.root)")/\(id.serial)"
        }
        return "\(entity.name)/\(id.serial)" + (reader.identityText(of: place, entity, layout).map { " (\($0))" } ?? "")
    }
}
