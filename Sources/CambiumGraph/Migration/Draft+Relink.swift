import CambiumModel

/// The members of a link, collected as rows because the link will be stored in another way. The sides are the ends of the new link.
struct CollectedMembers {
    struct Side {
        var owners: [UInt32] = []
        var counts: [UInt32] = []
        var members: [UInt32] = []

        /// Calls `body` with each owner and its members, in order.
        func forEach(_ body: (_ owner: UInt32, _ members: ArraySlice<UInt32>) -> Void) {
            var start = 0
            for (owner, count) in zip(owners, counts) {
                body(owner, members[start..<start + Int(count)])
                start += Int(count)
            }
        }
    }

    /// The members at the first end and at the second end of the new link. `nil` for an end that `relink` does not need.
    var sides: [Side?]
}

extension Draft {
    /// Reads the members of a link whose columns cannot be kept. Returns `nil` if the columns are kept, or if the link is new and has no
    /// members.
    func collectMembers(ofLink number: Int, _ plan: MigrationPlan) -> CollectedMembers? {
        let source = plan.links[number]
        guard let old = source.old, !source.isKept else { return nil }
        var sides: [CollectedMembers.Side?] = [nil, nil]
        let wanted: [Int] =
            switch plan.new.links[number] {
            case .pair: [0]
            case .list(_, let childEnd): [1 - childEnd]
            case .edges(_, let lists, _): lists[1].isOrdered ? [0, 1] : [0]
            }
        for side in wanted { sides[side] = collect(layout.end(old, source.isSwapped ? 1 - side : side)) }
        return CollectedMembers(sides: sides)
    }

    /// Returns the members of all owners at an end: in order if the end is ordered, otherwise by ascending serial.
    private func collect(_ end: EndLayout) -> CollectedMembers.Side {
        let link = layout.schema.links[end.link]
        let (here, there) = end.end == 0 ? (link.first, link.second) : (link.second, link.first)
        let targets = reader.rows(layout.tableIndex(ofKnown: there.root))
        var side = CollectedMembers.Side()
        reader.forEachRow(of: layout.tables[layout.startTable(end)]) { row in
            var members: [UInt32] = []
            reader.forEachMember(end, owner: row) { members.append($0) }
            if members.isEmpty { return }
            if !here.isOrdered, members.count > 1 { members.sort { targets.serial($0) < targets.serial($1) } }
            side.owners.append(row)
            side.counts.append(UInt32(members.count))
            side.members += members
        }
        return side
    }

    /// Links the collected members in the new layout, in which the link has no members yet.
    mutating func relink(_ number: Int, _ collected: CollectedMembers) {
        switch layout.links[number] {
        case .pair(let tables, let slots):
            collected.sides[0]?.forEach { owner, members in
                for member in members {
                    setLink(tables[0], owner, slots[0], member)
                    setLink(tables[1], member, slots[1], owner)
                }
            }
        case .list(let list, let childEnd):
            collected.sides[1 - childEnd]?.forEach { owner, members in
                for member in members {
                    setLink(list.memberTable, member, list.ownerSlot, owner)
                    add(list, owner: owner, member: member)
                }
            }
        case .edges(let table, let lists, let isSymmetric):
            relinkEdges(layout.tables[table], lists, isSymmetric, collected)
        }
    }

    private mutating func relinkEdges(
        _ table: TableLayout, _ lists: Pair<ListLayout>, _ isSymmetric: Bool, _ collected: CollectedMembers
    ) {
        var edges: [UInt32] = []
        collected.sides[0]?.forEach { owner, members in
            // If the relationship is its own inverse, the collected members contain each pair of objects twice. The condition accepts each
            // pair only once.
            for member in members where !isSymmetric || owner <= member {
                let edge = newEdge(table, owner, member)
                edges.append(edge)
                add(lists[0], owner: owner, member: edge)
                if !lists[1].isOrdered, !(isSymmetric && owner == member) { add(lists[1], owner: member, member: edge) }
            }
        }
        addToIndex(table, edges: edges)
        guard lists[1].isOrdered else { return }
        collected.sides[1]?.forEach { owner, members in
            for member in members { add(lists[1], owner: owner, member: reader.edge(table.index, member, owner)) }
        }
    }
}
