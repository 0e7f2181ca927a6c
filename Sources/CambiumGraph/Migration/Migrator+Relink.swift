import CambiumModel

/// The members of a link, collected as rows because the link will be stored in another way. The sides are the ends of the new link.
struct CollectedMembers {
    struct Side {
        var owners: [UInt32] = []
        var counts: [UInt32] = []
        var members: [UInt32] = []

        /// Calls `body` with each owner and its members, in order.
        func forEach(_ body: (_ owner: UInt32, _ members: ArraySlice<UInt32>) -> Void) {
            var start = 0
            for (owner, count) in zip(owners, counts) {
                body(owner, members[start..<start + Int(count)])
                start += Int(count)
            }
        }

        mutating func sort(by isBefore: (_ owner: UInt32, _ other: UInt32) -> Bool) {
            var all: [(owner: UInt32, members: ArraySlice<UInt32>)] = []
            forEach { all.append(($0, $1)) }
            all.sort { isBefore($0.owner, $1.owner) }
            var sorted = Side()
            for (owner, members) in all { sorted.add(owner, Array(members)) }
            self = sorted
        }

        /// Removes the members for which `isKept` returns `false`.
        mutating func filter(_ isKept: (_ owner: UInt32, _ member: UInt32) -> Bool) {
            var kept = Side()
            forEach { owner, members in
                let members = members.filter { isKept(owner, $0) }
                if !members.isEmpty { kept.add(owner, members) }
            }
            self = kept
        }

        mutating func add(_ owner: UInt32, _ members: [UInt32]) {
            owners.append(owner)
            counts.append(UInt32(members.count))
            self.members += members
        }
    }

    /// An object that had several members at an end that becomes to-one, and the member that it keeps.
    struct Narrowed {
        let end: Int
        let owner: UInt32
        let count: Int
        let kept: UInt32?
    }

    /// The members at the first end and at the second end of the new link. `nil` for an end that `relink` does not need.
    var sides: [Side?]
    /// The objects that lose members, up to `MigrationChecks.migrationViolationCountMax` for each end.
    private(set) var narrowed: [Narrowed] = []

    init(sides: [Side?]) { self.sides = sides }

    /// Keeps one member of each object at an end that becomes to-one: the first one that no other object keeps. Docs/Use/MIGRATION.md, "In
    /// the log".
    ///
    /// - Parameter ends: The ends of the new link that become to-one. The owners at these ends have ascending serials.
    mutating func narrow(_ link: Link, _ ends: [Int]) {
        guard let first = ends.first, let side = sides[first] else { return }
        let isOtherToOne = !(first == 0 ? link.second : link.first).isToMany
        var kept: [UInt32: UInt32] = [:]
        var owners: [UInt32: UInt32] = [:]
        side.forEach { owner, members in
            if link.isSymmetric, kept[owner] != nil { return }
            let member = members.first { !isOtherToOne || (link.isSymmetric ? kept[$0] : owners[$0]) == nil }
            guard let member else { return }
            (kept[owner], owners[member]) = (member, owner)
            if link.isSymmetric { kept[member] = owner }
        }
        for end in ends {
            var count = 0
            sides[end]?.forEach { owner, members in
                guard members.count > 1, count < MigrationChecks.migrationViolationCountMax else { return }
                count += 1
                let member = end == first ? kept[owner] : owners[owner]
                narrowed.append(Narrowed(end: end, owner: owner, count: members.count, kept: member))
            }
        }
        for end in 0...1 { sides[end]?.filter { owner, member in end == first ? kept[owner] == member : kept[member] == owner } }
    }
}

extension Migrator {
    /// Reads the members of a link whose columns cannot be kept. Returns `nil` if the columns are kept, or if the link is new and has no
    /// members.
    static func collectMembers(_ draft: borrowing Draft, ofLink number: Int, _ plan: MigrationPlan) -> CollectedMembers? {
        let source = plan.links[number]
        guard let old = source.old, !source.isKept else { return nil }
        var sides: [CollectedMembers.Side?] = [nil, nil]
        let wanted: [Int] =
            switch plan.new.links[number] {
            case .pair: [0]
            case .list(_, let childEnd): [1 - childEnd]
            case .edges(_, let lists, _): lists[1].isOrdered ? [0, 1] : [0]
            }
        let link = plan.new.schema.links[number]
        let narrowed = source.narrowedEnds.filter { $0 == 0 || !link.isSymmetric }
        for side in Set(wanted + narrowed) { sides[side] = collect(draft, draft.layout.end(old, source.isSwapped ? 1 - side : side)) }
        if narrowed.isEmpty { return CollectedMembers(sides: sides) }
        for side in narrowed {
            let rows = draft.reader.rows(draft.layout.tableIndex(ofKnown: (side == 0 ? link.first : link.second).root))
            sides[side]?.sort { rows.serial($0) < rows.serial($1) }
        }
        var collected = CollectedMembers(sides: sides)
        collected.narrow(link, narrowed)
        return collected
    }

