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
