import CambiumModel

extension ChangeFinder {
    /// Records the ordered lists that have the same members in both graphs, but in different orders.
    mutating func compareOrders() {
        if reordered.isEmpty { return }
        let changed = listsWithOtherMembers()
        for list in reordered where !changed.contains(list) {
            let end = meanings.ends[list.end]
            guard let property = end.property, let before = old.row(end.table, serial: list.owner),
                let after = new.row(end.table, serial: list.owner)
            else { continue }
            let link = layout.ends[list.end]
            if members(old, link, before, end.targetTable) != members(new, link, after, end.targetTable) {
                track(ChangeEvent(.moved, end.root, list.owner, property))
            }
        }
    }

    private func listsWithOtherMembers() -> Set<OrderedList> {
        var lists = Set<OrderedList>()
        for event in events where event.kind == .removed || event.kind == .added {
            let number = PropertyNumber(rawValue: event.property)
            guard let relationship = layout.schema.relationship(number, ofRoot: event.root) else { continue }
            lists.insert(OrderedList(end: meanings.ends[2 * relationship.link + relationship.end].list, owner: event.serial))
        }
        return lists
    }

    private func members(_ reader: Reader, _ end: EndLayout, _ owner: UInt32, _ table: Int) -> [UInt64] {
        var serials: [UInt64] = []
        let rows = reader.rows(table)
        reader.forEachMember(end, owner: owner) { serials.append(rows.serial($0)) }
        return serials
    }
}
