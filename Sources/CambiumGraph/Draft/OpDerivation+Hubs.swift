import CambiumModel

extension OpDerivation {
    /// Returns the hubs among some objects at one end of a link, with their touched members. A hub is an object with many members, only a
    /// few of which the draft touched.
    ///
    /// Complexity: O(owners), and O(touched members of the link) if one of the owners may be a hub.
    ///
    /// - Parameter sides: The columns in which an edge may contain the owner: both columns if the relationship is its own inverse,
    ///   otherwise one.
    func hubs(among owners: [UInt32], _ end: EndLayout, sides: [Int]) -> [UInt32: HubChange] {
        guard let touched else { return [:] }
        var candidates = RowSet()
        var changes: [UInt32: HubChange] = [:]
        let table = layout.startTable(end)
        let (rows, rowsBefore) = (reader.rows(table), before.reader.rows(table))
        for owner in owners where rowsBefore.isLive(owner) && rows.isLive(owner) && mayBeHub(end, owner) {
            candidates.insert(owner)
            changes[owner] = HubChange()
        }
        if changes.isEmpty { return changes }
        for side in sides { addMembers(touched, end, side, of: candidates, to: &changes) }
        return changes.filter { isHub($0.value.touchedCount, memberCount(end, $0.key)) }
    }

    /// Adds the touched members of the lists of `owners` to the entries of `changes`.
    func addMembers(_ touched: TouchedRows, _ end: EndLayout, _ side: Int, of owners: RowSet, to changes: inout [UInt32: HubChange]) {
        touched.forEachMember(end) { row in
            if let (owner, member) = member(row, end, side, before.reader), owners.contains(owner) {
                changes[owner]?.before.append(member)
            }
            if let (owner, member) = member(row, end, side, reader), owners.contains(owner) {
                changes[owner]?.after.append(member)
            }
        }
    }

    /// Returns the number of members before the change plus the number of members after the change.
    private func memberCount(_ end: EndLayout, _ owner: UInt32) -> Int {
        before.reader.memberCount(end, owner: owner) + reader.memberCount(end, owner: owner)
    }

    private func isHub(_ touchedCount: Int, _ memberCount: Int) -> Bool {
        memberCount >= limits.memberCountMin && touchedCount * limits.memberRatio <= memberCount
    }

    /// Returns whether an object may be a hub: an object with many members, of which only a few were touched. The number of touched members
    /// is not known yet, but is at least the difference between the old and the new number of members.
    private func mayBeHub(_ end: EndLayout, _ owner: UInt32) -> Bool {
        let old = before.reader.memberCount(end, owner: owner)
        let new = reader.memberCount(end, owner: owner)
        return isHub(abs(new - old), new + old)
    }

    /// Returns a member of a list and its owner, read from the row of the member or of its edge. Returns `nil` if the graph does not have
    /// the row.
    func member(_ row: UInt32, _ end: EndLayout, _ side: Int, _ reader: Reader) -> (owner: UInt32, HubChange.Member)? {
        switch end.layout {
        case .pair: return nil
        case .list(let list, _):
            let rows = reader.rows(list.memberTable)
            guard rows.isLive(row) else { return nil }
            return (rows.link(row, list.ownerSlot), .init(row: row, target: row))
        case .edges(let table, let lists, _):
            let rows = reader.rows(table)
            guard rows.isLive(row) else { return nil }
            return (rows.link(row, lists[side].ownerSlot), .init(row: row, target: rows.link(row, lists[1 - side].ownerSlot)))
        }
    }
}

extension OpDerivation {
    /// Returns whether a hub (an object with many members) has different members than before the change, or the same members in another
    /// order.
    func isChanged(_ hub: HubChange, _ end: EndLayout) -> Bool {
        guard let list = end.orderedList else { return hub.changesMembers }
        let places = hub.places(list, reader, before: before.reader)
        return places.before != places.after
    }

    /// Emits the changed order of a hub, an object with many members. Adds the order to a block if few members follow the first difference.
    /// Otherwise, emits ops for each touched member.
    func emitOrdered(
        _ hub: HubChange, _ owner: UInt32, _ end: EndLayout, _ relationship: Relationship, _ builder: inout LinkBlockBuilder,
        _ emit: (Op) throws(CambiumError) -> Void
    ) throws(CambiumError) {
        guard let list = end.orderedList else { return }
        let places = hub.places(list, reader, before: before.reader)
        guard let kept = Self.firstDifference(places.before, places.after) else { return }
        let id = reader.id(ObjectPlace(table: layout.startTable(end), row: owner), layout)
        let followingCount = memberCount(end, owner) - 2 * kept
        if followingCount <= limits.suffixRatio * hub.touchedCount, followingCount <= limits.blockMemberCountMax {
            let rows = reader.rows(layout.tableIndex(ofKnown: relationship.destinationRoot))
            let suffix = reader.members(end, owner: owner, from: kept).map { rows.serial($0) }
            return builder.addOrdered(id.serial, kept: kept, suffix: suffix[...])
        }
        try emitMoves(hub, places.after, id, relationship, before.reader.memberCount(end, owner: owner), emit)
    }

    /// Returns the first index at which two lists differ, or `nil` if the lists are equal. `before` and `after` contain the touched
    /// members. All other members are the same, in the same order.
    private static func firstDifference(_ before: [HubChange.Place], _ after: [HubChange.Place]) -> Int? {
        for place in 0..<max(before.count, after.count) {
            let old = place < before.count ? before[place] : nil
            let new = place < after.count ? after[place] : nil
            if old != new { return min(old?.index ?? .max, new?.index ?? .max) }
        }
        return nil
    }

    /// First emits ops that remove touched members or move them to the end. Then emits ops that put each touched member of the new list in
    /// its position, in ascending order.
    ///
    /// A block for the other end of the link may already have appended a member to this hub. In this case, too, the ops produce the right
    /// order.
    ///
    /// - Parameter oldCount: The number of members before the change.
    private func emitMoves(
        _ hub: HubChange, _ places: [HubChange.Place], _ id: ObjectID, _ relationship: Relationship, _ oldCount: Int,
        _ emit: (Op) throws(CambiumError) -> Void
    ) throws(CambiumError) {
        let table = layout.tableIndex(ofKnown: relationship.destinationRoot)
        let target = { (row: UInt32) in reader.id(ObjectPlace(table: table, row: row), layout) }
        let (property, removed, staying) = (relationship.number, hub.removed, hub.staying)
        for member in removed.map(target).sorted() { try emit(.unlink(id, property, target: member)) }
        let lastIndex = oldCount - removed.count - 1
        for member in staying.map(target).sorted() { try emit(.move(id, property, target: member, index: lastIndex)) }
        for place in places {
            let member = target(place.target)
            if staying.contains(place.target) {
                try emit(.move(id, property, target: member, index: place.index))
            } else {
                try emit(.link(id, property, target: member, index: place.index))
            }
        }
    }
}
