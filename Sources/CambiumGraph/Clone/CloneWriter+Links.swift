import CambiumModel

/// Writes up to three link columns of a table row by row. Finds the leaves of the columns once for each group, because consecutive rows are
/// usually in the same group.
private struct LinkCursor {
    typealias Values = UnsafeMutablePointer<UInt32>

    private let table: Int
    private let slots: (Int, Int, Int)
    private var group = UInt32.max
    private var leaves: (Values, Values, Values)?

    init(_ table: Int, _ first: Int, _ second: Int? = nil, _ third: Int? = nil) {
        self.table = table
        slots = (first, second ?? first, third ?? first)
    }

    /// Returns pointers to the values of a row, in leaves that the draft may write.
    @inline(__always)
    mutating func values(_ row: UInt32, _ draft: inout Draft) -> (first: Values, second: Values, third: Values) {
        if row &>> PageLayout.rowShift != group { look(row, &draft) }
        guard let leaves else { preconditionFailure("A group that was looked up must have leaves.") }
        let place = Int(row & PageLayout.rowMask)
        return (leaves.0 + place, leaves.1 + place, leaves.2 + place)
    }

    @inline(never)
    private mutating func look(_ row: UInt32, _ draft: inout Draft) {
        let group = draft.tableWriter.ownedGroup(table, row)
        func values(_ slot: Int) -> Values {
            LinkLeaf(draft.tableWriter.ownedLeaf(group, slot, .linkLeaf)).values
        }
        leaves = (values(slots.0), values(slots.1), values(slots.2))
        self.group = row &>> PageLayout.rowShift
    }
}

extension CloneWriter {
    /// Links copies as their originals are linked, if the rules of both sides allow the link.
    ///
    /// - Parameters:
    ///   - whole: The numbers of the links whose lists of members `copyColumns` has already copied completely.
    ///   - lonely: The numbers of those links in `whole` in which a member is copied but its owner is not.
    static func copyLinks(_ draft: inout Draft, _ plan: borrowing ClonePlan, _ rules: CloneLinkRules, whole: Set<Int>, _ lonely: Set<Int>) {
        for number in draft.layout.links.indices {
            switch draft.layout.links[number] {
            case .pair(let tables, let slots):
                copyPairs(&draft, number, tables, slots, plan, rules)
            case .list(let list, let childEnd):
                guard plan.rows[list.memberTable].count > 0 else { continue }
                if whole.contains(number) {
                    if lonely.contains(number) { joinOwners(&draft, number, list, childEnd, plan, rules) }
                    continue
                }
                switch list.shape {
                case .chain(let first, let last, let count, let previous, let next):
                    let chain = LinkWriter.Chain(
                        owners: list.ownerTable, members: list.memberTable, first: first, last: last, count: count,
                        previous: previous, next: next)
                    copyChains(&draft, number, list, chain, childEnd, plan, rules)
                case .tree:
                    copyTrees(&draft, number, list, childEnd, plan, rules)
                    joinOwners(&draft, number, list, childEnd, plan, rules)
                }
            case .edges(let table, let lists, let isSymmetric):
                copyEdges(&draft, number, draft.layout.tables[table], lists, isSymmetric, plan, rules)
            }
        }
    }

    // MARK: One to one

    private static func copyPairs(
        _ draft: inout Draft, _ number: Int, _ tables: Pair<Int>, _ slots: Pair<Int>, _ plan: borrowing ClonePlan, _ rules: CloneLinkRules
    ) {
        let (here, there) = (draft.layout.end(number, 0), draft.layout.end(number, 1))
        let rows = plan.rows[tables[0]]
        let others = plan.rows[tables[1]]
        if rows.count == 0 || others.count == 0 { return }
        let reader = draft.reader
        let source = reader.rows(tables[0])
        var first = LinkCursor(tables[0], slots[0])
        var second = LinkCursor(tables[1], slots[1])
        rows.forEach { row, copy in
            let partner = source.link(row, slots[0])
            guard partner != noRow, others.contains(partner) else { return }
            let left = rules.rule(here, draft.layout.tables[tables[0]], row, reader)
            let right = rules.rule(there, draft.layout.tables[tables[1]], partner, reader)
            guard CloneLinkRules.keeps(left, right) else { return }
            let other = others.copy(of: partner)
            first.values(copy, &draft).first.pointee = other
            second.values(other, &draft).first.pointee = copy
        }
    }

