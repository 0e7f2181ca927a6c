import CambiumModel
import Glibc

/// Derives the ops that lead from one graph to another. Changes that cancel each other out cause no ops.
struct OpDerivation {
    let reader: Reader
    let layout: GraphLayout
    /// The graph that the ops are applied to. The graph has no tables if the ops make the whole graph.
    let before: (reader: Reader, layout: GraphLayout)
    /// The rows that differ between the two graphs; `nil` if all rows differ.
    let touched: TouchedRows?
    var limits: HubLimits { touched?.limits ?? HubLimits() }

    /// Emits blocks of inserted and changed objects, then blocks of links.
    ///
    /// Deletions are not derived. Complexity: O(objects that differ).
    ///
    /// - Parameter emit: Receives each op as soon as it is made, so that not all ops are in memory at once.
    func run(_ emit: (Op) throws(CambiumError) -> Void) throws(CambiumError) {
        for table in layout.tables where table.root != nil {
            try emitInserted(table, emit)
            if let touched { try emitChanged(table, touched.attributes[table.index], emit) }
        }
        for entity in layout.schema.entities {
            for relationship in entity.relationships where relationship.entity == entity.number { try emitLinks(relationship, emit) }
        }
    }

    // MARK: Objects

    private func emitInserted(
        _ table: TableLayout, _ emit: (Op) throws(CambiumError) -> Void
    ) throws(CambiumError) {
        let rows = reader.rows(table.index)
        try forEachPartOfInserted(table) { part throws(CambiumError) in
            var shapes: [(shape: InsertShape, rows: [UInt32])] = []
            var places: [InsertShape: Int] = [:]
            var place = 0
            for row in part {
                let shape = InsertShape(entity: rows.entity(row, table), isStub: rows.isStub(row))
                // Most rows have the same entity and the same state (stub or not) as the row before, so the last shape is compared first.
                if shapes.isEmpty || shapes[place].shape != shape { place = places[shape] ?? shapes.count }
                if place == shapes.count {
                    places[shape] = place
                    shapes.append((shape, []))
                }
                shapes[place].rows.append(row)
            }
            for (shape, members) in shapes {
                guard let entity = layout.schema.entity(shape.entity) else { continue }
                let builder = BlockBuilder(rows: rows, table: table)
                let properties = entity.attributes.filter { !$0.isDerived }.map(\.number)
                for members in builder.parts(members, properties) {
                    try emit(
                        .upsert(
                            UpsertBlock(
                                entity: shape.entity, kind: shape.isStub ? .insertStub : .insert, serials: builder.serials(members),
                                identity: [], columns: properties.map { builder.column($0, members) })))
                }
            }
        }
    }

    /// Calls `body` with the rows of new objects, by ascending serial. Each call gets at most as many rows as one block holds.
    private func forEachPartOfInserted(
        _ table: TableLayout, _ body: ([UInt32]) throws(CambiumError) -> Void
    ) throws(CambiumError) {
        let countMax = BlockBuilder.objectCountMax(table)
        if touched == nil {
            let rows = reader.rows(table.index)
            var all: [UInt32] = []
            reader.forEachRow(of: table) { all.append($0) }
            all.sort { rows.serial($0) < rows.serial($1) }
            for start in stride(from: 0, to: all.count, by: countMax) { try body(Array(all[start..<min(start + countMax, all.count)])) }
            return
        }
        var first = before.reader.nextSerialOrOne(table.index, of: before.layout)
        let end = reader.nextSerial(table.index)
        while first < end {
            let last = min(first + UInt64(countMax), end)
            try body((first..<last).compactMap { reader.row(table.index, serial: $0) })
            first = last
        }
    }

    private struct InsertShape: Hashable {
        let entity: EntityNumber
        let isStub: Bool
    }

