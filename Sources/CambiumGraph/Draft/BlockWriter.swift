import CambiumModel
import Glibc

/// Applies blocks of objects and of links.
enum BlockWriter {
    /// Inserts or changes the objects of a block, column by column.
    static func apply(_ draft: inout Draft, _ block: UpsertBlock) throws(CambiumError) {
        guard let entity = draft.schema.entity(block.entity), !entity.isAbstract, let table = draft.layout.table(of: entity.root) else {
            throw CambiumError(.corrupted, "A block names \(block.entity), which the schema does not have as a concrete entity.")
        }
        for column in block.identity + block.columns { try check(column, block, entity, table) }
        let isInsert = block.kind.isInsert
        let rows =
            isInsert
            ? try insertRows(&draft, block, table) : try existingRows(draft, block.serials, table, entity)
        let affected = isInsert ? [] : affectedIndexes(block, table)
        for index in affected {
            for row in rows {
                try draft.checkMemory()
                draft.removeFromIndex(table, index, row)
            }
        }
        for column in block.columns { try store(&draft, column, table, rows) }
        if isInsert {
            for index in table.indexes {
                try draft.checkMemory(forValueOf: rows.count * indexByteCountPerRow)
                draft.addToIndex(table, index, bulk: rows)
            }
        } else {
            for index in affected {
                for row in rows {
                    try draft.checkMemory()
                    draft.addToIndex(table, index, row)
                }
            }
        }
        if !isInsert, !draft.layout.derived.isEmpty {
            for column in block.columns {
                for row in rows { DerivedNotes.trackDerived(&draft, from: table.index, table.slot(of: column.property), row) }
            }
        }
        for row in rows {
            if block.kind == .insertStub { draft.setStub(table, row, true) }
            if block.kind == .fill { draft.setStub(table, row, false) }
            if !isInsert {
                draft.tableWriter.setProvenance(table.index, row, TableLayout.changedSlot)
                draft.touched?.markAttributes(table.index, row)
            }
            if block.kind != .insertStub { draft.pending.trackObject(table.index, row) }
        }
    }

    /// The number of bytes of pages that a new row takes in an index, with those of buckets that are half full and of copies.
    private static let indexByteCountPerRow = 64

    private static func check(
        _ column: AttributeColumn, _ block: UpsertBlock, _ entity: Entity, _ table: TableLayout
    ) throws(CambiumError) {
        let count = block.serials.count
        let fits: Bool
        let attribute = entity.attribute(column.property)
        if attribute == nil || column.presence.count != (count + 63) / 64 {
            fits = false
        } else {
            switch (column.content, table.columns[table.slot(of: column.property)]) {
            case (.fixed(let width, let bytes), .fixed(let wanted)): fits = width == wanted && bytes.count == width * count
            case (.variable(let counts, let bytes), .string):
                fits = counts.count == count && counts.reduce(0, { $0 + Int($1) }) == bytes.count
            default: fits = false
            }
        }
        guard fits, let attribute else {
            throw CambiumError(.corrupted, "A block of '\(entity.name)' has a column for \(column.property) that does not fit the schema.")
        }
        if attribute.isDerived {
            throw CambiumError(.corrupted, "A block of '\(entity.name)' has values of '\(attribute.name)', which is derived.")
        }
        var check = StoredValueCheck(attribute.type)
        if let flaw = check.flaw(in: column) {
            throw CambiumError(.corrupted, "A block of '\(entity.name)' has a value of '\(attribute.name)' that \(flaw).")
        }
    }

    private static func affectedIndexes(_ block: UpsertBlock, _ table: TableLayout) -> [IndexLayout] {
        table.indexes.filter { index in block.columns.contains { index.set.properties.contains($0.property) } }
    }

    // MARK: Rows

