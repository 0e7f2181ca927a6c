package import CambiumModel

/// Counts the objects and values that a migration would affect.
extension Graph {
    /// Returns how many objects, values or members each element of `affected` describes, in the same order. A count is 0 if the graph lacks
    /// the attribute or the hierarchy.
    ///
    /// Complexity: one pass through the objects of each hierarchy, regardless of how many counts concern it.
    package func counts(of affected: [AffectedCount]) -> [Int] {
        var counts = [Int](repeating: 0, count: affected.count)
        var indexes: [EntityNumber: [Int]] = [:]
        for (index, one) in affected.enumerated() where !one.entities.isEmpty { indexes[one.root, default: []].append(index) }
        for (root, indexes) in indexes {
            guard let table = layout.table(of: root) else { continue }
            var counters: [EntityNumber: [(index: Int, count: RowCounter)]] = [:]
            for index in indexes {
                guard let counter = counter(affected[index].subject, table) else { continue }
                for entity in affected[index].entities { counters[entity, default: []].append((index, counter)) }
            }
            forEachRowSet(of: table) { entity, group, rows in
                for counter in counters[entity] ?? [] { counts[counter.index] += counter.count(group, rows) }
            }
        }
        return counts
    }

    /// Returns the number of objects of exactly this entity, without the objects of its sub-entities. Complexity: O(1).
    package func exactCount(of entity: Entity) -> Int {
        layout.table(of: entity.root).map { reader.count(of: entity.number, in: $0) } ?? 0
    }

    /// Counts objects, values or members in the given rows of a group.
    private typealias RowCounter = (_ group: GroupView, _ rows: GroupBits) -> Int

    /// Returns the closure that counts a subject, or `nil` if the table does not have the attribute.
    private func counter(_ subject: AffectedCount.Subject, _ table: TableLayout) -> RowCounter? {
        switch subject {
        case .present(let attribute):
            return presence(of: attribute, table).map { node in { group, rows in node.bits(group, rows).count } }
        case .missing(let attribute):
            return presence(of: attribute, table).map { node in
                { group, rows in (rows & ~group.stubs & ~node.bits(group, rows)).count }
            }
        case .members(let relationship):
            return memberCounter(layout.end(relationship)) { $0 }
        case .owners(let relationship): return memberCounter(layout.end(relationship)) { min(1, $0) }
        case .surplus(let relationship): return memberCounter(layout.end(relationship)) { max(0, $0 - 1) }
        case .inverseSurplus(let relationship):
            return memberCounter(layout.end(relationship.link, 1 - relationship.end)) { max(0, $0 - 1) }
        case .full: return { group, rows in (rows & ~group.stubs).count }
        }
    }

    /// Returns a closure that counts the members at an end, after `part` has changed the number of each owner.
    private func memberCounter(_ end: EndLayout, _ part: @escaping (Int) -> Int) -> RowCounter {
        let reader = reader
        return { group, rows in
            var count = 0
            rows.forEach { row in
                count += part(reader.memberCount(end, owner: group.row(row)))
                return true
            }
            return count
        }
    }

    private func presence(of attribute: Attribute, _ table: TableLayout) -> PresenceNode? {
        guard table.hasSlot(for: attribute.number, attribute.schemaName) else { return nil }
        let slot = table.slot(of: attribute.number)
        return PresenceNode(slot, table.columns[slot])
    }

    /// Calls `body` with each group of rows, once for each concrete entity of the group's objects, with the rows of this entity.
    private func forEachRowSet(of table: TableLayout, _ body: (EntityNumber, GroupView, GroupBits) -> Void) {
        let rows = reader.rows(table.index)
        QueryContext(reader, layout).forEachGroup(table) { group in
            var rest = group.live
            while !rest.isEmpty {
                let first = rest.x != 0 ? rest.x.trailingZeroBitCount : 64 + rest.y.trailingZeroBitCount
                let entity = rows.entity(group.row(UInt32(first)), table)
                let same = table.entitySlot == nil ? rest : rest.filter { rows.entity(group.row($0), table) == entity }
                body(entity, group, same)
                rest &= ~same
            }
            return true
        }
    }
}