    private func emitChanged(
        _ table: TableLayout, _ changed: RowSet, _ emit: (Op) throws(CambiumError) -> Void
    ) throws(CambiumError) {
        let rows = reader.rows(table.index)
        let old = before.reader.rows(table.index)
        let firstNew = before.reader.nextSerialOrOne(table.index, of: before.layout)
        var shapes: [ChangeShape: [UInt32]] = [:]
        var order: [ChangeShape] = []
        changed.forEach { row in
            guard rows.isLive(row), rows.serial(row) < firstNew, let entity = layout.schema.entity(rows.entity(row, table)) else { return }
            let differing = entity.attributes.filter { !$0.isDerived && !Self.isUnchanged($0, table, row, rows, old) }.map(\.number)
            let isFilled = old.isStub(row) && !rows.isStub(row)
            if differing.isEmpty, !isFilled { return }
            let shape = ChangeShape(entity: entity.number, isFilled: isFilled, attributes: differing)
            if shapes[shape] == nil { order.append(shape) }
            shapes[shape, default: []].append(row)
        }
        let objectCountMax = BlockBuilder.objectCountMax(table)
        for shape in order {
            guard let entity = layout.schema.entity(shape.entity), let all = shapes[shape] else { continue }
            let sorted = all.sorted { rows.serial($0) < rows.serial($1) }
            for start in stride(from: 0, to: sorted.count, by: objectCountMax) {
                let objects = Array(sorted[start..<min(start + objectCountMax, sorted.count)])
                let builder = BlockBuilder(rows: rows, table: table)
                let identity = entity.identityAttributes.map(\.number).filter { !shape.attributes.contains($0) }
                for members in builder.parts(objects, identity + shape.attributes) {
                    try emit(
                        .upsert(
                            UpsertBlock(
                                entity: shape.entity, kind: shape.isFilled ? .fill : .update, serials: builder.serials(members),
                                identity: identity.map { builder.column($0, members) },
                                columns: shape.attributes.map { builder.column($0, members) })))
                }
            }
        }
    }

    private struct ChangeShape: Hashable {
        let entity: EntityNumber
        let isFilled: Bool
        let attributes: [PropertyNumber]
    }

    static func isUnchanged(
        _ attribute: Attribute, _ table: TableLayout, _ row: UInt32, _ rows: Rows, _ before: Rows
    ) -> Bool {
        let slot = table.slot(of: attribute.number)
        return rows.withCell(row, slot, table.columns[slot]) { before.equals(row, slot, table.columns[slot], $0) }
    }
}

extension OpDerivation {
    /// Emits the changes at one end of a link, if this end reports them. Each ordered end reports its own order. If no end is ordered, only
    /// one end reports: the to-one end, or the first end if both ends are of the same kind.
    func emitLinks(_ relationship: Relationship, _ emit: (Op) throws(CambiumError) -> Void) throws(CambiumError) {
        let end = layout.end(relationship)
        guard reports(end, relationship) else { return }
        let rows = reader.rows(layout.tableIndex(ofKnown: relationship.root))
        let changed = owners(of: relationship, end).sorted { rows.serial($0) < rows.serial($1) }
        var builder = LinkBlockBuilder(
            relationship: relationship, kind: kind(relationship), memberCountMax: limits.blockMemberCountMax)
        let hubs = builder.kind == .toOne ? [:] : hubs(among: changed, end, sides: [end.end])
        for row in changed {
            if let hub = hubs[row] {
                try add(hub, row, end, relationship, to: &builder, emit)
            } else {
                try add(row, end, relationship, rows.serial(row), to: &builder, emit)
            }
            for block in builder.takeFull() { try emit(.relink(block)) }
        }
        for block in builder.take() { try emit(.relink(block)) }
    }

    /// Returns the objects whose members may have changed.
    private func owners(of relationship: Relationship, _ end: EndLayout) -> [UInt32] {
        let table = layout.tables[layout.tableIndex(ofKnown: relationship.root)]
        let rows = reader.rows(table.index)
        var owners: [UInt32] = []
        if let touched {
            touched.ends[2 * end.link + end.end].forEach { if rows.isLive($0) { owners.append($0) } }
        } else {
            let family = layout.schema.entity(relationship.entity)?.family ?? []
            reader.forEachRow(of: table) { if family.contains(rows.entity($0, table)) { owners.append($0) } }
        }
        return owners
    }

    private func reports(_ end: EndLayout, _ relationship: Relationship) -> Bool {
        if relationship.isOrdered { return true }
        switch end.layout {
        case .pair: return end.end == 0
        case .list(let list, let childEnd): return end.end == childEnd && !list.isOrdered
        case .edges(_, let lists, _): return end.end == 0 && !lists[1].isOrdered
        }
    }