    private static func insertRows(_ draft: inout Draft, _ block: UpsertBlock, _ table: TableLayout) throws(CambiumError) -> [UInt32] {
        try checkNewSerials(draft, block, table)
        var rows: [UInt32] = []
        rows.reserveCapacity(block.serials.count)
        for run in block.serials.runs {
            for serial in run.first..<run.first + UInt64(run.count) {
                try draft.checkMemory()
                rows.append(draft.insertRow(table, serial: serial, entity: block.entity))
            }
        }
        return rows
    }

    private static func checkNewSerials(_ draft: borrowing Draft, _ block: UpsertBlock, _ table: TableLayout) throws(CambiumError) {
        let reader = draft.reader
        let next = reader.nextSerial(table.index)
        let ranges = try ranges(of: block.serials)
        try CapacityCheck.checkRows(draft, table, ranges)
        for serials in ranges {
            // Serials from `next` on were never assigned, so no object can have them.
            if serials.lowerBound >= next { continue }
            for serial in serials where reader.row(table.index, serial: serial) != nil {
                throw CambiumError(.corrupted, "A block inserts serial \(serial) of \(block.entity), which already exists.")
            }
        }
    }

    /// Returns the serials of a block as ranges. Throws `.corrupted` if the serials do not ascend, or exceed `ObjectID.serialMax`.
    private static func ranges(of serials: SerialRuns) throws(CambiumError) -> [ClosedRange<UInt64>] {
        var ranges: [ClosedRange<UInt64>] = []
        ranges.reserveCapacity(serials.runs.count)
        var last: UInt64 = 0
        for run in serials.runs {
            guard run.first > last, run.first <= ObjectID.serialMax, run.count > 0, UInt64(run.count) <= ObjectID.serialMax - run.first + 1
            else {
                throw CambiumError(.corrupted, "The serials of a block do not ascend at \(run.first), or exceed \(ObjectID.serialMax).")
            }
            last = run.first + UInt64(run.count) - 1
            ranges.append(run.first...last)
        }
        return ranges
    }

    static func existingRows(
        _ draft: borrowing Draft, _ serials: SerialRuns, _ table: TableLayout, _ entity: Entity?
    ) throws(CambiumError) -> [UInt32] {
        var finder = RowFinder(draft.reader, table.index)
        var rows: [UInt32] = []
        rows.reserveCapacity(serials.count)
        for range in try ranges(of: serials) {
            for serial in range {
                guard let row = finder.row(serial: serial) else {
                    throw CambiumError(.corrupted, "A block changes serial \(serial), but its hierarchy has no such object.")
                }
                if let entity, finder.rows.entity(row, table) != entity.number {
                    throw CambiumError(
                        .corrupted, "A block changes serial \(serial) as '\(entity.name)', but the object has another entity.")
                }
                rows.append(row)
            }
        }
        return rows
    }

    // MARK: Columns

    private static func store(
        _ draft: inout Draft, _ column: AttributeColumn, _ table: TableLayout, _ rows: [UInt32]
    ) throws(CambiumError) {
        let slot = table.slot(of: column.property)
        switch column.content {
        case .fixed(let width, let bytes):
            try bytes.span.bytes.withUnsafeBytes { bytes throws(CambiumError) in
                try storeFixed(&draft, column.presence, table, slot, width, bytes, rows)
            }
        case .variable(let counts, let bytes):
            try bytes.span.bytes.withUnsafeBytes { bytes throws(CambiumError) in
                try storeVariable(&draft, column.presence, table, slot, counts, bytes, rows)
            }
        }
    }

    private static func storeFixed(
        _ draft: inout Draft,
        _ presence: [UInt64], _ table: TableLayout, _ slot: Int, _ width: Int, _ bytes: UnsafeRawBufferPointer, _ rows: [UInt32]
    ) throws(CambiumError) {
        guard let source = bytes.baseAddress else { return }
        var index = 0
        while index < rows.count {
            let groupIndex = rows[index] &>> PageLayout.rowShift
            var end = index + 1
            while end < rows.count, rows[end] &>> PageLayout.rowShift == groupIndex { end += 1 }
            defer { index = end }
            try draft.checkMemory()
            let group = draft.tableWriter.ownedGroup(table.index, rows[index])
            if (index..<end).allSatisfy({ !isPresent(presence, $0) }), isConstant(draft, group, slot) { continue }
            let leaf = draft.tableWriter.ownedLeaf(group, slot, .fixedLeaf, byteCount: FixedLeaf.byteCount(width: width))
            for place in index..<end {
                let row = rows[place]
                let target = FixedLeaf(leaf).address(row, width: width)
                memcpy(target, source + width * place, width)
                FixedLeaf(leaf).setPresent(row, isPresent(presence, place))
            }
        }
    }

