import CambiumModel

#if canImport(Glibc)
    import Glibc
#endif

extension Draft {
    /// Inserts or changes the objects of a block, column by column.
    mutating func apply(_ block: UpsertBlock) throws(CambiumError) {
        guard let entity = schema.entity(block.entity), !entity.isAbstract, let table = layout.table(of: entity.root) else {
            throw CambiumError(.damaged, "A block names \(block.entity), which the schema does not have.")
        }
        for column in block.columns { try check(column, block, entity, table) }
        let isInsert = block.kind == .insert || block.kind == .insertStub
        let rows =
            isInsert
            ? try insertRows(block, table) : try existingRows(block.serials, table, entity)
        let affected = isInsert ? [] : affectedIndexes(block, table)
        for index in affected { for row in rows { removeFromIndex(table, index, row) } }
        for column in block.columns { store(column, table, rows) }
        if isInsert {
            for index in table.indexes { addToIndex(table, index, bulk: rows) }
        } else {
            for index in affected { for row in rows { addToIndex(table, index, row) } }
        }
        for row in rows {
            if block.kind == .insertStub { setStub(table, row, true) }
            if block.kind == .fill { setStub(table, row, false) }
            if !isInsert {
                setProvenance(table.index, row, TableLayout.changedSlot)
                touched?.markAttributes(table.index, row)
            }
            if block.kind != .insertStub { pending.noteObject(table.index, row) }
        }
    }

    private func check(
        _ column: AttributeColumn, _ block: UpsertBlock, _ entity: Entity, _ table: TableLayout
    ) throws(CambiumError) {
        let count = block.serials.count
        let fits: Bool
        let type = entity.attribute(column.property)?.type
        if type == nil || column.presence.count != (count + 63) / 64 {
            fits = false
        } else {
            switch (column.content, table.columns[table.slot(of: column.property)]) {
            case (.fixed(let width, let bytes), .fixed(let wanted)):
                fits = width == wanted && bytes.count == width * count && (type != .date || areDates(bytes))
            case (.variable(let counts, let bytes), .string):
                fits =
                    counts.count == count && counts.reduce(0, { $0 + Int($1) }) == bytes.count
                    && counts.allSatisfy { $0 <= Blob.byteCountMax }
            default: fits = false
            }
        }
        guard fits else {
            throw CambiumError(.damaged, "A block of '\(entity.name)' has a column, \(column.property), that does not fit it.")
        }
    }

