import CambiumModel

/// Finds the rows at one end of a link from rows at the other end.
struct LinkedRows {
    private let reader: Reader

    init(_ reader: Reader) { self.reader = reader }

    /// Returns the rows from which a step leads to at least one of the targets.
    ///
    /// Complexity: O(rows of the owners' table + links of the targets), and at most O(links).
    func owners(of targets: RowBits, _ step: LinkStep) -> RowBits {
        var owners = RowBits(groupCount: reader.groupCount(step.ownerTable.index))
        switch step.end.layout {
        case .pair(let tables, let slots):
            let rows = reader.rows(tables[1 - step.end.end])
            targets.forEach { add(rows.link($0, slots[1 - step.end.end]), to: &owners) }
        case .list(let list, let childEnd):
            let rows = reader.rows(list.memberTable)
            if step.end.end != childEnd {
                targets.forEach { add(rows.link($0, list.ownerSlot), to: &owners) }
            } else {
                targets.forEach { owner in
                    for row in ListRows(reader, list, owner: owner) { owners.insert(row) }
                    return true
                }
            }
        case .edges(let table, let lists, let isSymmetric):
            let own = lists[step.end.end]
            let other = lists[1 - step.end.end]
            // Walking the edges of few targets is cheaper than reading all edges.
            if targets.count * Self.walkCost < reader.groupCount(step.targetTable.index) << PageLayout.fanOutShift {
                let inverse = step.inverse
                targets.forEach { target in
                    reader.forEachMember(inverse, owner: target) { owners.insert($0) }
                    return true
                }
            } else {
                addEdges(table, from: other.ownerSlot, to: own.ownerSlot, targets, &owners)
                if isSymmetric { addEdges(table, from: own.ownerSlot, to: other.ownerSlot, targets, &owners) }
            }
        }
        return owners
    }

    /// The cost of an edge in a chain, relative to an edge among all edges.
    private static let walkCost = 4

    private func add(_ row: UInt32, to owners: inout RowBits) -> Bool {
        if row != noRow { owners.insert(row) }
        return true
    }

    private func addEdges(_ table: Int, from targetSlot: Int, to ownerSlot: Int, _ targets: RowBits, _ owners: inout RowBits) {
        let rows = reader.rows(table)
        for index in 0..<reader.groupCount(table) {
            guard let page = rows.group(at: index) else { continue }
            let group = GroupView(index: index, page: page, chunks: reader.chunks)
            let (target, owner) = (group.leaf(targetSlot), group.leaf(ownerSlot))
            group.live.forEach { edge in
                let offset = PageLayout.linkValuesOffset &+ 4 &* Int(edge)
                if targets.contains(target.load(fromByteOffset: offset, as: UInt32.self)) {
                    owners.insert(owner.load(fromByteOffset: offset, as: UInt32.self))
                }
                return true
            }
        }
    }
}
