package import CambiumModel

extension Draft {
    /// Returns the serial of the next object of a hierarchy.
    package func nextSerial(of root: EntityNumber) -> UInt64 {
        guard let table = layout.table(of: root) else { return 1 }
        return reader.nextSerial(table.index)
    }

    /// Applies one op. Live transactions and replays both use this method, so both make the same graph. If a live transaction uses another
    /// method, the result must equal the result of the ops that it writes to the log.
    ///
    /// An op applies as a whole, or the method throws and leaves the draft as it was. After an error, the caller may continue with other
    /// ops.
    ///
    /// - Throws: `.notFound` for a missing object, `.invalidInput` for values that do not fit the schema. `.limitExceeded` if a table or
    ///   the graph is full, `.damaged` for a block whose parts disagree.
    package mutating func apply(_ op: Op) throws(CambiumError) {
        if !op.mayUseReserve { try checkCapacity() }
        try atomically { draft throws(CambiumError) in try draft.perform(op) }
    }

    /// Carries out an op. Makes all checks that may refuse the op before it writes.
    private mutating func perform(_ op: Op) throws(CambiumError) {
        switch op {
        case .schema(let catalog): try adopt(catalog)
        case .insert(let id, let entity, let assignments): try insert(id, entity, assignments)
        case .set(let id, let assignments): try set(id, assignments)
        case .link(let id, let property, let target, let index): try link(id, property, target, index)
        case .unlink(let id, let property, let target):
            let (end, owner, row) = try resolve(id, property, target)
            unlink(end, owner: owner.row, target: row.row)
        case .move(let id, let property, let target, let index):
            let (end, owner, row) = try resolve(id, property, target)
            guard index >= 0 else { throw CambiumError(.invalidInput, "Index \(index) is negative. An index must be 0 or more.") }
            guard move(end, owner: owner.row, target: row.row, to: index) else {
                throw CambiumError(
                    .notFound,
                    "\(text(of: target)) is not a member of '\(name(property, at: owner))' of \(text(of: id)). "
                        + "Link the object before you move it.")
            }
        case .delete(let ids):
            var places: [ObjectPlace] = []
            for id in ids { places.append(try livePlace(id)) }
            try delete(places)
        case .upsert(let block): try apply(block)
        case .relink(let block): try apply(block)
        case .clone(let clone): try apply(clone)
        case .label(let name, let number):
            try TransactionLabel.check(name)
            guard number.rawValue > 0, number.rawValue <= transaction else {
                throw CambiumError(
                    .notFound,
                    "Label '\(name)' cannot name transaction \(number), which does not exist. Pass the number of an existing transaction.")
            }
            try setLabel(name, number)
        case .digest(let number, let digest): try check(digest, of: number)
        }
    }

    // MARK: Schema

    private mutating func adopt(_ catalog: SchemaCatalog) throws(CambiumError) {
        let newLayout = GraphLayout(try Schema(catalog: catalog))
        try newLayout.checkPageSizes()
        guard layout.tables.isEmpty else { return try migrate(to: newLayout) }
        let register = reader.registerReference(of: layout)
        layout = newLayout
        derived = DerivedNotes()
        let page = newDirectory(sharedBlobs: .empty, register: register) { $0.newTable($1) }
        discard(directory)
        directory = page
    }

    /// Creates a directory page for the layout.
    ///
    /// - Parameter table: Creates or finds the page of a table.
    mutating func newDirectory(
        sharedBlobs: RadixVector, register: PageRef, table: (inout Draft, TableLayout) -> PageRef
    ) -> PageRef {
        let page = newDirectory(sharedBlobs: sharedBlobs, register: register)
        for each in layout.tables {
            let reference = table(&self, each)
            chunks[page].storeBytes(of: reference, toByteOffset: DirectoryPage.tablesOffset + 4 * each.index, as: PageRef.self)
        }
        return page
    }