    private static func storeVariable(
        _ draft: inout Draft, _ presence: [UInt64], _ table: TableLayout, _ slot: Int, _ counts: [UInt32], _ bytes: UnsafeRawBufferPointer,
        _ rows: [UInt32]
    ) throws(CambiumError) {
        var offset = 0
        for (place, row) in rows.enumerated() {
            let count = Int(counts[place])
            try draft.checkMemory(forValueOf: count)
            if isPresent(presence, place) {
                draft.tableWriter.setBytes(table.index, row, slot, UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
            } else if !isConstant(draft, draft.tableWriter.ownedGroup(table.index, row), slot) {
                draft.tableWriter.setBytes(table.index, row, slot, nil)
            }
            offset += count
        }
    }

    @inline(__always) private static func isPresent(_ presence: [UInt64], _ index: Int) -> Bool {
        presence[index >> 6] >> UInt64(index & 63) & 1 != 0
    }

    private static func isConstant(_ draft: borrowing Draft, _ group: GroupPage, _ slot: Int) -> Bool {
        draft.chunks.birth(group[slot]) == 0
    }
}

extension BlockWriter {
    /// The number of bytes of pages that a link in an ordered relationship takes at most, with those of copied pages.
    private static let linkByteCountMax = 128

    /// Applies a block of links, which changes the members of objects.
    static func apply(_ draft: inout Draft, _ block: LinkBlock) throws(CambiumError) {
        guard let table = draft.layout.table(of: block.root),
            let relationship = draft.schema.entities.lazy.filter({ $0.root == block.root })
                .compactMap({ $0.relationship(block.property) }).first,
            let targets = draft.layout.table(of: relationship.destinationRoot)
        else { throw CambiumError(.corrupted, "A block of links names \(block.property), which the schema does not have.") }
        let end = draft.layout.end(relationship)
        let owners = try existingRows(draft, block.serials, table, nil)
        let ownerRows = draft.reader.rows(table.index)
        var owning = Family(draft.schema.entity(relationship.entity))
        guard owners.allSatisfy({ owning.has(ownerRows.entity($0, table)) }) else { throw misfit(relationship) }
        switch block.content {
        case .toOne(let serials):
            guard serials.count == owners.count, !relationship.isToMany else { throw misfit(relationship) }
            let found = try rows(draft, serials, of: relationship, targets)
            for (owner, target) in zip(owners, found) {
                try draft.checkMemory()
                if target == noRow { clearTarget(&draft, end, owner) } else { draft.link(end, owner: owner, target: target) }
            }
        case .unordered(let removedCounts, let removed, let addedCounts, let added):
            guard relationship.isToMany, removedCounts.count == owners.count, addedCounts.count == owners.count,
                areLists(removed, removedCounts), areLists(added, addedCounts)
            else { throw misfit(relationship) }
            var leaving = try rows(draft, removed, of: relationship, targets)[...]
            var coming = try rows(draft, added, of: relationship, targets)[...]
            for (place, owner) in owners.enumerated() {
                for target in leaving.prefix(Int(removedCounts[place])) {
                    try draft.checkMemory()
                    draft.unlink(end, owner: owner, target: target)
                }
                for target in coming.prefix(Int(addedCounts[place])) {
                    try draft.checkMemory()
                    draft.link(end, owner: owner, target: target)
                }
                leaving = leaving.dropFirst(Int(removedCounts[place]))
                coming = coming.dropFirst(Int(addedCounts[place]))
            }
        case .ordered(let keptCounts, let suffixCounts, let suffixes):
            guard relationship.isOrdered, keptCounts.count == owners.count, suffixCounts.count == owners.count,
                areLists(suffixes, suffixCounts)
            else { throw misfit(relationship) }
            var rest = try rows(draft, suffixes, of: relationship, targets)[...]
            for (place, owner) in owners.enumerated() {
                try draft.checkMemory(forValueOf: Int(suffixCounts[place]) * linkByteCountMax)
                replaceSuffix(&draft, end, owner: owner, kept: Int(keptCounts[place]), Array(rest.prefix(Int(suffixCounts[place]))))
                rest = rest.dropFirst(Int(suffixCounts[place]))
            }
        }
    }

