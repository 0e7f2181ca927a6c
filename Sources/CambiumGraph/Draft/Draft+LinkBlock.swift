import CambiumModel

extension Draft {
    /// Applies a block of links, which changes the members of objects.
    /// The number of bytes of pages that a link in an ordered relationship takes at most, with those of copied pages.
    private static let linkByteCountMax = 128

    mutating func apply(_ block: LinkBlock) throws(CambiumError) {
        guard let table = layout.table(of: block.root),
            let relationship = schema.entities.lazy.filter({ $0.root == block.root })
                .compactMap({ $0.relationship(block.property) }).first,
            let targets = layout.table(of: relationship.destinationRoot)
        else { throw CambiumError(.damaged, "A block of links names \(block.property), which the schema does not have.") }
        let end = layout.end(relationship)
        let owners = try existingRows(block.serials, table, nil)
        let ownerRows = reader.rows(table.index)
        var owning = Family(schema.entity(relationship.entity))
        guard owners.allSatisfy({ owning.has(ownerRows.entity($0, table)) }) else { throw misfit(relationship) }
        switch block.content {
        case .toOne(let serials):
            guard serials.count == owners.count, !relationship.isToMany else { throw misfit(relationship) }
            let found = try rows(serials, of: relationship, targets)
            for (owner, target) in zip(owners, found) {
                try checkMemory()
                if target == noRow { clearTarget(end, owner) } else { link(end, owner: owner, target: target) }
            }
        case .unordered(let removedCounts, let removed, let addedCounts, let added):
            guard relationship.isToMany, removedCounts.count == owners.count, addedCounts.count == owners.count,
                areLists(removed, removedCounts), areLists(added, addedCounts)
            else { throw misfit(relationship) }
            var leaving = try rows(removed, of: relationship, targets)[...]
            var coming = try rows(added, of: relationship, targets)[...]
            for (place, owner) in owners.enumerated() {
                for target in leaving.prefix(Int(removedCounts[place])) {
                    try checkMemory()
                    unlink(end, owner: owner, target: target)
                }
                for target in coming.prefix(Int(addedCounts[place])) {
                    try checkMemory()
                    link(end, owner: owner, target: target)
                }
                leaving = leaving.dropFirst(Int(removedCounts[place]))
                coming = coming.dropFirst(Int(addedCounts[place]))
            }
        case .ordered(let keptCounts, let suffixCounts, let suffixes):
            guard relationship.isOrdered, keptCounts.count == owners.count, suffixCounts.count == owners.count,
                areLists(suffixes, suffixCounts)
            else { throw misfit(relationship) }
            var rest = try rows(suffixes, of: relationship, targets)[...]
            for (place, owner) in owners.enumerated() {
                try checkMemory(forValueOf: Int(suffixCounts[place]) * Self.linkByteCountMax)
                replaceSuffix(end, owner: owner, kept: Int(keptCounts[place]), Array(rest.prefix(Int(suffixCounts[place]))))
                rest = rest.dropFirst(Int(suffixCounts[place]))
            }
        }
    }

    /// Returns the row numbers of the members whose serials an op lists. In a to-one relationship, the serial 0 means that there is no
    /// target, and its row number is `noRow`.
    private func rows(
        _ serials: [UInt64], of relationship: Relationship, _ targets: TableLayout
    ) throws(CambiumError) -> [UInt32] {
        var finder = RowFinder(reader, targets.index)
        var family = Family(schema.entity(relationship.destination))
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
    private func areLists(_ members: [UInt64], _ counts: [UInt32]) -> Bool {
        guard counts.reduce(0, { $0 + Int($1) }) == members.count else { return false }
        var rest = members[...]
        return counts.allSatisfy { count in
            defer { rest = rest.dropFirst(Int(count)) }
            return areDistinct(rest.prefix(Int(count)))
        }
    }

    /// Returns whether each member occurs only once in a list. Without this check, a small corrupt block could repeat one member millions
    /// of times.
    private func areDistinct(_ serials: ArraySlice<UInt64>) -> Bool {
        // Ascending members, as in most lists, are distinct and need no set.
        if zip(serials, serials.dropFirst()).allSatisfy({ $0 < $1 }) { return true }
        var seen = Set<UInt64>()
        return serials.allSatisfy { seen.insert($0).inserted }
    }

    private func misfit(_ relationship: Relationship) -> CambiumError {
        CambiumError(.damaged, "An op states links that the relationship '\(relationship.name)' cannot have.")
    }

    /// Removes the target of a to-one relationship.
    mutating func clearTarget(_ end: EndLayout, _ owner: UInt32) {
        var old = noRow
        reader.forEachMember(end, owner: owner) { old = $0 }
        if old != noRow { unlink(end, owner: owner, target: old) }
    }

    /// Keeps the first `kept` members of an ordered list, and replaces all other members with `suffix`.
    ///
    /// Complexity: O((replaced members + members of `suffix`) * log(all members)).
    mutating func replaceSuffix(_ end: EndLayout, owner: UInt32, kept: Int, _ suffix: [UInt32]) {
        let following = reader.members(end, owner: owner, from: kept)
        replayWork += following.count * ReplayWork.orderedLink
        let staying = Set(suffix)
        for member in following where !staying.contains(member) { unlink(end, owner: owner, target: member) }
        for (offset, member) in suffix.enumerated() {
            link(end, owner: owner, target: member, at: min(kept + offset, reader.memberCount(end, owner: owner)))
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
