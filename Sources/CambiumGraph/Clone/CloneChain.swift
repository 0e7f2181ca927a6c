/// A to-many relationship without an order, for which a clone copies all members of each copied owner. The clone copies the links of such a
/// relationship column by column, instead of link by link.
struct CloneChain {
    let link: Int
    let chain: LinkWriter.Chain
    let ownerSlot: Int
    let owners: CloneRows
    let members: CloneRows
}

extension GraphLayout {
    /// Returns the to-many relationships without an order for which the clone copies all members of each copied owner.
    func wholeChains(_ plan: borrowing ClonePlan, _ rules: CloneLinkRules) -> [CloneChain] {
        var found: [CloneChain] = []
        if plan.options.depth != nil { return found }
        for (number, link) in links.enumerated() {
            guard case .list(let list, let childEnd) = link,
                case .chain(let first, let last, let count, let previous, let next) = list.shape,
                plan.rows[list.memberTable].count > 0, rules.isAlways(.copy, ends[2 * number + 1 - childEnd])
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

extension Draft {
    private func source(_ span: CloneSpan, _ slot: Int) -> UnsafeMutablePointer<UInt32> {
        LinkLeaf(chunks[span.source[slot]]).values
    }

    private mutating func target(_ group: GroupPage, _ slot: Int) -> UnsafeMutablePointer<UInt32> {
        LinkLeaf(tableWriter.ownedLeaf(group, slot, .linkLeaf)).values
    }

    /// Returns whether a column has no value in any of the originals that the spans contain.
    private func isEmpty(_ slot: Int, _ spans: [CloneSpan]) -> Bool {
        spans.allSatisfy { chunks.birth($0.source[slot]) == 0 }
    }

    /// Links the copy of each member to the copies of its owner, of the member before it, and of the member after it. Returns whether a
    /// member was copied without its owner. The copy of such a member gets no links here.
    mutating func copyMembers(
        _ chain: CloneChain, _ group: GroupPage, _ target: UInt32, _ spans: [CloneSpan]
    ) -> Bool {
        if isEmpty(chain.ownerSlot, spans) { return false }
        let owner = self.target(group, chain.ownerSlot)
        let previous = self.target(group, chain.chain.previous)
        let next = self.target(group, chain.chain.next)
        var isAnyAlone = false
        var known = (original: noRow, copy: noRow)
        for span in spans {
            let owners = source(span, chain.ownerSlot)
            let befores = source(span, chain.chain.previous)
            let successors = source(span, chain.chain.next)
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
    mutating func copyOwners(_ chain: CloneChain, _ group: GroupPage, _ spans: [CloneSpan]) {
        if isEmpty(chain.chain.first, spans) { return }
        let first = target(group, chain.chain.first)
        let last = target(group, chain.chain.last)
        let count = target(group, chain.chain.count)
        for span in spans {
            let firsts = source(span, chain.chain.first)
            let lasts = source(span, chain.chain.last)
            let counts = source(span, chain.chain.count)
            span.forEach { row, place in
                if firsts[row] == noRow { return }
                first[place] = chain.members.copy(of: firsts[row])
                last[place] = chain.members.copy(of: lasts[row])
                count[place] = counts[row]
            }
        }
    }
}
