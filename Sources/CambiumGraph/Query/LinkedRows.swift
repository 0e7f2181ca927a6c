import CambiumModel

/// Finds the rows at one end of a link from rows at the other end.
struct LinkedRows {
    private let reader: Reader

    init(_ reader: Reader) { self.reader = reader }

    /// Returns the rows from which a step, one relationship of a path, leads to at least one target.
    ///
    /// Complexity: O(rows of both tables + links of the targets). If the links are edges and there are many targets, reads all edges
    /// instead of the links of the targets.
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
        case .edges:
            // If there are few targets, following their edges is cheaper than reading all edges.
            if targets.count * Self.walkCost < reader.groupCount(step.targetTable.index) << PageLayout.fanOutShift {
                let inverse = step.inverse
                targets.forEach { target in
                    reader.forEachMember(inverse, owner: target) { owners.insert($0) }
                    return true
                }
            } else {
                forEachLink(step) { owner, target in if targets.contains(target) { owners.insert(owner) } }
            }
        }
        return owners
    }

    /// The number of edges that a scan reads at the cost of following one edge in a chain.
    private static let walkCost = 4

    private func add(_ row: UInt32, to owners: inout RowBits) -> Bool {
        if row != noRow { owners.insert(row) }
        return true
    }

    /// Calls `body` with the owner and the target of each link that a step (one relationship of a path) can follow. The links come in the
    /// order in which they are stored.
    ///
    /// If the relationship is its own inverse, each link leads in both directions. Complexity: O(rows of the table that stores the links).
    @inline(__always) func forEachLink(_ step: LinkStep, _ body: (UInt32, UInt32) -> Void) {
        switch step.end.layout {
        case .pair(let tables, let slots):
            forEachRow(tables[step.end.end], slots[step.end.end], nil) { row, target, _ in if target != noRow { body(row, target) } }
        case .list(let list, let childEnd):
            let isChild = step.end.end == childEnd
            forEachRow(list.memberTable, list.ownerSlot, nil) { row, owner, _ in
                if owner != noRow { isChild ? body(row, owner) : body(owner, row) }
            }
        case .edges(let table, let lists, let isSymmetric):
            forEachRow(table, lists[step.end.end].ownerSlot, lists[1 - step.end.end].ownerSlot) { _, owner, target in
                body(owner, target)
                if isSymmetric, owner != target { body(target, owner) }
            }
        }
    }

    /// Calls `body` with each row of a table and the content of one or two of its link columns.
    @inline(__always)
    private func forEachRow(_ table: Int, _ slot: Int, _ second: Int?, _ body: (UInt32, UInt32, UInt32) -> Void) {
        let rows = reader.rows(table)
        for index in 0..<reader.groupCount(table) {
            guard let page = rows.group(at: index) else { continue }
            let group = GroupView(index: index, page: page, chunks: reader.chunks)
            let (first, other) = (LinkLeaf(group.leaf(slot)).values, LinkLeaf(group.leaf(second ?? slot)).values)
            func visit(_ place: Int) {
                body(group.row(UInt32(truncatingIfNeeded: place)), first[place], other[place])
            }
            let live = group.live
            if live.count == PageLayout.fanOut {
                for place in 0..<PageLayout.fanOut { visit(place) }
            } else {
                live.forEach {
                    visit(Int($0))
                    return true
                }
            }
        }
    }
}
