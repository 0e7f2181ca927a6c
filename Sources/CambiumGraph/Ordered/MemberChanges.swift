import CambiumModel

/// The members of owners with many members that differ between the base of a draft and the draft. From these members and from the values of
/// the base, sums, minima and maxima are computed without reading all members. See Docs/DERIVED.md.
///
/// SAFETY: the creator keeps the draft alive while it uses the changes.
struct MemberChanges {
    private let column: DerivedColumn
    private let list: ListLayout
    private let source: DerivedColumn.Source
    private let before: Reader
    private let after: Reader
    /// The tree of the base's index; `nil` if the attribute is a sum, or if the index is not complete.
    private let index: (layout: OrderedIndexLayout, tree: OrderedTree)?
    /// For each owner, its members in the base or in the draft that differ.
    private var rows: [UInt32: [UInt32]] = [:]
    /// The number of groups of rows and of members that were compared or read.
    private(set) var work = 0

    /// Finds the members that differ.
    ///
    /// - Parameter owners: The rows of the owners whose value is needed.
    /// - Returns: `nil` if no owner has many members, or if reading all members is as fast.
    init?(_ column: DerivedColumn, of owners: [UInt32], in draft: borrowing Draft) {
        guard draft.layout === draft.base.layout, let list = column.list, let source = column.source,
            let components = column.memberComponents
        else { return nil }
        (self.column, self.list, self.source) = (column, list, source)
        (before, after) = (draft.base.reader, draft.reader)
        if column.needsIndex {
            guard let layout = draft.layout.memberIndexes[column.number] else { return nil }
            let record = before.record(of: layout, draft.layout)
            guard record.isComplete else { return nil }
            index = (layout, record.tree)
        } else {
            index = nil
        }
        var memberCount = 0
        for owner in owners where hasBase(owner) {
            rows[owner] = []
            memberCount += after.memberCount(list, owner: owner)
        }
        if rows.isEmpty { return nil }
        let table = draft.layout.tables[list.memberTable]
        let finder = IndexChangeFinder(
            before: .init(before, table), after: .init(after, table), sharing: PageSharing(draft.space, draft.space))
        let (old, new) = (finder.before?.rows ?? finder.after.rows, finder.after.rows)
        var (groupCount, changeCount) = (0, 0)
        finder.forEachGroup { left, right in
            groupCount += 1
            // Reading all members is then as fast, and needs no memory for the changes.
            if changeCount > memberCount { return }
            finder.forEachChange(in: components, left, right) { row in
                changeCount += 1
                let was = Self.owner(row, old, list)
                let now = Self.owner(row, new, list)
                if was != noRow { rows[was]?.append(row) }
                if now != noRow, now != was { rows[now]?.append(row) }
            }
        }
        work = groupCount + changeCount
        if changeCount > memberCount { return nil }
    }

    /// Returns whether an owner has many members, and had many in the base.
    private func hasBase(_ owner: UInt32) -> Bool {
        if after.memberCount(list, owner: owner) <= DerivedColumn.readCountMax { return false }
        let (old, new) = (before.rows(column.table), after.rows(column.table))
        return old.isLive(owner) && old.serial(owner) == new.serial(owner)
            && before.memberCount(list, owner: owner) > DerivedColumn.readCountMax
    }

    private static func owner(_ row: UInt32, _ rows: Rows, _ list: ListLayout) -> UInt32 {
        rows.isLive(row) ? rows.link(row, list.ownerSlot) : noRow
    }

    /// Returns the value of an owner, or `nil` if all members must be read.
    mutating func value(of owner: UInt32) -> DerivedValue? {
        guard let changed = rows[owner] else { return nil }
        return column.function == .sum ? sum(owner, changed) : extreme(owner, changed)
    }

    // MARK: Sums

    private func sum(_ owner: UInt32, _ changed: [UInt32]) -> DerivedValue? {
        let stored = before.rows(column.table)
        var sum = DerivedSum(column.attribute.type)
        if let slot = column.exactSlot {
            guard let exact = stored.withCell(owner, slot, .string, { $0.kind == .bytes ? ExactSum($0.bytes) : nil }) else { return nil }
            sum.add(exact)
        } else {
            guard let value = before.value(owner, stored, column.slot, column.kind, column.attribute.type) else { return nil }
            sum.add(value)
        }
        let (old, new) = (before.rows(list.memberTable), after.rows(list.memberTable))
        for row in changed {
            if Self.owner(row, old, list) == owner, let value = value(row, before, old) { sum.subtract(value) }
            if Self.owner(row, new, list) == owner, let value = value(row, after, new) { sum.add(value) }
        }
        return .sum(sum)
    }

    private func value(_ row: UInt32, _ reader: Reader, _ rows: Rows) -> Value? {
        reader.value(row, rows, source.slot, source.kind, source.type)
    }

    // MARK: Extremes

    private mutating func extreme(_ owner: UInt32, _ changed: [UInt32]) -> DerivedValue? {
        guard let index else { return nil }
        let isMinimum = column.function == .min
        let (old, new) = (before.rows(list.memberTable), after.rows(list.memberTable))
        let skipped = Set(changed.filter { Self.owner($0, old, list) == owner })
        var best = Value.null
        func add(_ value: Value) {
            if best.isNull || (isMinimum ? value.precedes(best) : best.precedes(value)) { best = value }
        }
        let tree = OrderedReader(before.chunks, index.tree)
        var cutKey: ArraySlice<UInt8>?
        tree.forEachLeaf(Self.ranks(of: owner, tree), isReversed: !isMinimum) { leaf, part in
            for place in 0..<part.count {
                let row = leaf.row(isMinimum ? part.lowerBound + place : part.upperBound - 1 - place)
                work += 1
                if skipped.contains(row) { continue }
                // A row that did not change has the same value in both graphs.
                guard let value = value(row, before, old) else { continue }
                if best.isNull {
                    best = value
                    // Values whose keys are cut have the order of their rows in the index, so all of them are compared.
                    if !Self.mayBeCut(value) { return false }
                    cutKey = index.layout.entry(row, old).dropLast(OrderedNode.tailByteCount)
                } else {
                    if index.layout.entry(row, old).dropLast(OrderedNode.tailByteCount) != cutKey { return false }
                    add(value)
                }
            }
            return true
        }
        for row in changed where Self.owner(row, new, list) == owner {
            if let value = value(row, after, new) { add(value) }
        }
        return .value(best.withoutNegativeZero)
    }

    private static func mayBeCut(_ value: Value) -> Bool {
        // Escaping at most doubles the bytes of a text, and the owner takes a few bytes of the key.
        if case .string(let text) = value { text.utf8.count > OrderedNode.keyByteCountMax / 2 - 16 } else { false }
    }

    /// Returns the positions of an owner's members in the index, without the members that have no value.
    private static func ranks(of owner: UInt32, _ tree: OrderedReader) -> Range<Int> {
        let prefix: [UInt8] = [1] + withUnsafeBytes(of: owner.bigEndian) { [UInt8]($0) }
        // The next byte is 0 for a member without a value, and 1 for a member with a value.
        let start = tree.rank(of: prefix + [1])
        return start..<max(start, tree.rank(of: prefix + [2]))
    }
}
