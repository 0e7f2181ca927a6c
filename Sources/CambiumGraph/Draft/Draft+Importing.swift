package import CambiumModel

/// A relationship, resolved once for an import that writes many links. It holds few references, so that a copy is cheap.
package struct ImportEnd {
    let end: EndLayout
    let isOrdered: Bool
}

/// An entity, resolved once for an import that writes many of its objects.
package final class ImportTable {
    let table: TableLayout
    package let entity: Entity
    let identity: IndexLayout?
    /// The index and the column in which the import looks up keys of one attribute. `nil` if the import has no identity.
    package let keyPlace: KeyPlace?
    /// The column of each attribute of the entity, in the order of `entity.attributes`.
    let slots: [Int]
    /// The default of each attribute in the same order; `nil` if the attribute has no default.
    let defaults: [StoredCell?]
    /// Whether the numbers of members of a new object must be checked.
    let isCounted: Bool

    init(table: TableLayout, entity: Entity, identity: IndexLayout?, slots: [Int], defaults: [StoredCell?], isCounted: Bool) {
        self.table = table
        self.entity = entity
        self.identity = identity
        keyPlace = identity.map {
            KeyPlace(
                table: table.index, index: $0.number, slot: $0.slots[0], kind: $0.kinds[0], negativeZero: $0.negativeZeros[0])
        }
        self.slots = slots
        self.defaults = defaults
        self.isCounted = isCounted
    }

    package var number: Int { table.index }
    package var hasIndex: Bool { identity != nil }
    package func hasDefault(_ attribute: Int) -> Bool { defaults[attribute] != nil }
}

/// The index over an identity, and the column of its first attribute. The fields are plain numbers, so a copy is cheap.
package struct KeyPlace {
    let table: Int
    let index: Int
    let slot: Int
    let kind: ColumnKind
    let negativeZero: UInt64
}

extension Cell {
    /// Returns the hash of this value in an index over one attribute of this type.
    @inline(__always) package func keyHash(_ key: HashKey, _ type: AttributeType) -> UInt64 {
        var hash = KeyHash(key)
        // Numbers such as 0.0 and -0.0 are equal with different bits, so they are converted first. Equal texts always have equal bytes.
        if kind == .bytes { hash.add(bytes) } else { hash.add(self.key(type)) }
        return hash.value
    }
}

extension Graph {
    /// The secret numbers from which the hashes in indexes are computed. They are the same in all graphs of an open store.
    package var hashKey: HashKey { reader.hashKey }
}

/// Writes row by row, for imports. The caller checks each row, and the ops are derived afterwards.
extension Draft {
    /// Resolves an entity for writing many of its objects.
    ///
    /// - Parameter identity: The unique set by which the import finds objects; `nil` if it does not look for objects.
    package borrowing func importTable(_ entity: Entity, identity: UniqueSet?) throws(CambiumError) -> ImportTable {
        guard let table = layout.table(of: entity.root) else {
            throw CambiumError(.notFound, "The schema has no entity '\(entity.name)'.")
        }
        var defaults: [StoredCell?] = []
        for attribute in entity.attributes {
            defaults.append(attribute.defaultValue.isNull ? nil : try StoredCell(attribute.defaultValue, attribute))
        }
        return ImportTable(
            table: table, entity: entity, identity: table.indexes.first { $0.set == identity },
            slots: entity.attributes.map { table.slot(of: $0.number) }, defaults: defaults,
            isCounted: entity.relationships.contains { layout.needsCount(table.index, $0.number) })
    }

    // MARK: Objects

    /// Returns the row with these identity values, or `nil` if there is no such row.
    package borrowing func row(_ table: ImportTable, identity cells: [Cell]) -> UInt32? {
        guard let index = table.identity else { return nil }
        let row = reader.row(table.number, index, keys: cells)
        return row == noRow ? nil : row
    }

    /// Returns the row with this key. The key is the value of one attribute, and `hash` is its hash.
    @inline(__always)
    package borrowing func row(_ place: KeyPlace, _ key: Cell, hash: UInt64) -> UInt32? {
        let row = reader.row(
            place.table, place.index, place.slot, place.kind, place.negativeZero, key: key.key(place.negativeZero), hash: hash)
        return row == noRow ? nil : row
    }