    // MARK: One to many

    /// Links each copied member to the copy of its owner, or to the owner itself if the owner is not copied.
    private static func copyChains(
        _ draft: inout Draft,
        _ number: Int, _ list: ListLayout, _ chain: LinkWriter.Chain, _ childEnd: Int, _ plan: borrowing ClonePlan, _ rules: CloneLinkRules
    ) {
        let (child, parent) = (draft.layout.end(number, childEnd), draft.layout.end(number, 1 - childEnd))
        let (members, owners) = (draft.layout.tables[list.memberTable], draft.layout.tables[list.ownerTable])
        let keepsAll = rules.keepsAll(number)
        let ownerRows = plan.rows[owners.index]
        let reader = draft.reader
        let source = reader.rows(members.index)
        var own = LinkCursor(members.index, list.ownerSlot, chain.previous, chain.next)
        var last = LinkCursor(members.index, chain.next)
        var owned = LinkCursor(owners.index, chain.first, chain.last, chain.count)
        plan.rows[members.index].forEach { row, copy in
            let original = source.link(row, list.ownerSlot)
            if original == noRow { return }
            guard ownerRows.contains(original) else {
                if rules.rule(child, members, row, reader) == .share {
                    draft.replayWork += ReplayWork.link
                    draft.setParent(child, list, childEnd, ofUnindexed: copy, to: original)
                }
                return
            }
            let isKept =
                keepsAll
                ?? CloneLinkRules.keeps(
                    rules.rule(child, members, row, reader), rules.rule(parent, owners, original, reader))
            if !isKept { return }
            let target = ownerRows.copy(of: original)
            let (owner, previous, _) = own.values(copy, &draft)
            let (first, end, count) = owned.values(target, &draft)
            owner.pointee = target
            if end.pointee == noRow {
                first.pointee = copy
            } else {
                last.values(end.pointee, &draft).first.pointee = copy
                previous.pointee = end.pointee
            }
            end.pointee = copy
            count.pointee &+= 1
        }
    }

    /// Links the copy of each owner to the copies of its members, in the same order.
    private static func copyTrees(
        _ draft: inout Draft, _ number: Int, _ list: ListLayout, _ childEnd: Int, _ plan: borrowing ClonePlan, _ rules: CloneLinkRules
    ) {
        let (child, parent) = (draft.layout.end(number, childEnd), draft.layout.end(number, 1 - childEnd))
        let (members, owners) = (draft.layout.tables[list.memberTable], draft.layout.tables[list.ownerTable])
        let memberRows = plan.rows[members.index]
        let reader = draft.reader
        var owner = LinkCursor(members.index, list.ownerSlot)
        var builder = TreeBuilder(draft.linkWriter.tree(list))
        plan.rows[owners.index].forEach { row, copy in
            let rule = rules.rule(parent, owners, row, reader)
            draft.replayWork += reader.memberCount(parent, owner: row) * ReplayWork.copiedLink
            for member in ListRows(reader, list, owner: row) where memberRows.contains(member) {
                guard CloneLinkRules.keeps(rule, rules.rule(child, members, member, reader)) else { continue }
                let target = memberRows.copy(of: member)
                owner.values(target, &draft).first.pointee = copy
                builder.append(target, &draft)
            }
            builder.finish(owner: copy, &draft)
        }
    }

