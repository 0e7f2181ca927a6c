import CambiumModel

/// The members of a link that gets another shape, by rows, as the ends of the new link have them.
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

    /// Those of the new link's first end and of its second one, as far as they are needed.
    var sides: [Side?]
}

extension Draft {
    /// Reads the members of a link that cannot keep its columns; nil for one that can, and for one that begins without members.
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

    /// In their order where they have one, else by ascending serial.
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

    /// Gives a link of the new layout, which has no members yet, those that were collected.
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
            // One that is its own inverse is met from both of its sides.
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
