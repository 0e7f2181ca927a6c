public import CambiumModel

#if canImport(Glibc)
    import Glibc
#endif

extension Draft {
    /// From here on the draft notes which objects change, so that `derivedOps` can tell the outcome.
    public mutating func trackChanges() { touched = TouchedRows(layout) }

    /// The ops that lead from the original graph to this one: what nets to nothing is in none of them.
    ///
    /// Blocks of inserted and changed objects come first, then blocks of links. Deletions are not derived: nothing may have
    /// been deleted since `trackChanges`. Complexity: O(objects changed).
    ///
    /// - Parameter emit: takes each block as it is made, so that all of them need not be in memory at once.
    public borrowing func deriveOps(_ emit: (Op) throws(CambiumError) -> Void) throws(CambiumError) {
        guard let touched else { return }
        for table in layout.tables where table.root != nil {
            try emitInserted(table, emit)
            try emitChanged(table, touched.attributes[table.index], emit)
        }
        for entity in schema.entities {
            for relationship in entity.relationships where relationship.entity == entity.number {
                try emitLinks(relationship, touched, emit)
            }
        }
    }

    // MARK: Objects

    private borrowing func emitInserted(
        _ table: TableLayout, _ emit: (Op) throws(CambiumError) -> Void
    ) throws(CambiumError) {
        let reader = reader
        let rows = reader.rows(table.index)
        let objectCountMax = BlockBuilder.objectCountMax(table)
        var first = base.reader.nextSerialOrOne(table.index, of: base.layout)
        let end = reader.nextSerial(table.index)
        while first < end {
            var shapes: [(shape: InsertShape, rows: [UInt32])] = []
            let last = min(first + UInt64(objectCountMax), end)
            for serial in first..<last {
                guard let row = reader.row(table.index, serial: serial) else { continue }
                let shape = InsertShape(entity: rows.entity(row, table), isStub: rows.isStub(row))
                let place = shapes.firstIndex { $0.shape == shape } ?? shapes.count
                if place == shapes.count { shapes.append((shape, [])) }
                shapes[place].rows.append(row)
            }
            for (shape, members) in shapes {
                guard let entity = schema.entity(shape.entity) else { continue }
                let builder = BlockBuilder(rows: rows, table: table)
                try emit(
                    .upsert(
                        UpsertBlock(
                            entity: shape.entity, kind: shape.isStub ? .insertStub : .insert, serials: builder.serials(members),
                            identity: [], columns: entity.attributes.map { builder.column($0.number, members) })))
            }
            first = last
        }
    }

    private struct InsertShape: Equatable {
        let entity: EntityNumber
        let isStub: Bool
    }

    private borrowing func emitChanged(
        _ table: TableLayout, _ changed: RowSet, _ emit: (Op) throws(CambiumError) -> Void
    ) throws(CambiumError) {
        let rows = reader.rows(table.index)
        let before = base.reader.rows(table.index)
        let firstNew = base.reader.nextSerialOrOne(table.index, of: base.layout)
        var shapes: [ChangeShape: [UInt32]] = [:]
        var order: [ChangeShape] = []
        changed.forEach { row in
            guard rows.isLive(row), rows.serial(row) < firstNew, let entity = schema.entity(rows.entity(row, table)) else { return }
            let differing = entity.attributes.filter { !isUnchanged($0, table, row, rows, before) }.map(\.number)
            let isFilled = before.isStub(row) && !rows.isStub(row)
            if differing.isEmpty, !isFilled { return }
            let shape = ChangeShape(entity: entity.number, isFilled: isFilled, attributes: differing)
            if shapes[shape] == nil { order.append(shape) }
            shapes[shape, default: []].append(row)
        }
        let objectCountMax = BlockBuilder.objectCountMax(table)
        for shape in order {
            guard let entity = schema.entity(shape.entity), let all = shapes[shape] else { continue }
            let sorted = all.sorted { rows.serial($0) < rows.serial($1) }
            for start in stride(from: 0, to: sorted.count, by: objectCountMax) {
                let members = Array(sorted[start..<min(start + objectCountMax, sorted.count)])
                let builder = BlockBuilder(rows: rows, table: table)
                let identity = entity.identity.map(\.number).filter { !shape.attributes.contains($0) }
                try emit(
                    .upsert(
                        UpsertBlock(
                            entity: shape.entity, kind: shape.isFilled ? .fill : .update, serials: builder.serials(members),
                            identity: identity.map { builder.column($0, members) },
                            columns: shape.attributes.map { builder.column($0, members) })))
            }
        }
    }

    private struct ChangeShape: Hashable {
        let entity: EntityNumber
        let isFilled: Bool
        let attributes: [PropertyNumber]
    }

    borrowing func isUnchanged(
        _ attribute: Attribute, _ table: TableLayout, _ row: UInt32, _ rows: Rows, _ before: Rows
    ) -> Bool {
        let slot = table.slot(of: attribute.number)
        return rows.withCell(row, slot, table.columns[slot]) { before.equals(row, slot, table.columns[slot], $0) }
    }
}

extension Reader {
    /// The next serial of a table, where the graph has it already.
    func nextSerialOrOne(_ table: Int, of layout: GraphLayout) -> UInt64 {
        table < layout.tables.count ? nextSerial(table) : 1
    }
}

/// Copies columns of a table into the columns of a block.
struct BlockBuilder {
    /// Objects in one block: what keeps a block in the cache and its columns worth compressing.
    static let objectCountMax = 8192
    /// Values in all columns of one block: fewer than a reader of a log takes for one.
    static let valueCountMax = 1 << 23

    /// Objects in one block of a table with many columns.
    static func objectCountMax(_ table: TableLayout) -> Int {
        min(objectCountMax, max(1, valueCountMax / max(1, table.columns.count)))
    }

    let rows: Rows
    let table: TableLayout

    func serials(_ members: [UInt32]) -> SerialRuns {
        var serials = SerialRuns()
        for row in members { serials.append(rows.serial(row)) }
        return serials
    }

    func column(_ property: PropertyNumber, _ members: [UInt32]) -> AttributeColumn {
        let slot = table.slot(of: property)
        var presence = [UInt64](repeating: 0, count: (members.count + 63) / 64)
        if case .fixed(let width) = table.columns[slot] {
            var bytes = [UInt8](repeating: 0, count: width * members.count)
            bytes.withUnsafeMutableBytes { target in
                guard let start = target.baseAddress else { return }
                for (place, row) in members.enumerated() {
                    let leaf = rows.leaf(rows.group(row), slot)
                    if Rows.bit(leaf, PageLayout.presenceOffset, row) { presence[place >> 6] |= 1 << UInt64(place & 63) }
                    memcpy(start + width * place, leaf + PageLayout.valuesOffset + width * Int(row & PageLayout.rowMask), width)
                }
            }
            return AttributeColumn(property: property, presence: presence, content: .fixed(width: width, bytes: bytes))
        }
        var counts = [UInt32](repeating: 0, count: members.count)
        var bytes: [UInt8] = []
        for (place, row) in members.enumerated() {
            rows.withCell(row, slot, .string) { cell in
                if cell.kind == .null { return }
                presence[place >> 6] |= 1 << UInt64(place & 63)
                counts[place] = UInt32(cell.bytes.count)
                bytes.append(contentsOf: cell.bytes)
            }
        }
        return AttributeColumn(property: property, presence: presence, content: .variable(byteCounts: counts, bytes: bytes))
    }
}