    /// Appends copies to the lists of owners that are not copied themselves, in the order of the copies' ids.
    private static func joinOwners(
        _ draft: inout Draft, _ number: Int, _ list: ListLayout, _ childEnd: Int, _ plan: borrowing ClonePlan, _ rules: CloneLinkRules
    ) {
        let child = draft.layout.end(number, childEnd)
        let members = draft.layout.tables[list.memberTable]
        if rules.isAlways(.copy, child) || rules.isAlways(.skip, child) { return }
        let reader = draft.reader
        let source = reader.rows(members.index)
        plan.rows[members.index].forEach { row, copy in
            let original = source.link(row, list.ownerSlot)
            guard original != noRow, !plan.rows[list.ownerTable].contains(original),
                rules.rule(child, members, row, reader) == .share
            else { return }
            draft.replayWork += list.replayWork
            draft.setParent(child, list, childEnd, ofUnindexed: copy, to: original)
        }
    }
}

/// The edges that a clone copies in a many-to-many relationship, and the copies of these edges. Each edge is copied at most once.
private struct CloneEdges {
    let originals: CloneBits
    /// The copies of the edges. The index of a copy is the rank of its original in `originals`, the number of edges before it.
    var copies: [UInt32] = []

    init(groupCount: Int, _ chunks: Chunks) { originals = CloneBits(groupCount: groupCount, chunks) }

    func copy(of edge: UInt32) -> UInt32 { copies[Int(originals.rank(of: edge))] }

    /// Numbers the edges, and calls `body` with each edge in the order of the numbers.
    func rankEach(_ body: (UInt32) -> Void) {
        var rank: UInt32 = 0
        for group in originals.groups {
            originals.setRank(group, rank)
            var bits = originals.bits(ofGroup: group)
            rank += UInt32(bits.nonzeroBitCount)
            while bits != 0 {
                body(group << PageLayout.rowShift | UInt32(bits.trailingZeroBitCount))
                bits &= bits - 1
            }
        }
    }
}

extension CloneWriter {
    static func copyEdges(
        _ draft: inout Draft,
        _ number: Int, _ table: TableLayout, _ lists: Pair<ListLayout>, _ isSymmetric: Bool, _ plan: borrowing ClonePlan,
        _ rules: CloneLinkRules
    ) {
        let rows = Pair(plan.rows[lists[0].ownerTable], plan.rows[lists[1].ownerTable])
        if rows[0].count == 0, rows[1].count == 0 { return }
        var edges = CloneEdges(groupCount: draft.reader.groupCount(table.index), draft.chunks)
        for sides in isSymmetric ? [[0, 1]] : [[0], [1]] { choose(draft, edges.originals, sides, number, table, lists, rows, rules) }
        let source = draft.reader.rows(table.index)
        var copies: [UInt32] = []
        edges.rankEach { edge in
            let first = source.link(edge, 0)
            let second = source.link(edge, 1)
            copies.append(
                addCopy(
                    &draft,
                    rows[0].contains(first) ? rows[0].copy(of: first) : first,
                    rows[1].contains(second) ? rows[1].copy(of: second) : second, table, lists, isSymmetric))
        }
        edges.copies = copies
        draft.replayWork += copies.count * ReplayWork.copiedLink
        if !copies.isEmpty { draft.indexWriter.addToIndex(table, edges: copies) }
        for side in 0...1 where lists[side].isOrdered { orderEdges(&draft, side, lists, rows, edges, table) }
        for side in 0...1 where plan.rows[lists[side].ownerTable].count > 0 { trackJoined(&draft, side, number, lists, rows, edges, table) }
    }

    /// Adds to `chosen` the edges that must be copied because they link a copied object of one side. If a relationship is its own inverse,
    /// `sides` contains both sides, because the object may be on either side of an edge.
    private static func choose(
        _ draft: borrowing Draft,
        _ chosen: CloneBits, _ sides: [Int], _ number: Int, _ table: TableLayout, _ lists: Pair<ListLayout>, _ rows: Pair<CloneRows>,
        _ rules: CloneLinkRules
    ) {
        let (here, there) = (draft.layout.end(number, sides[0]), draft.layout.end(number, 1 - sides[0]))
        let (owners, targets) = (draft.layout.tables[lists[sides[0]].ownerTable], draft.layout.tables[lists[1 - sides[0]].ownerTable])
        let reader = draft.reader
        let source = reader.rows(table.index)
        rows[sides[0]].forEach { owner, _ in
            let rule = rules.rule(here, owners, owner, reader)
            var joined: [UInt32] = []
            var isCopied = false
            for side in sides {
                for edge in ListRows(reader, lists[side], owner: owner) {
                    let target = source.link(edge, lists[1 - side].ownerSlot)
                    if !rows[1 - side].contains(target) {
                        if rule == .share { joined.append(edge) }
                        continue
                    }
                    let other = rules.rule(there, targets, target, reader)
                    if other == .copy, owners.index != targets.index || target != owner { isCopied = true }
                    if CloneLinkRules.keeps(rule, other) { _ = chosen.insert(edge) }
                }
            }
            // `isCopied` is true if a copied target, other than the owner itself, has the rule `.copy` for this link. Then the clone may
            // have found the owner through that target. So the owner's copy is linked to copies only, not to shared objects.
            if !isCopied { for edge in joined { _ = chosen.insert(edge) } }
        }
    }