    /// Lets another thread supply memory for several MiB of pages, unless as much memory is already available.
    package borrowing func prepareMemory() { space.memory.prepareAhead() }

    /// Prefetches the memory in which a key is looked up.
    package borrowing func prefetch(_ place: KeyPlace, hash: UInt64) { reader.prefetchBlock(place.table, place.index, hash) }

    /// Calls `body` with the rows of a table, by ascending serial.
    package borrowing func forEachRow(_ table: ImportTable, _ body: (UInt32) -> Void) {
        let map = reader.vector(table.number, TablePage.virtualPagesOffset)
        var next = 0
        // The loop skips the gaps between serials: virtual pages without objects do not exist.
        while let page = map.firstIndex(from: next, reader.chunks) {
            let first = UInt64(page) << UInt64(PageLayout.fanOutShift)
            for serial in first...first | UInt64(PageLayout.fanOutMask) {
                if let row = reader.row(table.number, serial: serial) { body(row) }
            }
            next = page + 1
        }
    }

    /// Calls `body` with the stored value of an attribute. `attribute` is its index in the attributes of the entity.
    package borrowing func withCell<R>(_ table: ImportTable, _ row: UInt32, attribute: Int, _ body: (Cell) -> R) -> R {
        let slot = table.slots[attribute]
        return reader.rows(table.number).withCell(row, slot, table.table.columns[slot], body)
    }

    /// Returns the concrete entity of a row.
    package borrowing func entity(_ table: ImportTable, _ row: UInt32) -> EntityNumber {
        reader.rows(table.number).entity(row, table.table)
    }

    package borrowing func isStub(_ table: ImportTable, _ row: UInt32) -> Bool { reader.rows(table.number).isStub(row) }

    /// Returns whether an object is from the original graph: the graph from which the draft was made.
    package borrowing func isOriginal(_ table: ImportTable, _ row: UInt32) -> Bool {
        reader.rows(table.number).serial(row) < base.reader.nextSerialOrOne(table.number, of: base.layout)
    }

    /// Inserts an object that has no values yet and is in no index until `endInsert`.
    package mutating func beginInsert(_ table: ImportTable) throws(CambiumError) -> UInt32 {
        let serial = reader.nextSerial(table.number)
        guard serial <= ObjectID.serialMax else {
            throw CambiumError(
                .limitExceeded,
                "The hierarchy of '\(table.entity.name)' has used all of its serials, the numbers in object ids. Create a new store, and "
                    + "import the objects into it.")
        }
        try checkRowCapacity(table.table, CollectionOfOne(serial...serial))
        return insertRow(table.table, serial: serial, entity: table.entity.number)
    }

    /// Stores a value in a new object. `attribute` is the index of the attribute in the attributes of the entity.
    package mutating func initialize(_ table: ImportTable, _ row: UInt32, attribute: Int, _ cell: Cell) {
        let slot = table.slots[attribute]
        store(table.number, row, slot, table.table.columns[slot], cell)
    }

    /// Stores the default of an attribute in a new object, if the attribute has a default. `attribute` is its index in the attributes of
    /// the entity.
    package mutating func initializeDefault(_ table: ImportTable, _ row: UInt32, attribute: Int) {
        guard let cell = table.defaults[attribute] else { return }
        let slot = table.slots[attribute]
        cell.withCell { store(table.number, row, slot, table.table.columns[slot], $0) }
    }

    /// Adds a new object to the indexes.
    ///
    /// - Parameter hash: The hash of the object's identity, if the caller has just looked for it and found no object. Otherwise 0.
    package mutating func endInsert(_ table: ImportTable, _ row: UInt32, isStub: Bool, hash: UInt64) {
        if hash != 0, let place = table.keyPlace {
            addEntry(place.table, place.index, hash: hash, row: row)
            if table.table.indexes.count > 1 {
                for index in table.table.indexes where index.number != place.index { addToIndex(table.table, index, row) }
            }
        } else {
            for index in table.table.indexes { addToIndex(table.table, index, row) }
        }
        if isStub { setStub(table.table, row, true) }
        if table.isCounted, !isStub { pending.noteObject(table.number, row) }
    }

    /// Changes a value of an existing object. Returns whether the new value differs from the old value. `attribute` is the index of the
    /// attribute in the attributes of the entity.
    @discardableResult
    package mutating func change(_ table: ImportTable, _ row: UInt32, attribute: Int, _ cell: Cell) -> Bool {
        guard set(table.table, row, table.slots[attribute], cell) else { return false }
        setProvenance(table.number, row, TableLayout.changedSlot)
        return true
    }

