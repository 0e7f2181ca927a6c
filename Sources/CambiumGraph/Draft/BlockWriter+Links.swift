import CambiumModel

extension BlockWriter {
    /// The number of bytes of pages that a link in an ordered relationship takes at most, with those of copied pages.
    private static let linkByteCountMax = 128

    /// Applies a block of links, which changes the members of objects.
    static func apply(_ draft: inout Draft, _ block: LinkBlock) throws(CambiumError) {
        guard let table = draft.layout.table(of: block.root),
            let relationship = draft.schema.entities.lazy.filter({ $0.root == block.root })
                .compactMap({ $0.relationship(block.property) }).first,
            let targets = draft.layout.table(of: relationship.destinationRoot)
        else { throw CambiumError(.damaged, "A block of links names \(block.property), which the schema does not have.") }
        let end = draft.layout.end(relationship)
        let owners = try existingRows(draft, block.serials, table, nil)
        let ownerRows = draft.reader.rows(table.index)
        var owning = Family(draft.schema.entity(relationship.entity))
        guard owners.allSatisfy({ owning.has(ownerRows.entity($0, table)) }) else { throw misfit(relationship) }
        switch block.content {
        case .toOne(let serials):
            guard serials.count == owners.count, !relationship.isToMany else { throw misfit(relationship) }
            let found = try rows(draft, serials, of: relationship, targets)
            for (owner, target) in zip(owners, found) {
                try draft.checkMemory()
                if target == noRow { clearTarget(&draft, end, owner) } else { draft.link(end, owner: owner, target: target) }
            }
        case .unordered(let removedCounts, let removed, let addedCounts, let added):
            guard relationship.isToMany, removedCounts.count == owners.count, addedCounts.count == owners.count,
                areLists(removed, removedCounts), areLists(added, addedCounts)
            else { throw misfit(relationship) }
            var leaving = try rows(draft, removed, of: relationship, targets)[...]
            var coming = try rows(draft, added, of: relationship, targets)[...]
            for (place, owner) in owners.enumerated() {
                for target in leaving.prefix(Int(removedCounts[place])) {
                    try draft.checkMemory()
                    draft.unlink(end, owner: owner, target: target)
                }
                for target in coming.prefix(Int(addedCounts[place])) {
                    try draft.checkMemory()
                    draft.link(end, owner: owner, target: target)
                }
                leaving = leaving.dropFirst(Int(removedCounts[place]))
                coming = coming.dropFirst(Int(addedCounts[place]))
            }
        case .ordered(let keptCounts, let suffixCounts, let suffixes):
            guard relationship.isOrdered, keptCounts.count == owners.count, suffixCounts.count == owners.count,
                areLists(suffixes, suffixCounts)
            else { throw misfit(relationship) }
            var rest = try rows(draft, suffixes, of: relationship, targets)[...]
            for (place, owner) in owners.enumerated() {
                try draft.checkMemory(forValueOf: Int(suffixCounts[place]) * linkByteCountMax)
                replaceSuffix(&draft, end, owner: owner, kept: Int(keptCounts[place]), Array(rest.prefix(Int(suffixCounts[place]))))
                rest = rest.dropFirst(Int(suffixCounts[place]))
            }
        }
    }

    /// Returns the row numbers of the members whose serials an op lists. In a to-one relationship, the serial 0 means that there is no
    /// target, and its row number is `noRow`.
    private static func rows(
        _ draft: borrowing Draft, _ serials: [UInt64], of relationship: Relationship, _ targets: TableLayout
    ) throws(CambiumError) -> [UInt32] {
        var finder = RowFinder(draft.reader, targets.index)
        var family = Family(draft.schema.entity(relationship.destination))
        var found: [UInt32] = []
        found.reserveCapacity(serials.count)
        for serial in serials {
            if serial == 0, !relationship.isToMany {
                found.append(noRow)
                continue
            }
            guard let row = finder.row(serial: serial), family.has(finder.rows.entity(row, targets)) else {
                throw CambiumError(.damaged, "A block of links names serial \(serial), which '\(relationship.name)' cannot hold.")
            }
            found.append(row)
        }
        return found
    }

    /// Returns whether the counts divide all members into lists, and each member occurs only once in its list.
    private static func areLists(_ members: [UInt64], _ counts: [UInt32]) -> Bool {
        guard counts.reduce(0, { $0 + Int($1) }) == members.count else { return false }
        var rest = members[...]
        return counts.allSatisfy { count in
            defer { rest = rest.dropFirst(Int(count)) }
            return areDistinct(rest.prefix(Int(count)))
        }
    }

    /// Returns whether each member occurs only once in a list. Without this check, a small corrupt block could repeat one member millions
    /// of times.
    private static func areDistinct(_ serials: ArraySlice<UInt64>) -> Bool {
        // Ascending members, as in most lists, are distinct and need no set.
        if zip(serials, serials.dropFirst()).allSatisfy({ $0 < $1 }) { return true }
        var seen = Set<UInt64>()
        return serials.allSatisfy { seen.insert($0).inserted }
    }

    private static func misfit(_ relationship: Relationship) -> CambiumError {
        CambiumError(.damaged, "An op states links that the relationship '\(relationship.name)' cannot have.")
    }

    /// Removes the target of a to-one relationship.
    static func clearTarget(_ draft: inout Draft, _ end: EndLayout, _ owner: UInt32) {
        var old = noRow
        draft.reader.forEachMember(end, owner: owner) { old = $0 }
        if old != noRow { draft.unlink(end, owner: owner, target: old) }
    }

    /// Keeps the first `kept` members of an ordered list, and replaces all other members with `suffix`.
    ///
    /// Complexity: O((replaced members + members of `suffix`) * log(all members)).
    static func replaceSuffix(_ draft: inout Draft, _ end: EndLayout, owner: UInt32, kept: Int, _ suffix: [UInt32]) {
        let following = draft.reader.members(end, owner: owner, from: kept)
        draft.replayWork += following.count * ReplayWork.orderedLink
        let staying = Set(suffix)
        for member in following where !staying.contains(member) { draft.unlink(end, owner: owner, target: member) }
        for (offset, member) in suffix.enumerated() {
            draft.link(end, owner: owner, target: member, at: min(kept + offset, draft.reader.memberCount(end, owner: owner)))
        }
    }
}

/// An entity and its sub-entities. The result of the last lookup is kept, because consecutive rows usually have the same entity.
private struct Family {
    private let numbers: Set<EntityNumber>
    private var last: EntityNumber?

    init(_ entity: Entity?) { numbers = entity?.family ?? [] }

    @inline(__always) mutating func has(_ entity: EntityNumber) -> Bool {
        if entity == last { return true }
        guard numbers.contains(entity) else { return false }
        last = entity
        return true
    }
}
