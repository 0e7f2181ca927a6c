public import CambiumModel

extension Draft {
    /// The serial that the next object of a hierarchy gets.
    public func nextSerial(of root: EntityNumber) -> UInt64 {
        guard let table = layout.table(of: root) else { return 1 }
        return reader.nextSerial(table.index)
    }

    /// Applies one op: the only way in which a graph changes, live and in replay alike.
    ///
    /// Throws `.notFound` for an object that is not there, `.invalidInput` for what does not fit the schema,
    /// `.damaged` for a block whose parts disagree. A draft in which an op failed must be dropped.
    public mutating func apply(_ op: Op) throws(CambiumError) {
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
            guard index >= 0 else { throw CambiumError(.invalidInput, "An index is 0 or more; \(index) is none.") }
            guard move(end, owner: owner.row, target: row.row, to: index) else {
                throw CambiumError(.notFound, "\(text(of: target)) is not a member of the ordered relationship.")
            }
        case .delete(let ids):
            var places: [ObjectPlace] = []
            for id in ids { places.append(try livePlace(id)) }
            delete(places)
        case .upsert(let block): try apply(block)
        case .relink(let block): try apply(block)
        case .clone(let clone): try apply(clone)
        case .label(let name, let number):
            guard number.rawValue > 0, number.rawValue <= transaction else {
                throw CambiumError(.notFound, "There is no transaction \(number) that '\(name)' could name.")
            }
            labels[name] = number
        case .digest(let number, let digest):
            guard number.rawValue + 1 != transaction || Digester(reader: reader, layout: layout).digest() == digest else {
                throw CambiumError(.damaged, "The graph after transaction \(number) does not have the digest that the log gives.")
            }
        }
    }

    // MARK: Schema

    private mutating func adopt(_ catalog: SchemaCatalog) throws(CambiumError) {
        guard layout.tables.isEmpty else { return try migrate(to: GraphLayout(try Schema(catalog: catalog))) }
        layout = GraphLayout(try Schema(catalog: catalog))
        let page = try newDirectory(sharedBlobs: .empty)
        for table in layout.tables {
            chunks[page].storeBytes(
                of: try newTable(table), toByteOffset: DirectoryPage.tablesOffset + 4 * table.index, as: PageRef.self)
        }
        discard(directory)
        directory = page
    }

    /// A directory for the layout, whose tables are not in it yet.
    mutating func newDirectory(sharedBlobs: RadixVector) throws(CambiumError) -> PageRef {
        let byteCount = DirectoryPage.byteCount(layout)
        guard byteCount <= PageLayout.chunkByteCount else {
            throw CambiumError(.limitExceeded, "A schema has at most 16,000 root entities and many-to-many links.")
        }
        let page = allocate(byteCount, .directory)
        chunks[page].storeBytes(of: transaction, toByteOffset: DirectoryPage.transactionOffset, as: UInt64.self)
        chunks[page].storeBytes(of: sharedBlobs, toByteOffset: DirectoryPage.sharedBlobsOffset, as: RadixVector.self)
        return page
    }

    mutating func newTable(_ table: TableLayout) throws(CambiumError) -> PageRef {
        guard max(table.pageByteCount, table.groupByteCount) <= PageLayout.chunkByteCount else {
            throw CambiumError(.limitExceeded, "The hierarchy of '\(table.root?.name ?? "")' has too many properties.")
        }
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
            throw CambiumError(.invalidInput, "\(entity.name)/\(id.serial) is there already.")
        }
        let row = insertRow(table, serial: id.serial, entity: number)
        for assignment in assignments { _ = try attribute(assignment.property, entity) }
        for attribute in entity.attributes {
            let assigned = assignments.last { $0.property == attribute.number }
            try store(assigned?.value ?? attribute.defaultValue, attribute, table, row)
        }
        for index in table.indexes { addToIndex(table, index, row) }
        pending.noteObject(table.index, row)
    }

    private mutating func set(_ id: ObjectID, _ assignments: [Assignment]) throws(CambiumError) {
        let place = try livePlace(id)
        guard let entity = entity(at: place) else { throw CambiumError(.damaged, "\(text(of: id)) has no entity.") }
        let table = layout.tables[Int(place.table)]
        for assignment in assignments {
            let attribute = try attribute(assignment.property, entity)
            let slot = table.slot(of: attribute.number)
            _ = try attribute.withCell(of: assignment.value) { set(table, place.row, slot, $0) }
            if assignment.value.isNull, !attribute.isOptional { pending.noteObject(table.index, place.row) }
        }
        setProvenance(table.index, place.row, TableLayout.changedSlot)
    }

    private mutating func store(
        _ value: Value, _ attribute: Attribute, _ table: TableLayout, _ row: UInt32
    ) throws(CambiumError) {
        if value.isNull { return }
        let slot = table.slot(of: attribute.number)
        _ = try attribute.withCell(of: value) {
            store(table.index, row, slot, table.columns[slot], $0)
            return true
        }
    }

    private func attribute(_ number: PropertyNumber, _ entity: Entity) throws(CambiumError) -> Attribute {
        guard let attribute = entity.attribute(number) else {
            throw CambiumError(.invalidInput, "'\(entity.name)' has no attribute with the number \(number.rawValue).")
        }
        return attribute
    }

    // MARK: Links

    private mutating func link(
        _ id: ObjectID, _ property: PropertyNumber, _ target: ObjectID, _ index: Int?
    ) throws(CambiumError) {
        let (end, owner, row) = try resolve(id, property, target)
        if let index, index < 0 || index > reader.memberCount(end, owner: owner.row) {
            throw CambiumError(.invalidInput, "Index \(index) is outside the relationship of \(text(of: id)).")
        }
        link(end, owner: owner.row, target: row.row, at: index)
    }

    private func resolve(
        _ id: ObjectID, _ property: PropertyNumber, _ target: ObjectID
    ) throws(CambiumError) -> (EndLayout, ObjectPlace, ObjectPlace) {
        let owner = try livePlace(id)
        let row = try livePlace(target)
        guard let entity = entity(at: owner), let relationship = entity.relationship(property) else {
            throw CambiumError(.invalidInput, "\(text(of: id)) has no relationship with the number \(property.rawValue).")
        }
        guard let family = schema.entity(relationship.destination)?.family, let other = self.entity(at: row),
            family.contains(other.number)
        else {
            let wanted = schema.entity(relationship.destination)?.name ?? ""
            throw CambiumError(
                .invalidInput, "'\(relationship.name)' of \(text(of: id)) holds '\(wanted)', and \(text(of: target)) is none.")
        }
        return (layout.end(relationship), owner, row)
    }

    func livePlace(_ id: ObjectID) throws(CambiumError) -> ObjectPlace {
        guard let place = place(of: id) else { throw CambiumError(.notFound, "There is no object \(text(of: id)).") }
        return place
    }

    func text(of id: ObjectID) -> String {
        let name = place(of: id).flatMap { entity(at: $0) }?.name ?? schema.entity(id.root)?.name ?? "\(id.root)"
        return "\(name)/\(id.serial)"
    }
}