    package mutating func changeToDefault(_ table: ImportTable, _ row: UInt32, attribute: Int) {
        table.defaults[attribute]?.withCell { _ = change(table, row, attribute: attribute, $0) }
    }

    /// Turns a stub into a full object.
    package mutating func fill(_ table: ImportTable, _ row: UInt32) {
        setStub(table.table, row, false)
        setProvenance(table.number, row, TableLayout.changedSlot)
        if table.isCounted { pending.noteObject(table.number, row) }
    }

    package borrowing func id(_ table: ImportTable, _ row: UInt32) -> ObjectID {
        reader.id(ObjectPlace(table: table.number, row: row), layout)
    }

    package borrowing func isNull(_ table: ImportTable, _ row: UInt32, attribute: Int) -> Bool {
        let slot = table.slots[attribute]
        return reader.rows(table.number).isNull(row, slot, table.table.columns[slot])
    }

    // MARK: Links

    package borrowing func importEnd(_ relationship: Relationship) -> ImportEnd {
        ImportEnd(end: layout.handle(relationship).end, isOrdered: relationship.isOrdered)
    }

    /// Links a to-one relationship to a row, or to no row if `target` is `nil`.
    package mutating func setTarget(_ end: ImportEnd, _ owner: UInt32, _ target: UInt32?) {
        if let target { link(end.end, owner: owner, target: target) } else { clearTarget(end.end, owner) }
    }

    /// Replaces the members of `owner` by `targets`, in this order if the relationship is ordered. `targets` must not contain a row twice.
    package mutating func replaceMembers(_ end: ImportEnd, _ owner: UInt32, _ targets: [UInt32]) {
        var current: [UInt32] = []
        reader.forEachMember(end.end, owner: owner) { current.append($0) }
        if current == targets { return }
        if current.isEmpty { return linkFirst(end.end, owner: owner, targets: targets) }
        if end.isOrdered {
            let kept = zip(current, targets).prefix { $0 == $1 }.count
            replaceSuffix(end.end, owner: owner, kept: kept, Array(targets[kept...]))
            return
        }
        let wanted = Set(targets)
        for member in current where !wanted.contains(member) { unlink(end.end, owner: owner, target: member) }
        appendMembers(end, owner, targets)
    }

    /// Adds the rows of `targets` that are not members of `owner` yet.
    package mutating func appendMembers(_ end: ImportEnd, _ owner: UInt32, _ targets: [UInt32]) {
        for target in targets { link(end.end, owner: owner, target: target) }
    }

    // MARK: Outcome

    /// Returns an empty set of rows for each table.
    package borrowing func emptyRowSets() -> [RowSet] { [RowSet](repeating: RowSet(), count: layout.tables.count) }

    /// Returns the original objects of an entity whose rows are not in `mentioned` (a set for each table), ascending.
    package borrowing func absent(_ entity: Entity, mentioned: [RowSet]) -> [ObjectID] {
        guard let table = layout.table(of: entity.root) else { return [] }
        let rows = reader.rows(table.index)
        let firstNew = base.reader.nextSerialOrOne(table.index, of: base.layout)
        var serials: [UInt64] = []
        reader.forEachRow(of: table) { row in
            guard !mentioned[table.index].contains(row), entity.family.contains(rows.entity(row, table)) else { return }
            if rows.serial(row) < firstNew { serials.append(rows.serial(row)) }
        }
        return serials.sorted().map { ObjectID(root: entity.root, serial: $0) }
    }

    /// For a set of objects to delete, returns the number of original objects of each entity that would disappear, including cascades.
    package borrowing func countDeleted(_ ids: [ObjectID]) -> [EntityNumber: Int] {
        var counts: [EntityNumber: Int] = [:]
        for place in closure(of: ids.compactMap { self.place(of: $0) }) {
            let table = layout.tables[Int(place.table)]
            let rows = reader.rows(table.index)
            if rows.serial(place.row) < base.reader.nextSerialOrOne(table.index, of: base.layout) {
                counts[rows.entity(place.row, table), default: 0] += 1
            }
        }
        return counts
    }