    /// Creates a directory page for the layout. The page does not refer to any table yet.
    mutating func newDirectory(sharedBlobs: RadixVector, register: PageRef) -> PageRef {
        let page = allocate(DirectoryPage.byteCount(layout), .directory)
        chunks[page].storeBytes(of: transaction, toByteOffset: DirectoryPage.transactionOffset, as: UInt64.self)
        chunks[page].storeBytes(of: sharedBlobs, toByteOffset: DirectoryPage.sharedBlobsOffset, as: RadixVector.self)
        chunks[page].storeBytes(of: reader.hashKey, toByteOffset: DirectoryPage.hashKeyOffset, as: HashKey.self)
        if let offset = DirectoryPage.registerOffset(layout) {
            chunks[page].storeBytes(of: register, toByteOffset: offset, as: PageRef.self)
        }
        if let offset = DirectoryPage.indexesOffset(layout) { chunks[page].storeBytes(of: 0, toByteOffset: offset, as: PageRef.self) }
        return page
    }

    mutating func newTable(_ table: TableLayout) -> PageRef {
        let page = allocate(table.pageByteCount, .table)
        let pointer = chunks[page]
        (pointer + PageLayout.header).initializeMemory(
            as: UInt8.self, repeating: 0, count: PageLayout.granules(table.pageByteCount) * 16 - PageLayout.header)
        let first: UInt64 = table.root == nil ? 0 : 1
        pointer.storeBytes(of: first, toByteOffset: TablePage.nextSerialOffset, as: UInt64.self)
        return page
    }

    // MARK: Objects

    private mutating func insert(_ id: ObjectID, _ number: EntityNumber, _ assignments: [Assignment]) throws(CambiumError) {
        guard let entity = schema.entity(number), !entity.isAbstract, entity.root == id.root,
            let table = layout.table(of: id.root)
        else { throw CambiumError(.invalidInput, "The schema has no concrete \(number) in the hierarchy of \(id.root).") }
        guard id.serial > 0, reader.row(table.index, serial: id.serial) == nil else {
            throw CambiumError(.invalidInput, "\(entity.name)/\(id.serial) already exists.")
        }
        try checkRowCapacity(table, CollectionOfOne(id.serial...id.serial))
        var cells = try takeCells(assignments, entity, table)
        for attribute in entity.attributes where !attribute.defaultValue.isNull {
            if assignments.contains(where: { $0.property == attribute.number }) { continue }
            cells.append(AssignedCell(slot: table.slot(of: attribute.number), cell: try StoredCell(attribute.defaultValue, attribute)))
        }
        let row = insertRow(table, serial: id.serial, entity: number)
        for assigned in cells {
            let kind = table.columns[assigned.slot]
            // A null must clear the value that an earlier assignment to the same attribute stored.
            if assigned.cell.isNull, reader.rows(table.index).isNull(row, assigned.slot, kind) { continue }
            assigned.cell.withCell { store(table.index, row, assigned.slot, kind, $0) }
        }
        space.spareCells.recycle(&cells)
        for index in table.indexes { addToIndex(table, index, row) }
        pending.noteObject(table.index, row)
    }

    private mutating func set(_ id: ObjectID, _ assignments: [Assignment]) throws(CambiumError) {
        let place = try livePlace(id)
        guard let entity = entity(at: place) else { throw CambiumError(.damaged, "\(text(of: id)) has no valid entity.") }
        let table = layout.tables[Int(place.table)]
        var cells = try takeCells(assignments, entity, table)
        store(cells, at: place, table)
        space.spareCells.recycle(&cells)
        if assignments.contains(where: { $0.value.isNull && entity.attribute($0.property)?.isOptional == false }) {
            pending.noteObject(table.index, place.row)
        }
    }

    /// Does the same as `apply` with `.set`. The caller has already found the object, and all attributes must belong to its entity. Omits
    /// values that the object already has.
    ///
    /// Throws the errors of `apply`. Complexity: O(values), and O(bytes) for text and data.
    ///
    /// - Parameter changed: Receives the assignments of the op. Stays empty if nothing changes.
    package mutating func set(
        _ values: [(Attribute, Value)], at place: ObjectPlace, _ changed: inout [Assignment]
    ) throws(CambiumError) {
        let table = layout.tables[Int(place.table)]
        // Pages that are not proven may contain references to any address, so they are not prefetched.
        if space.isProven { reader.rows(table.index).prefetch(values, place.row, table) }
        var cells = space.spareCells.take()
        defer { space.spareCells.recycle(&cells) }
        changed.reserveCapacity(values.count)
        cells.reserveCapacity(values.count)
        var losesMandatory = false
        for (attribute, value) in values {
            if attribute.isDerived { throw derivedRefusal(attribute) }
            let assigned = AssignedCell(slot: table.slot(of: attribute.number), cell: try StoredCell(value, attribute))
            // If an earlier assignment of this op sets the same attribute, the stored value is about to change. Then the value is not
            // omitted, even if it equals the stored value.
            let isAssigned = cells.contains { $0.slot == assigned.slot }
            if !isAssigned, holds(assigned, table, place.row) { continue }
            changed.append(Assignment(attribute.number, value))
            cells.append(assigned)
            if value.isNull, !attribute.isOptional { losesMandatory = true }
        }
        if changed.isEmpty { return }
        try checkCapacity()
        try atomically { draft throws(CambiumError) in
            draft.store(cells, at: place, table)
            if losesMandatory { draft.pending.noteObject(table.index, place.row) }
        }
    }

