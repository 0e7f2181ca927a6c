/// A to-many relationship without an order, for which a clone copies all members of each copied owner. The clone copies the links of such a
/// relationship column by column, instead of link by link.
struct CloneChain {
    let link: Int
    let chain: LinkWriter.Chain
    let ownerSlot: Int
    let owners: CloneRows
    let members: CloneRows

    /// Returns the to-many relationships without an order for which the clone copies all members of each copied owner.
    static func whole(_ plan: borrowing ClonePlan, _ rules: CloneLinkRules, _ layout: GraphLayout) -> [CloneChain] {
        var found: [CloneChain] = []
        if plan.options.depth != nil { return found }
        for (number, link) in layout.links.enumerated() {
            guard case .list(let list, let childEnd) = link,
                case .chain(let first, let last, let count, let previous, let next) = list.shape,
                plan.rows[list.memberTable].count > 0, rules.isAlways(.copy, layout.ends[2 * number + 1 - childEnd])
            else { continue }
            let chain = LinkWriter.Chain(
                owners: list.ownerTable, members: list.memberTable, first: first, last: last, count: count, previous: previous, next: next)
            found.append(
                CloneChain(
                    link: number, chain: chain, ownerSlot: list.ownerSlot, owners: plan.rows[list.ownerTable],
                    members: plan.rows[list.memberTable]))
        }
        return found
    }
}

extension CloneSpan {
    /// Returns the row that contains the copy of `row`. If `row` is in this span, the copy is in the group `target`. Usually, the rows of
    /// the span are consecutive, so a copy is found without a search.
    @inline(__always) fileprivate func copy(of row: UInt32, _ target: UInt32, _ rows: CloneRows) -> UInt32 {
        let place = row &- firstRow
        guard isRun, place < UInt32(truncatingIfNeeded: count) else { return rows.copy(of: row) }
        return target &<< PageLayout.rowShift &+ UInt32(truncatingIfNeeded: start) &+ place
    }
}

extension CloneWriter {
    private static func source(_ draft: borrowing Draft, _ span: CloneSpan, _ slot: Int) -> UnsafeMutablePointer<UInt32> {
        LinkLeaf(draft.chunks[span.source[slot]]).values
    }

    private static func target(_ draft: inout Draft, _ group: GroupPage, _ slot: Int) -> UnsafeMutablePointer<UInt32> {
        LinkLeaf(draft.tableWriter.ownedLeaf(group, slot, .linkLeaf)).values
    }

    /// Returns whether a column has no value in any of the originals that the spans contain.
    private static func isEmpty(_ draft: borrowing Draft, _ slot: Int, _ spans: [CloneSpan]) -> Bool {
        spans.allSatisfy { draft.chunks.birth($0.source[slot]) == 0 }
    }

    /// Links the copy of each member to the copies of its owner, of the member before it, and of the member after it. Returns whether a
    /// member was copied without its owner. The copy of such a member gets no links here.
    static func copyMembers(
        _ draft: inout Draft, _ chain: CloneChain, _ group: GroupPage, _ target: UInt32, _ spans: [CloneSpan]
    ) -> Bool {
        if isEmpty(draft, chain.ownerSlot, spans) { return false }
        let owner = Self.target(&draft, group, chain.ownerSlot)
        let previous = Self.target(&draft, group, chain.chain.previous)
        let next = Self.target(&draft, group, chain.chain.next)
        var isAnyAlone = false
        var known = (original: noRow, copy: noRow)
        for span in spans {
            let owners = source(draft, span, chain.ownerSlot)
            let befores = source(draft, span, chain.chain.previous)
            let successors = source(draft, span, chain.chain.next)
            span.forEach { row, place in
                let original = owners[row]
                if original == noRow { return }
                // Consecutive members usually have the same owner, so the last owner and its copy are kept.
                if original != known.original {
                    guard chain.owners.contains(original) else {
                        isAnyAlone = true
                        return
                    }
                    known = (original, chain.owners.copy(of: original))
                }
                owner[place] = known.copy
                if befores[row] != noRow { previous[place] = span.copy(of: befores[row], target, chain.members) }
                if successors[row] != noRow { next[place] = span.copy(of: successors[row], target, chain.members) }
            }
        }
        return isAnyAlone
    }

    /// Links the copies of owners to the copies of their first and last members.
    static func copyOwners(_ draft: inout Draft, _ chain: CloneChain, _ group: GroupPage, _ spans: [CloneSpan]) {
        if isEmpty(draft, chain.chain.first, spans) { return }
        let first = Self.target(&draft, group, chain.chain.first)
        let last = Self.target(&draft, group, chain.chain.last)
        let count = Self.target(&draft, group, chain.chain.count)
        for span in spans {
            let firsts = source(draft, span, chain.chain.first)
            let lasts = source(draft, span, chain.chain.last)
            let counts = source(draft, span, chain.chain.count)
            span.forEach { row, place in
                if firsts[row] == noRow { return }
                first[place] = chain.members.copy(of: firsts[row])
                last[place] = chain.members.copy(of: lasts[row])
                count[place] = counts[row]
            }
        }
    }
}