    private func kind(_ relationship: Relationship) -> LinkBlockBuilder.Kind {
        relationship.isOrdered ? .ordered : relationship.isToMany ? .unordered : .toOne
    }

    private func add(
        _ row: UInt32, _ end: EndLayout, _ relationship: Relationship, _ serial: UInt64, to builder: inout LinkBlockBuilder,
        _ emit: (Op) throws(CambiumError) -> Void
    ) throws(CambiumError) {
        let targets = layout.tableIndex(ofKnown: relationship.destinationRoot)
        let existed =
            before.layout.tables.count > targets
            && before.reader.rows(layout.tableIndex(ofKnown: relationship.root)).isLive(row)
        if builder.kind == .toOne {
            let after = target(reader, targets, end, row)
            if after != (existed ? target(before.reader, targets, end, row) : 0) { builder.addToOne(serial, after) }
            return
        }
        if !existed, builder.kind == .unordered {
            return builder.addUnordered(serial) { appendMembers(reader, targets, end, row, to: &$0) }
        }
        let after = members(reader, targets, end, row)
        let old = existed ? members(before.reader, targets, end, row) : []
        if old == after { return }
        switch builder.kind {
        case .toOne: break
        case .ordered:
            let kept = zip(old, after).prefix { $0 == $1 }.count
            let (leaving, coming) = (old[kept...], after[kept...])
            if coming.count <= limits.blockMemberCountMax { return builder.addOrdered(serial, kept: kept, suffix: coming) }
            let staying = Set(coming)
            for member in leaving.filter({ !staying.contains($0) }).sorted() {
                let target = ObjectID(root: relationship.destinationRoot, serial: member)
                try emit(.unlink(ObjectID(root: relationship.root, serial: serial), relationship.number, target: target))
            }
            builder.addLast(serial, coming)
        case .unordered:
            let (oldSet, newSet) = (Set(old), Set(after))
            let removed = old.filter { !newSet.contains($0) }.sorted()
            let added = after.filter { !oldSet.contains($0) }.sorted()
            if !removed.isEmpty || !added.isEmpty { builder.addUnordered(serial, removed, added) }
        }
    }

    /// Adds the changes of a hub (an object with many members) to the block of `builder`. If the members are ordered and the block would
    /// become too large, emits single ops instead.
    private func add(
        _ hub: HubChange, _ row: UInt32, _ end: EndLayout, _ relationship: Relationship, to builder: inout LinkBlockBuilder,
        _ emit: (Op) throws(CambiumError) -> Void
    ) throws(CambiumError) {
        if builder.kind == .ordered { return try emitOrdered(hub, row, end, relationship, &builder, emit) }
        if !hub.changesMembers { return }
        let rows = reader.rows(layout.tableIndex(ofKnown: relationship.destinationRoot))
        let (removed, added) = (hub.removed.map { rows.serial($0) }, hub.added.map { rows.serial($0) })
        builder.addUnordered(reader.rows(layout.startTable(end)).serial(row), removed.sorted(), added.sorted())
    }

    /// Returns the serial at the other end of a to-one relationship, or 0 if there is no object.
    private func target(_ reader: Reader, _ table: Int, _ end: EndLayout, _ row: UInt32) -> UInt64 {
        var serial: UInt64 = 0
        reader.forEachMember(end, owner: row) { serial = reader.rows(table).serial($0) }
        return serial
    }

    /// Returns the serials of an object's members. If a relationship is its own inverse, returns only the members to which the object is
    /// linked as the first end. So each edge is reported once.
    private func members(_ reader: Reader, _ table: Int, _ end: EndLayout, _ row: UInt32) -> [UInt64] {
        var serials: [UInt64] = []
        appendMembers(reader, table, end, row, to: &serials)
        return serials
    }

    private func appendMembers(
        _ reader: Reader, _ table: Int, _ end: EndLayout, _ row: UInt32, to serials: inout [UInt64]
    ) {
        let rows = reader.rows(table)
        if case .edges(let edgeTable, let lists, true) = end.layout {
            let edges = reader.rows(edgeTable)
            for edge in ListRows(reader, lists[0], owner: row) { serials.append(rows.serial(edges.link(edge, 1))) }
        } else {
            reader.forEachMember(end, owner: row) { serials.append(rows.serial($0)) }
        }
    }
}