    /// Notes the objects that lose members, so that the end of the transaction can refuse the migration.
    static func trackNarrowed(_ draft: borrowing Draft, _ collected: [CollectedMembers?], _ plan: MigrationPlan) {
        for (number, collected) in collected.enumerated() {
            let link = plan.new.schema.links[number]
            for narrowed in collected?.narrowed ?? [] {
                let end = narrowed.end == 0 ? link.first : link.second
                guard let relationship = end.property.flatMap({ plan.new.schema.relationship($0, ofRoot: end.root) }),
                    let table = plan.new.table(of: end.root)
                else { continue }
                let serial = draft.reader.rows(table.index).serial(narrowed.owner)
                plan.checks.narrowed.append(
                    .init(
                        relationship: relationship, row: narrowed.owner, serial: serial, count: narrowed.count, kept: narrowed.kept))
            }
        }
    }

    /// Returns the members of all owners at an end: in order if the end is ordered, otherwise by ascending serial.
    private static func collect(_ draft: borrowing Draft, _ end: EndLayout) -> CollectedMembers.Side {
        let link = draft.layout.schema.links[end.link]
        let (here, there) = end.end == 0 ? (link.first, link.second) : (link.second, link.first)
        let targets = draft.reader.rows(draft.layout.tableIndex(ofKnown: there.root))
        var side = CollectedMembers.Side()
        draft.reader.forEachRow(of: draft.layout.tables[draft.layout.startTable(end)]) { row in
            var members: [UInt32] = []
            draft.reader.forEachMember(end, owner: row) { members.append($0) }
            if members.isEmpty { return }
            if !here.isOrdered, members.count > 1 { members.sort { targets.serial($0) < targets.serial($1) } }
            side.add(row, members)
        }
        return side
    }

    /// Links the collected members in the new layout, in which the link has no members yet.
    static func relink(_ draft: inout Draft, _ number: Int, _ collected: CollectedMembers) {
        switch draft.layout.links[number] {
        case .pair(let tables, let slots):
            collected.sides[0]?.forEach { owner, members in
                for member in members {
                    draft.tableWriter.setLink(tables[0], owner, slots[0], member)
                    draft.tableWriter.setLink(tables[1], member, slots[1], owner)
                }
            }
        case .list(let list, let childEnd):
            collected.sides[1 - childEnd]?.forEach { owner, members in
                for member in members {
                    draft.tableWriter.setLink(list.memberTable, member, list.ownerSlot, owner)
                    draft.linkWriter.add(list, owner: owner, member: member)
                }
            }
        case .edges(let table, let lists, let isSymmetric):
            relinkEdges(&draft, draft.layout.tables[table], lists, isSymmetric, collected)
        }
    }

    private static func relinkEdges(
        _ draft: inout Draft, _ table: TableLayout, _ lists: Pair<ListLayout>, _ isSymmetric: Bool, _ collected: CollectedMembers
    ) {
        var edges: [UInt32] = []
        collected.sides[0]?.forEach { owner, members in
            // If the relationship is its own inverse, the collected members contain each pair of objects twice. The condition accepts each
            // pair only once.
            for member in members where !isSymmetric || owner <= member {
                let edge = draft.linkWriter.newEdge(table, owner, member)
                edges.append(edge)
                draft.linkWriter.add(lists[0], owner: owner, member: edge)
                if !lists[1].isOrdered, !(isSymmetric && owner == member) { draft.linkWriter.add(lists[1], owner: member, member: edge) }
            }
        }
        draft.indexWriter.addToIndex(table, edges: edges)
        guard lists[1].isOrdered else { return }
        collected.sides[1]?.forEach { owner, members in
            for member in members { draft.linkWriter.add(lists[1], owner: owner, member: draft.reader.edge(table.index, member, owner)) }
        }
    }
}
