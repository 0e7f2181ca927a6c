import CambiumModel

extension Draft {
    /// Restores the order of members that left an ordered list and returned to it. The members from the original graph keep their order,
    /// and new members follow. So repeating an import changes nothing, even if its rows contradict each other.
    ///
    /// A list whose order a row or a hook stated stays unchanged, because its order does not depend on the original graph. No object may
    /// have been deleted since `trackChanges`.
    ///
    /// Throws `.limitExceeded` if the graph is full. Complexity: O(1) if no member left an ordered list. Otherwise, O(touched members of
    /// ordered lists), and O(log(members)) for each touched member of a list to which a member returned.
    package mutating func restorePositions() throws(CambiumError) {
        guard touched?.hasRemovedMembers == true else { return }
        for entity in schema.entities {
            for relationship in entity.relationships where relationship.entity == entity.number && relationship.isOrdered {
                let end = layout.end(relationship)
                guard let list = end.orderedList else { continue }
                for (owner, change) in derivation.returns(end) { try restorePositions(change, list, owner) }
            }
        }
    }

    private mutating func restorePositions(_ change: HubChange, _ list: ListLayout, _ owner: UInt32) throws(CambiumError) {
        var rows: [UInt32: UInt32] = [:]
        for member in change.after { rows[member.target] = member.row }
        var removedCount = 0
        for place in change.places(list, reader, before: base.reader).before {
            guard let row = rows[place.target] else {
                removedCount += 1
                continue
            }
            // The places ascend, so the members that must precede this member are already in their positions.
            let index = place.index - removedCount
            if reader.index(list, of: row) == index { continue }
            try CapacityCheck.check(self)
            linkWriter.remove(list, owner: owner, member: row)
            linkWriter.add(list, owner: owner, member: row, at: index)
        }
    }
}

extension OpDerivation {
    /// Returns the owners of the ordered lists to which members returned, by ascending row, and the touched members of each list. Omits
    /// lists whose order a row or a hook stated.
    fileprivate func returns(_ end: EndLayout) -> [(owner: UInt32, change: HubChange)] {
        guard let touched else { return [] }
        var owners = RowSet()
        touched.forEachMember(end) { row in
            if let (owner, member) = member(row, end, end.end, before.reader), owner != noRow, !touched.hasStatedOrder(end, owner),
                reader.isLinked(end, owner: owner, target: member.target)
            {
                owners.insert(owner)
            }
        }
        var changes: [UInt32: HubChange] = [:]
        owners.forEach { changes[$0] = HubChange() }
        if changes.isEmpty { return [] }
        addMembers(touched, end, end.end, of: owners, to: &changes)
        return changes.sorted { $0.key < $1.key }.map { (owner: $0.key, change: $0.value) }
    }
}