    /// Of the values of fixed width a date is the only one that has bits which nothing can write.
    private func areDates(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: 8).allSatisfy { offset in
                StoredForm.isDate(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            }
        }
    }

    private func affectedIndexes(_ block: UpsertBlock, _ table: TableLayout) -> [IndexLayout] {
        table.indexes.filter { index in block.columns.contains { index.set.attributes.contains($0.property) } }
    }

    // MARK: Rows

    private mutating func insertRows(_ block: UpsertBlock, _ table: TableLayout) throws(CambiumError) -> [UInt32] {
        var rows: [UInt32] = []
        rows.reserveCapacity(block.serials.count)
        for run in block.serials.runs {
            for serial in run.first..<run.first + UInt64(run.count) {
                guard serial > 0, serial <= ObjectID.serialMax, reader.row(table.index, serial: serial) == nil else {
                    throw CambiumError(.damaged, "A block inserts serial \(serial) of \(block.entity), which is there already.")
                }
                rows.append(insertRow(table, serial: serial, entity: block.entity))
            }
        }
        return rows
    }

    private func existingRows(
        _ serials: SerialRuns, _ table: TableLayout, _ entity: Entity?
    ) throws(CambiumError) -> [UInt32] {
        let reader = reader
        var rows: [UInt32] = []
        rows.reserveCapacity(serials.count)
        for run in serials.runs {
            for serial in run.first..<run.first + UInt64(run.count) {
                guard let row = reader.row(table.index, serial: serial) else {
                    throw CambiumError(.damaged, "A block changes serial \(serial) of a hierarchy that has no such object.")
                }
                if let entity, reader.rows(table.index).entity(row, table) != entity.number {
                    throw CambiumError(.damaged, "A block changes serial \(serial) as '\(entity.name)', which it is not.")
                }
                rows.append(row)
            }
        }
        return rows
    }

    // MARK: Columns

    private mutating func store(_ column: AttributeColumn, _ table: TableLayout, _ rows: [UInt32]) {
        let slot = table.slot(of: column.property)
        switch column.content {
        case .fixed(let width, let bytes):
            bytes.withUnsafeBytes { storeFixed(column.presence, table, slot, width, $0, rows) }
        case .variable(let counts, let bytes):
            bytes.withUnsafeBytes { storeVariable(column.presence, table, slot, counts, $0, rows) }
        }
    }

    private mutating func storeFixed(
        _ presence: [UInt64], _ table: TableLayout, _ slot: Int, _ width: Int, _ bytes: UnsafeRawBufferPointer, _ rows: [UInt32]
    ) {
        guard let source = bytes.baseAddress else { return }
        var index = 0
        while index < rows.count {
            let groupIndex = rows[index] &>> PageLayout.rowShift
            var end = index + 1
            while end < rows.count, rows[end] &>> PageLayout.rowShift == groupIndex { end += 1 }
            defer { index = end }
            let group = ownedGroup(table.index, rows[index])
            if (index..<end).allSatisfy({ !isPresent(presence, $0) }), isConstant(group, slot) { continue }
            let leaf = ownedLeaf(group, slot)
            for place in index..<end {
                let row = rows[place]
                let target = leaf + PageLayout.valuesOffset + width * Int(row & PageLayout.rowMask)
                memcpy(target, source + width * place, width)
                Rows.setBit(leaf, PageLayout.presenceOffset, row, isPresent(presence, place))
            }
        }
    }

    private mutating func storeVariable(
        _ presence: [UInt64], _ table: TableLayout, _ slot: Int, _ counts: [UInt32], _ bytes: UnsafeRawBufferPointer,
        _ rows: [UInt32]
    ) {
        var offset = 0
        for (place, row) in rows.enumerated() {
            let count = Int(counts[place])
            if isPresent(presence, place) {
                setBytes(table.index, row, slot, UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
            } else if !isConstant(ownedGroup(table.index, row), slot) {
                setBytes(table.index, row, slot, nil)
            }
            offset += count
        }
    }

    @inline(__always) private func isPresent(_ presence: [UInt64], _ index: Int) -> Bool {
        presence[index >> 6] >> UInt64(index & 63) & 1 != 0
    }

    private func isConstant(_ group: UnsafeMutableRawPointer, _ slot: Int) -> Bool {
        chunks.birth(group.load(fromByteOffset: GroupLayout.columnsOffset + 4 * slot, as: PageRef.self)) == 0
    }

    // MARK: Links

    /// Gives the objects of a block the members that it lists.
    mutating func apply(_ block: LinkBlock) throws(CambiumError) {
        guard let table = layout.table(of: block.root),
            let relationship = schema.entities.lazy.filter({ $0.root == block.root })
                .compactMap({ $0.relationship(block.property) }).first,
            let targets = layout.table(of: relationship.destinationRoot)
        else { throw CambiumError(.damaged, "A block of links names \(block.property), which the schema does not have.") }
        let end = layout.end(relationship)
        let owners = try existingRows(block.serials, table, nil)
        let ownerRows = reader.rows(table.index)
        var owning = Family(schema.entity(relationship.entity))
        guard owners.allSatisfy({ owning.has(ownerRows.entity($0, table)) }) else { throw misfit(relationship) }
        var family = Family(schema.entity(relationship.destination))
        func target(_ serial: UInt64, _ reader: Reader) throws(CambiumError) -> UInt32 {
            guard let row = reader.row(targets.index, serial: serial), family.has(reader.rows(targets.index).entity(row, targets))
            else {
                throw CambiumError(.damaged, "A block of links names serial \(serial), which '\(relationship.name)' cannot hold.")
            }
            return row
        }
        switch block.content {
        case .toOne(let serials):
            guard serials.count == owners.count, !relationship.isToMany else { throw misfit(relationship) }
            for (owner, serial) in zip(owners, serials) {
                if serial == 0 { clearTarget(end, owner) } else { link(end, owner: owner, target: try target(serial, reader)) }
            }
        case .unordered(let removedCounts, let removed, let addedCounts, let added):
            guard relationship.isToMany, removedCounts.count == owners.count, addedCounts.count == owners.count,
                sum(removedCounts) == removed.count, sum(addedCounts) == added.count
            else { throw misfit(relationship) }
            var removedDone = 0
            var addedDone = 0
            for (place, owner) in owners.enumerated() {
                let leaving = removed[removedDone..<removedDone + Int(removedCounts[place])]
                let coming = added[addedDone..<addedDone + Int(addedCounts[place])]
                guard areDistinct(leaving), areDistinct(coming) else { throw misfit(relationship) }
                for serial in leaving { unlink(end, owner: owner, target: try target(serial, reader)) }
                for serial in coming { link(end, owner: owner, target: try target(serial, reader)) }
                removedDone += Int(removedCounts[place])
                addedDone += Int(addedCounts[place])
            }
        case .ordered(let keptCounts, let suffixCounts, let suffixes):
            guard relationship.isOrdered, keptCounts.count == owners.count, suffixCounts.count == owners.count,
                sum(suffixCounts) == suffixes.count
            else { throw misfit(relationship) }
            var done = 0
            for (place, owner) in owners.enumerated() {
                var rows: [UInt32] = []
                let suffix = suffixes[done..<done + Int(suffixCounts[place])]
                guard areDistinct(suffix) else { throw misfit(relationship) }
                for serial in suffix { rows.append(try target(serial, reader)) }
                replaceSuffix(end, owner: owner, kept: Int(keptCounts[place]), rows)
                done += Int(suffixCounts[place])
            }
        }
    }

    /// Whether a list names no member twice: a few bytes can stand for millions that are the same.
    private func areDistinct(_ serials: ArraySlice<UInt64>) -> Bool {
        // Most lists ascend.
        if zip(serials, serials.dropFirst()).allSatisfy({ $0 < $1 }) { return true }
        var seen = Set<UInt64>()
        return serials.allSatisfy { seen.insert($0).inserted }
    }

    private func sum(_ counts: [UInt32]) -> Int { counts.reduce(0) { $0 + Int($1) } }

    private func misfit(_ relationship: Relationship) -> CambiumError {
        CambiumError(.damaged, "A block of links does not fit the relationship '\(relationship.name)'.")
    }

    /// Empties a to-one end.
    mutating func clearTarget(_ end: EndLayout, _ owner: UInt32) {
        var old = noRow
        reader.forEachMember(end, owner: owner) { old = $0 }
        if old != noRow { unlink(end, owner: owner, target: old) }
    }

    /// Makes an ordered list what its first `kept` members were, followed by these.
    mutating func replaceSuffix(_ end: EndLayout, owner: UInt32, kept: Int, _ suffix: [UInt32]) {
        var members: [UInt32] = []
        reader.forEachMember(end, owner: owner) { members.append($0) }
        let staying = Set(suffix)
        for member in members.dropFirst(kept) where !staying.contains(member) { unlink(end, owner: owner, target: member) }
        for (offset, member) in suffix.enumerated() {
            link(end, owner: owner, target: member, at: min(kept + offset, reader.memberCount(end, owner: owner)))
        }
    }
}

/// An entity and everything below it. Rows that follow one another are mostly of the same.
private struct Family {
    private let numbers: Set<EntityNumber>
    private var last: EntityNumber?

    init(_ entity: Entity?) { numbers = entity?.family ?? [] }

    @inline(__always) mutating func has(_ entity: EntityNumber) -> Bool {
        if entity == last { return true }
        guard numbers.contains(entity) else { return false }
        last = entity
        return true
    }
}