    private func derivedRefusal(_ attribute: Attribute) -> CambiumError {
        guard let entity = schema.entity(attribute.entity) else { return CambiumError(.invalidInput, "'\(attribute.name)' is derived.") }
        return attribute.refusal(in: entity)
    }

    /// Returns an empty array for the assignments of an op. The caller returns the array with `recycle`, so that its memory is used
    /// again.
    package func takeAssignments() -> [Assignment] { space.spareAssignments.take() }

    package func recycle(_ assignments: inout [Assignment]) { space.spareAssignments.recycle(&assignments) }

    private func holds(_ assigned: AssignedCell, _ table: TableLayout, _ row: UInt32) -> Bool {
        assigned.cell.withCell { reader.rows(table.index).equals(row, assigned.slot, table.columns[assigned.slot], $0) }
    }

    private mutating func store(_ cells: [AssignedCell], at place: ObjectPlace, _ table: TableLayout) {
        for assigned in cells { assigned.cell.withCell { replace(table, place.row, assigned.slot, $0) } }
        setProvenance(table.index, place.row, TableLayout.changedSlot)
    }

    /// Converts the values of an op. The caller stores the cells and then returns the array with `recycle`.
    private mutating func takeCells(
        _ assignments: [Assignment], _ entity: Entity, _ table: TableLayout
    ) throws(CambiumError) -> [AssignedCell] {
        var cells = space.spareCells.take()
        for assignment in assignments {
            guard let attribute = entity.attribute(assignment.property) else {
                throw CambiumError(.invalidInput, "'\(entity.name)' has no attribute with the number \(assignment.property.rawValue).")
            }
            if attribute.isDerived { throw attribute.refusal(in: entity) }
            cells.append(AssignedCell(slot: table.slot(of: attribute.number), cell: try StoredCell(assignment.value, attribute)))
        }
        return cells
    }

    // MARK: Digests

    private func check(_ digest: GraphDigest, of number: TransactionNumber) throws(CambiumError) {
        guard number.rawValue < transaction else {
            throw CambiumError(.damaged, "Transaction \(transaction) states a digest of transaction \(number), which is not earlier.")
        }
        // Only the previous transaction's digest can be compared. The draft no longer has the graph of an earlier transaction.
        guard transaction - number.rawValue > 1 || Digester(reader: reader, layout: layout).digest() == digest else {
            throw CambiumError(.damaged, "The graph after transaction \(number) does not have the digest that the log states.")
        }
    }

    // MARK: Links

    private mutating func link(
        _ id: ObjectID, _ property: PropertyNumber, _ target: ObjectID, _ index: Int?
    ) throws(CambiumError) {
        let (end, owner, row) = try resolve(id, property, target)
        if let index, index < 0 || index > reader.memberCount(end, owner: owner.row) {
            let count = reader.memberCount(end, owner: owner.row)
            throw CambiumError(
                .invalidInput, "Index \(index) is out of range for '\(name(property, at: owner))' of \(text(of: id)). Use 0 to \(count).")
        }
        link(end, owner: owner.row, target: row.row, at: index)
    }

    func livePlace(_ id: ObjectID) throws(CambiumError) -> ObjectPlace {
        guard let place = place(of: id) else { throw schema.missingObject(id) }
        return place
    }

    private func name(_ property: PropertyNumber, at place: ObjectPlace) -> String {
        entity(at: place)?.relationship(property)?.name ?? "\(property.rawValue)"
    }

    func text(of id: ObjectID) -> String {
        let name = place(of: id).flatMap { entity(at: $0) }?.name ?? schema.entity(id.root)?.name ?? "\(id.root)"
        return "\(name)/\(id.serial)"
    }
}
