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
                let identity = entity.identity.map(\.number).filter { !shape.attributes.contains($0) }
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