    /// Creates an edge, and appends it to those lists of its two objects that have no order. The caller adds the edge to the index.
    private static func addCopy(
        _ draft: inout Draft, _ left: UInt32, _ right: UInt32, _ table: TableLayout, _ lists: Pair<ListLayout>, _ isSymmetric: Bool
    ) -> UInt32 {
        let (first, second) = EndLayout.pair(0, isSymmetric, left, right)
        let edge = draft.linkWriter.newEdge(table, first, second)
        if !lists[0].isOrdered { draft.linkWriter.add(lists[0], owner: first, member: edge) }
        // If an object is linked to itself, the edge is in one list only.
        if !lists[1].isOrdered, !(isSymmetric && first == second) { draft.linkWriter.add(lists[1], owner: second, member: edge) }
        return edge
    }

    /// Puts the edges of one side into ordered lists. The list of an owner's copy has the same order as the list of the owner. The list of
    /// an owner that is not copied gets its new edges at the end, in the order of the copies' ids.
    private static func orderEdges(
        _ draft: inout Draft, _ side: Int, _ lists: Pair<ListLayout>, _ rows: Pair<CloneRows>, _ edges: CloneEdges, _ table: TableLayout
    ) {
        let reader = draft.reader
        var builder = TreeBuilder(draft.linkWriter.tree(lists[side]))
        rows[side].forEach { owner, copy in
            for edge in ListRows(reader, lists[side], owner: owner) where edges.originals.contains(edge) {
                builder.append(edges.copy(of: edge), &draft)
            }
            builder.finish(owner: copy, &draft)
        }
        forEachJoined(&draft, side, lists, rows, edges, table) { draft, owner, edge, _ in
            draft.linkWriter.add(lists[side], owner: owner, member: edge)
        }
    }

    /// Records the changed links of objects that are not copied, but were linked to copies of objects on the given side.
    private static func trackJoined(
        _ draft: inout Draft,
        _ side: Int, _ number: Int, _ lists: Pair<ListLayout>, _ rows: Pair<CloneRows>, _ edges: CloneEdges, _ table: TableLayout
    ) {
        // `forEachJoined` takes the side of the owners. Here, the owners are objects of the other side.
        forEachJoined(&draft, 1 - side, lists, rows, edges, table) { draft, owner, _, _ in
            draft.trackChange(number, 1 - side, owner)
        }
    }

    /// Calls `body` for each link between a copy on the other side and an object on this side that is not copied. `owner` is the object
    /// that is not copied.
    private static func forEachJoined(
        _ draft: inout Draft, _ side: Int, _ lists: Pair<ListLayout>, _ rows: Pair<CloneRows>, _ edges: CloneEdges, _ table: TableLayout,
        _ body: (inout Draft, _ owner: UInt32, _ edge: UInt32, _ copy: UInt32) -> Void
    ) {
        let reader = draft.reader
        let source = reader.rows(table.index)
        rows[1 - side].forEach { row, copy in
            for edge in ListRows(reader, lists[1 - side], owner: row) where edges.originals.contains(edge) {
                let owner = source.link(edge, lists[side].ownerSlot)
                if !rows[side].contains(owner) { body(&draft, owner, edges.copy(of: edge), copy) }
            }
        }
    }
}