    /// Counts the changed objects and the objects in `seen`, by entity and by their net change. `seen` has a set of rows for each table.
    package borrowing func netCounts(seen: [RowSet]) -> [EntityNumber: NetCounts] {
        guard let touched else { return [:] }
        // An array, because lookups in a dictionary would take longer than all other work here.
        var counts = [NetCounts](repeating: NetCounts(), count: 1 + Int(schema.entities.map(\.number.rawValue).max() ?? 0))
        for table in layout.tables where table.root != nil {
            var all = seen[table.index]
            all.formUnion(touched.attributes[table.index])
            let ends = endsStarting(at: table.index).map { end in
                TouchedEnd(end: end, owners: touched.ends[2 * end.link + end.end], hubs: hubs(touched, end))
            }
            for end in ends { all.formUnion(end.owners) }
            let rows = reader.rows(table.index)
            let firstNew = base.reader.nextSerialOrOne(table.index, of: base.layout)
            let newCount = Int(reader.nextSerial(table.index) - firstNew)
            let liveCountBefore = table.index < base.layout.tables.count ? base.reader.liveCount(table.index) : 0
            let hasDeleted = reader.liveCount(table.index) < liveCountBefore + newCount
            all.forEach { row in
                if hasDeleted, !rows.isLive(row) { return }
                let entity = Int(rows.entity(row, table).rawValue)
                if entity >= counts.count { reader.chunks.refuse("an object has no valid entity") }
                if rows.serial(row) >= firstNew {
                    if rows.isStub(row) {
                        counts[entity].stubs += 1
                    } else {
                        counts[entity].inserted += 1
                    }
                } else if isChanged(table, row, touched, ends) {
                    counts[entity].updated += 1
                } else if seen[table.index].contains(row) {
                    counts[entity].unchanged += 1
                }
            }
        }
        var byEntity: [EntityNumber: NetCounts] = [:]
        for entity in schema.entities {
            let count = counts[Int(entity.number.rawValue)]
            if count != NetCounts() { byEntity[entity.number] = count }
        }
        return byEntity
    }

    private borrowing func endsStarting(at table: Int) -> [EndLayout] {
        layout.links.indices.flatMap { link in
            [0, 1].compactMap { end in
                let definition = schema.links[link]
                guard (end == 0 ? definition.first : definition.second).property != nil else { return nil }
                let end = layout.end(link, end)
                return layout.startTable(end) == table ? end : nil
            }
        }
    }

    /// One end of a link, with the objects whose members at this end may have changed.
    private struct TouchedEnd {
        let end: EndLayout
        let owners: RowSet
        let hubs: [UInt32: HubChange]
    }

    private borrowing func hubs(_ touched: TouchedRows, _ end: EndLayout) -> [UInt32: HubChange] {
        let link = schema.links[end.link]
        guard (end.end == 0 ? link.first : link.second).isToMany else { return [:] }
        var owners: [UInt32] = []
        touched.ends[2 * end.link + end.end].forEach { owners.append($0) }
        return derivation.hubs(among: owners, end, sides: link.isSymmetric ? [0, 1] : [end.end])
    }

    private borrowing func isChanged(_ table: TableLayout, _ row: UInt32, _ touched: TouchedRows, _ ends: [TouchedEnd]) -> Bool {
        if touched.attributes[table.index].contains(row) {
            let rows = reader.rows(table.index)
            let before = base.reader.rows(table.index)
            if rows.isStub(row) != before.isStub(row) { return true }
            let attributes = schema.entity(rows.entity(row, table))?.attributes ?? []
            if attributes.contains(where: { !$0.isDerived && !OpDerivation.isUnchanged($0, table, row, rows, before) }) { return true }
        }
        for touchedEnd in ends where touchedEnd.owners.contains(row) {
            let end = touchedEnd.end
            if let hub = touchedEnd.hubs[row] {
                if derivation.isChanged(hub, end) { return true }
                continue
            }
            var before: [UInt32] = []
            var after: [UInt32] = []
            base.reader.forEachMember(end, owner: row) { before.append($0) }
            reader.forEachMember(end, owner: row) { after.append($0) }
            let definition = schema.links[end.link]
            if !(end.end == 0 ? definition.first : definition.second).isOrdered {
                before.sort()
                after.sort()
            }
            if before != after { return true }
        }
        return false
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
