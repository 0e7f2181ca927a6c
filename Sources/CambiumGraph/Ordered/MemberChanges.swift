import CambiumModel

/// The members of owners with many members that differ between the base of a draft and the draft. From these members and from the values of
/// the base, sums, minima and maxima are computed without reading all members. See Docs/Use/DERIVED.md.
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
    /// For each owner with many members, the members that differ.
    private var differences: [UInt32: Difference] = [:]
    /// The number of groups of rows and of members that were compared or read.
    private(set) var work = 0
    /// The number of members that all owners have together. To read them is as fast as to compare more changes.
    private var memberCount = 0

    /// The members of one owner that differ. The search through edges may find a member more than once.
    private struct Difference {
        /// Members in the base, with the values that they had there.
        var removed: [UInt32] = []
        /// Members in the draft.
        var added: [UInt32] = []
    }

    /// Finds the members that differ.
    ///
    /// - Parameter owners: The rows of the owners whose value is needed.
    /// - Returns: `nil` if no owner has many members, or if reading all members is as fast.
    init?(_ column: DerivedColumn, of owners: [UInt32], in draft: borrowing Draft) {
        guard draft.layout === draft.base.layout, let list = column.list, let source = column.source else { return nil }
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
        for owner in owners where hasBase(owner) {
            differences[owner] = Difference()
            memberCount += after.memberCount(list, owner: owner)
        }
        if differences.isEmpty { return nil }
        let isWorthIt =
            if let components = column.memberComponents {
                findMembers(components, in: draft)
            } else if let edge = column.edgeComponents, let value = column.valueComponent, let ends = column.owners {
                findEdges(edge, in: draft) && findValues(value, ends, in: draft)
            } else {
                false
            }
        if !isWorthIt { return nil }
    }

    /// Finds the members of lists whose owner or value differs. Returns whether they are fewer than all members.
    private mutating func findMembers(_ components: [OrderedIndexLayout.Component], in draft: borrowing Draft) -> Bool {
        let list = list
        return forEachChange(of: list.memberTable, components, in: draft) { changes, row, old, new in
            let (was, now) = (owner(row, old, list), owner(row, new, list))
            if was != noRow { changes.differences[was]?.removed.append(row) }
            if now != noRow { changes.differences[now]?.added.append(row) }
            return 0
        }
    }

    /// Finds the edges that exist only in the base or only in the draft.
    private mutating func findEdges(_ components: [OrderedIndexLayout.Component], in draft: borrowing Draft) -> Bool {
        let (list, slot) = (list, components[1].slot)
        return forEachChange(of: list.memberTable, components, in: draft) { changes, row, old, new in
            let (was, now) = (owner(row, old, list), owner(row, new, list))
            if was != noRow { changes.differences[was]?.removed.append(old.link(row, slot)) }
            if now != noRow { changes.differences[now]?.added.append(new.link(row, slot)) }
            return 0
        }
    }

    /// Finds the members at the ends of edges whose value differs.
    private mutating func findValues(_ component: OrderedIndexLayout.Component, _ ends: EndLayout, in draft: borrowing Draft) -> Bool {
        forEachChange(of: source.table, [component], in: draft) { changes, row, old, new in
            var count = 0
            let (before, after) = (changes.before, changes.after)
            if old.isLive(row) {
                before.forEachMember(ends, owner: row) {
                    changes.differences[$0]?.removed.append(row)
                    count += 1
                }
            }
            if new.isLive(row) {
                after.forEachMember(ends, owner: row) {
                    changes.differences[$0]?.added.append(row)
                    count += 1
                }
            }
            return count
        }
    }

    /// Calls `body` with each row of a table whose columns differ, and the table in the base and in the draft.
    ///
    /// - Parameter body: Returns how many owners it has visited.
    /// - Returns: Whether the work is less than reading all members.
    private mutating func forEachChange(
        of table: Int, _ components: [OrderedIndexLayout.Component], in draft: borrowing Draft,
        _ body: (inout Self, UInt32, Rows, Rows) -> Int
    ) -> Bool {
        let layout = draft.layout.tables[table]
        let finder = IndexChangeFinder(
            before: .init(before, layout), after: .init(after, layout), sharing: PageSharing(draft.space, draft.space))
        let (old, new) = (finder.before?.rows ?? finder.after.rows, finder.after.rows)
        var changeCount = 0
        finder.forEachGroup { left, right in
            work += 1
            // Reading all members is then as fast, and needs no memory for the changes.
            if changeCount > memberCount { return }
            finder.forEachChange(in: components, left, right) { row in changeCount += 1 + body(&self, row, old, new) }
        }
        work += changeCount
        return changeCount <= memberCount
    }

    /// Returns whether an owner has many members, and had many in the base.
    private func hasBase(_ owner: UInt32) -> Bool {
        if after.memberCount(list, owner: owner) <= DerivedColumn.readCountMax { return false }
        let (old, new) = (before.rows(column.table), after.rows(column.table))
        return old.isLive(owner) && old.serial(owner) == new.serial(owner)
            && before.memberCount(list, owner: owner) > DerivedColumn.readCountMax
    }

    /// Returns the value of an owner, or `nil` if all members must be read.
    mutating func value(of owner: UInt32) -> DerivedValue? {
        guard var changed = differences[owner] else { return nil }
        if column.memberSlot != nil { changed = Difference(removed: Array(Set(changed.removed)), added: Array(Set(changed.added))) }
        if column.function == .sum { return sum(owner, changed) }
        return index == nil ? extremeOfEdges(owner, changed) : extreme(owner, changed)
    }

    // MARK: Sums

    private func sum(_ owner: UInt32, _ changed: Difference) -> DerivedValue? {
        let stored = before.rows(column.table)
        var sum = DerivedSum(column.attribute.type)
        if let slot = column.exactSlot {
            guard let exact = stored.withCell(owner, slot, .string, { $0.kind == .bytes ? ExactSum($0.bytes) : nil }) else { return nil }
            sum.add(exact)
        } else {
            guard let value = storedValue(owner) else { return nil }
            sum.add(value)
        }
        for value in values(changed.removed, before) { sum.subtract(value) }
        for value in values(changed.added, after) { sum.add(value) }
        return .sum(sum)
    }

    /// Returns the values of members in a graph, without nulls.
    private func values(_ members: [UInt32], _ reader: Reader) -> [Value] {
        let rows = reader.rows(source.table)
        return members.compactMap { value($0, reader, rows) }
    }

    /// Returns the derived value of an owner in the base.
    private func storedValue(_ owner: UInt32) -> Value? {
        before.value(owner, before.rows(column.table), column.slot, column.kind, column.attribute.type)
    }

    private func value(_ row: UInt32, _ reader: Reader, _ rows: Rows) -> Value? {
        reader.value(row, rows, source.slot, source.kind, source.type)
    }

    // MARK: Extremes

    /// Returns the better of two values: the lower one for a minimum. A null is no value.
    private func better(_ value: Value, _ best: Value) -> Value {
        if best.isNull { return value }
        if value.isNull { return best }
        return (column.function == .min ? value.precedes(best) : best.precedes(value)) ? value : best
    }

    /// Returns the extreme of members that edges lead to, which have no index: the stored one or a new one. Returns `nil` if the member
    /// with the stored one is gone, and no new member replaces it.
    private func extremeOfEdges(_ owner: UInt32, _ changed: Difference) -> DerivedValue? {
        let added = values(changed.added, after).reduce(.null) { better($1, $0) }.withoutNegativeZero
        guard let stored = storedValue(owner) else { return .value(added) }
        // No member in the base is better than the stored value.
        func isAsGood(_ value: Value) -> Bool { better(stored, value) == value }
        let isLost = values(changed.removed, before).contains { isAsGood($0.withoutNegativeZero) }
        return isLost && (added.isNull || !isAsGood(added)) ? nil : .value(better(stored, added))
    }

    private mutating func extreme(_ owner: UInt32, _ changed: Difference) -> DerivedValue? {
        guard let index else { return nil }
        let isMinimum = column.function == .min
        let old = before.rows(list.memberTable)
        let skipped = Set(changed.removed)
        var best = Value.null
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
                    best = better(value, best)
                }
            }
            return true
        }
        for value in values(changed.added, after) { best = better(value, best) }
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

private func owner(_ row: UInt32, _ rows: Rows, _ list: ListLayout) -> UInt32 { rows.isLive(row) ? rows.link(row, list.ownerSlot) : noRow }
