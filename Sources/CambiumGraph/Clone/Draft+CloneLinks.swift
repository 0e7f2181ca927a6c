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

extension Draft {
    /// Links copies as their originals are linked, if the rules of both sides allow the link.
    ///
    /// - Parameters:
    ///   - whole: The numbers of the links whose lists of members `copyColumns` has already copied completely.
    ///   - lonely: The numbers of those links in `whole` in which a member is copied but its owner is not.
    mutating func copyLinks(_ plan: borrowing ClonePlan, _ rules: CloneLinkRules, whole: Set<Int>, _ lonely: Set<Int>) {
        for number in layout.links.indices {
            switch layout.links[number] {
            case .pair(let tables, let slots):
                copyPairs(number, tables, slots, plan, rules)
            case .list(let list, let childEnd):
                guard plan.rows[list.memberTable].count > 0 else { continue }
                if whole.contains(number) {
                    if lonely.contains(number) { joinOwners(number, list, childEnd, plan, rules) }
                    continue
                }
                switch list.shape {
                case .chain(let first, let last, let count, let previous, let next):
                    let chain = LinkWriter.Chain(
                        owners: list.ownerTable, members: list.memberTable, first: first, last: last, count: count,
                        previous: previous, next: next)
                    copyChains(number, list, chain, childEnd, plan, rules)
                case .tree:
                    copyTrees(number, list, childEnd, plan, rules)
                    joinOwners(number, list, childEnd, plan, rules)
                }
            case .edges(let table, let lists, let isSymmetric):
                copyEdges(number, layout.tables[table], lists, isSymmetric, plan, rules)
            }
        }
    }

    // MARK: One to one

    private mutating func copyPairs(
        _ number: Int, _ tables: Pair<Int>, _ slots: Pair<Int>, _ plan: borrowing ClonePlan, _ rules: CloneLinkRules
    ) {
        let (here, there) = (layout.end(number, 0), layout.end(number, 1))
        let rows = plan.rows[tables[0]]
        let others = plan.rows[tables[1]]
        if rows.count == 0 || others.count == 0 { return }
        let reader = reader
        let source = reader.rows(tables[0])
        var first = LinkCursor(tables[0], slots[0])
        var second = LinkCursor(tables[1], slots[1])
        rows.forEach { row, copy in
            let partner = source.link(row, slots[0])
            guard partner != noRow, others.contains(partner) else { return }
            let left = rules.rule(here, layout.tables[tables[0]], row, reader)
            let right = rules.rule(there, layout.tables[tables[1]], partner, reader)
            guard CloneLinkRules.keeps(left, right) else { return }
            let other = others.copy(of: partner)
            first.values(copy, &self).first.pointee = other
            second.values(other, &self).first.pointee = copy
        }
    }

    // MARK: One to many

    /// Links each copied member to the copy of its owner, or to the owner itself if the owner is not copied.
    private mutating func copyChains(
        _ number: Int, _ list: ListLayout, _ chain: LinkWriter.Chain, _ childEnd: Int, _ plan: borrowing ClonePlan, _ rules: CloneLinkRules
    ) {
        let (child, parent) = (layout.end(number, childEnd), layout.end(number, 1 - childEnd))
        let (members, owners) = (layout.tables[list.memberTable], layout.tables[list.ownerTable])
        let keepsAll = rules.keepsAll(number)
        let ownerRows = plan.rows[owners.index]
        let reader = reader
        let source = reader.rows(members.index)
        var own = LinkCursor(members.index, list.ownerSlot, chain.previous, chain.next)
        var last = LinkCursor(members.index, chain.next)
        var owned = LinkCursor(owners.index, chain.first, chain.last, chain.count)
        plan.rows[members.index].forEach { row, copy in
            let original = source.link(row, list.ownerSlot)
            if original == noRow { return }
            guard ownerRows.contains(original) else {
                if rules.rule(child, members, row, reader) == .share {
                    replayWork += ReplayWork.link
                    setParent(child, list, childEnd, ofUnindexed: copy, to: original)
                }
                return
            }
            let isKept =
                keepsAll
                ?? CloneLinkRules.keeps(
                    rules.rule(child, members, row, reader), rules.rule(parent, owners, original, reader))
            if !isKept { return }
            let target = ownerRows.copy(of: original)
            let (owner, previous, _) = own.values(copy, &self)
            let (first, end, count) = owned.values(target, &self)
            owner.pointee = target
            if end.pointee == noRow {
                first.pointee = copy
            } else {
                last.values(end.pointee, &self).first.pointee = copy
                previous.pointee = end.pointee
            }
            end.pointee = copy
            count.pointee &+= 1
        }
    }

    /// Links the copy of each owner to the copies of its members, in the same order.
    private mutating func copyTrees(
        _ number: Int, _ list: ListLayout, _ childEnd: Int, _ plan: borrowing ClonePlan, _ rules: CloneLinkRules
    ) {
        let (child, parent) = (layout.end(number, childEnd), layout.end(number, 1 - childEnd))
        let (members, owners) = (layout.tables[list.memberTable], layout.tables[list.ownerTable])
        let memberRows = plan.rows[members.index]
        let reader = reader
        var owner = LinkCursor(members.index, list.ownerSlot)
        var builder = TreeBuilder(linkWriter.tree(list))
        plan.rows[owners.index].forEach { row, copy in
            let rule = rules.rule(parent, owners, row, reader)
            replayWork += reader.memberCount(parent, owner: row) * ReplayWork.copiedLink
            for member in ListRows(reader, list, owner: row) where memberRows.contains(member) {
                guard CloneLinkRules.keeps(rule, rules.rule(child, members, member, reader)) else { continue }
                let target = memberRows.copy(of: member)
                owner.values(target, &self).first.pointee = copy
                builder.append(target, &self)
            }
            builder.finish(owner: copy, &self)
        }
    }

    /// Appends copies to the lists of owners that are not copied themselves, in the order of the copies' ids.
    private mutating func joinOwners(
        _ number: Int, _ list: ListLayout, _ childEnd: Int, _ plan: borrowing ClonePlan, _ rules: CloneLinkRules
    ) {
        let child = layout.end(number, childEnd)
        let members = layout.tables[list.memberTable]
        if rules.isAlways(.copy, child) || rules.isAlways(.skip, child) { return }
        let reader = reader
        let source = reader.rows(members.index)
        plan.rows[members.index].forEach { row, copy in
            let original = source.link(row, list.ownerSlot)
            guard original != noRow, !plan.rows[list.ownerTable].contains(original),
                rules.rule(child, members, row, reader) == .share
            else { return }
            replayWork += list.replayWork
            setParent(child, list, childEnd, ofUnindexed: copy, to: original)
        }
    }
}