    /// Returns the row numbers of the members whose serials an op lists. In a to-one relationship, the serial 0 means that there is no
    /// target, and its row number is `noRow`.
    private static func rows(
        _ draft: borrowing Draft, _ serials: [UInt64], of relationship: Relationship, _ targets: TableLayout
    ) throws(CambiumError) -> [UInt32] {
        var finder = RowFinder(draft.reader, targets.index)
        var family = Family(draft.schema.entity(relationship.destination))
        var found: [UInt32] = []
        found.reserveCapacity(serials.count)
        for serial in serials {
            if serial == 0, !relationship.isToMany {
                found.append(noRow)
                continue
            }
            guard let row = finder.row(serial: serial), family.has(finder.rows.entity(row, targets)) else {
                throw CambiumError(.corrupted, "A block of links names serial \(serial), which '\(relationship.name)' cannot hold.")
            }
            found.append(row)
        }
        return found
    }

    /// Returns whether the counts divide all members into lists, and each member occurs only once in its list.
    private static func areLists(_ members: [UInt64], _ counts: [UInt32]) -> Bool {
        guard counts.reduce(0, { $0 + Int($1) }) == members.count else { return false }
        var rest = members[...]
        return counts.allSatisfy { count in
            defer { rest = rest.dropFirst(Int(count)) }
            return areDistinct(rest.prefix(Int(count)))
        }
    }

    /// Returns whether each member occurs only once in a list. Without this check, a small corrupt block could repeat one member millions
    /// of times.
    private static func areDistinct(_ serials: ArraySlice<UInt64>) -> Bool {
        // Ascending members, as in most lists, are distinct and need no set.
        if zip(serials, serials.dropFirst()).allSatisfy({ $0 < $1 }) { return true }
        var seen = Set<UInt64>()
        return serials.allSatisfy { seen.insert($0).inserted }
    }

    private static func misfit(_ relationship: Relationship) -> CambiumError {
        CambiumError(.corrupted, "An op states links that the relationship '\(relationship.name)' cannot have.")
    }

    /// Removes the target of a to-one relationship.
    static func clearTarget(_ draft: inout Draft, _ end: EndLayout, _ owner: UInt32) {
        var old = noRow
        draft.reader.forEachMember(end, owner: owner) { old = $0 }
        if old != noRow { draft.unlink(end, owner: owner, target: old) }
    }

    /// Keeps the first `kept` members of an ordered list, and replaces all other members with `suffix`.
    ///
    /// Complexity: O((replaced members + members of `suffix`) * log(all members)).
    static func replaceSuffix(_ draft: inout Draft, _ end: EndLayout, owner: UInt32, kept: Int, _ suffix: [UInt32]) {
        let following = draft.reader.members(end, owner: owner, from: kept)
        draft.replayWork += following.count * ReplayWork.orderedLink
        let staying = Set(suffix)
        for member in following where !staying.contains(member) { draft.unlink(end, owner: owner, target: member) }
        for (offset, member) in suffix.enumerated() {
            draft.link(end, owner: owner, target: member, at: min(kept + offset, draft.reader.memberCount(end, owner: owner)))
        }
    }
}

/// An entity and its sub-entities. The result of the last lookup is kept, because consecutive rows usually have the same entity.
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
