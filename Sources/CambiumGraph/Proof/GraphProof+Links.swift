import CambiumModel

/// Proves that the two sides of each link agree.
extension GraphProof {
    mutating func proveLinks() {
        for link in layout.links where isSound {
            switch link {
            case .pair(let tables, let slots):
                for side in 0...1 { provePair(tables, slots, side) }
            case .list(let list, _): proveList(list, isSymmetric: false)
            case .edges(let table, let lists, let isSymmetric):
                proveEnds(table, lists, isSymmetric)
                if isSound { proveList(lists[0], isSymmetric: false) }
                if isSound { proveList(lists[1], isSymmetric: isSymmetric) }
            }
        }
    }

    private func link(_ table: Int, _ row: UInt32, _ slot: Int) -> UInt32 { reader.rows(table).link(row, slot) }

    private mutating func provePair(_ sides: Pair<Int>, _ slots: Pair<Int>, _ side: Int) {
        let (here, there) = (tables[sides[side]], tables[sides[1 - side]])
        here.forEachRow { row in
            let partner = link(sides[side], row, slots[side])
            if partner == noRow { return }
            guard there.isLive(partner), link(sides[1 - side], partner, slots[1 - side]) == row else {
                return report("A link of '\(here.name)' does not exist on the other side.")
            }
        }
    }

    /// Proves that each edge of a many-to-many relationship has an object at both ends. In a relationship that is its own inverse, the
    /// lower row must come first.
    private mutating func proveEnds(_ number: Int, _ lists: Pair<ListLayout>, _ isSymmetric: Bool) {
        let (edges, first, second) = (tables[number], tables[lists[0].ownerTable], tables[lists[1].ownerTable])
        edges.forEachRow { edge in
            let owners = (link(number, edge, lists[0].ownerSlot), link(number, edge, lists[1].ownerSlot))
            guard first.isLive(owners.0), second.isLive(owners.1), !isSymmetric || owners.0 <= owners.1 else {
                return report("A link between '\(first.name)' and '\(second.name)' has an end that does not exist.")
            }
        }
    }

    // MARK: Lists

    /// Proves that each member is exactly once in the list of its owner, and that no list contains other members. A row that is in no list
    /// must not refer to other members.
    ///
    /// - Parameter isSymmetric: Whether this is the second list of a relationship that is its own inverse. An edge from an object to itself
    ///   is only in the first list.
    private mutating func proveList(_ list: ListLayout, isSymmetric: Bool) {
        let (owners, members) = (tables[list.ownerTable], tables[list.memberTable])
        var seen = RowSet()
        var listed = 0
        owners.forEachRow { owner in
            if !isSound { return }
            switch list.shape {
            case .chain(let first, let last, let count, let previous, let next):
                let chain = LinkWriter.Chain(
                    owners: list.ownerTable, members: list.memberTable, first: first, last: last, count: count, previous: previous,
                    next: next)
                listed += proveChain(chain, list, owner, members, &seen)
            case .tree: listed += proveTree(list, owner, members, &seen)
            }
        }
        var expected = 0
        members.forEachRow { member in
            let owner = link(list.memberTable, member, list.ownerSlot)
            if owner != noRow, !owners.isLive(owner) {
                return report("A member of '\(owners.name)' names an owner that does not exist.")
            }
            if owner != noRow, !isSymmetric || link(list.memberTable, member, 0) != link(list.memberTable, member, 1) {
                expected += 1
            } else if hasNeighbors(list, member) {
                report("A row of '\(members.name)' is in no list of '\(owners.name)', but refers to members.")
            }
        }
        if expected != listed { report("Lists of '\(owners.name)' have \(listed) members, but \(expected) members name an owner.") }
    }

    /// Returns whether a member refers to neighbors in a list, or has a size other than 0 in the tree of an ordered list. A member that is
    /// in no list must have neither: adding such a member to a list would also add its neighbors.
    private func hasNeighbors(_ list: ListLayout, _ member: UInt32) -> Bool {
        let slots: [Int]
        switch list.shape {
        case .chain(_, _, _, let previous, let next): slots = [previous, next]
        case .tree(_, let left, let right, let up, let size):
            if link(list.memberTable, member, size) != 0 { return true }
            slots = [left, right, up]
        }
        return slots.contains { link(list.memberTable, member, $0) != noRow }
    }

    /// Proves an unordered list and returns the number of its members.
    private mutating func proveChain(
        _ chain: LinkWriter.Chain, _ list: ListLayout, _ owner: UInt32, _ members: ProvenTable, _ seen: inout RowSet
    ) -> Int {
        var count = 0
        var before = noRow
        var row = link(chain.owners, owner, chain.first)
        while row != noRow {
            guard members.isLive(row), seen.insert(row), link(chain.members, row, list.ownerSlot) == owner,
                link(chain.members, row, chain.previous) == before
            else {
                report("A list has a member in two places, or a member that does not belong to the list.")
                return count
            }
            count += 1
            before = row
            row = link(chain.members, row, chain.next)
        }
        if link(chain.owners, owner, chain.last) != before || Int(link(chain.owners, owner, chain.count)) != count {
            report("A list states a wrong number of members, or its last member is wrong.")
        }
        return count
    }

    /// Proves an ordered list and returns the number of its members.
    private mutating func proveTree(_ list: ListLayout, _ owner: UInt32, _ members: ProvenTable, _ seen: inout RowSet) -> Int {
        guard case .tree(let root, let left, let right, let up, let size) = list.shape else { return 0 }
        let table = list.memberTable
        var count = 0
        var pending = [(node: link(list.ownerTable, owner, root), parent: noRow)]
        while let (node, parent) = pending.popLast() {
            if node == noRow { continue }
            guard members.isLive(node), seen.insert(node), link(table, node, list.ownerSlot) == owner, link(table, node, up) == parent,
                parent == noRow || LinkWriter.priority(parent) >= LinkWriter.priority(node)
            else {
                report("An ordered list has a member in two places, or a member that does not belong to the list.")
                return count
            }
            count += 1
            pending += [(link(table, node, left), node), (link(table, node, right), node)]
            // The sum relies on the stored sizes of the children. The loop checks each size when it reaches the child.
            let below = [link(table, node, left), link(table, node, right)].reduce(0) { sum, child in
                sum + (child != noRow && members.isLive(child) ? Int(link(table, child, size)) : 0)
            }
            if Int(link(table, node, size)) != below + 1 { report("An ordered list states a wrong number of members.") }
        }
        return count
    }
}
