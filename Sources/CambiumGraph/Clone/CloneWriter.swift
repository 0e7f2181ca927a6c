package import CambiumModel

/// Carries out clones.
package enum CloneWriter {
    /// Plans a clone again from its op in the log, and carries out this plan. Throws `.corrupted` if the plan does not contain the objects
    /// that the op states.
    static func apply(_ draft: inout Draft, _ op: CloneOp) throws(CambiumError) {
        let plan = try replanned(draft, op)
        guard plan.hierarchies == op.hierarchies, plan.setHash == op.setHash, plan.needsTime == (op.time != nil),
            plan.needsSeed == (op.seed != nil)
        else { throw mismatch(draft, op) }
        try plan.checkTime(op)
        let values = try CloneValues(plan, op, draft.layout, draft.reader)
        carryOut(&draft, plan, values)
    }

    private static func replanned(_ draft: borrowing Draft, _ op: CloneOp) throws(CambiumError) -> ClonePlan {
        let planner = ClonePlanner(reader: draft.reader, layout: draft.layout, space: draft.pending.isOff ? nil : draft.space)
        do throws(CambiumError) {
            return try planner.plan(op.roots, op.options, objectCountMax: op.objectCount)
        } catch {
            if error.code == .limitExceeded { throw mismatch(draft, op) }
            throw error
        }
    }

    private static func mismatch(_ draft: borrowing Draft, _ op: CloneOp) -> CambiumError {
        let roots = op.roots.prefix(3).map { draft.text(of: $0) }.joined(separator: ", ")
        return CambiumError(.corrupted, "The clone of \(roots) does not produce the objects that the log states.")
    }

    /// Carries out a plan. The plan must have been made from the current state of this draft, and `op` must have been made from the plan.
    ///
    /// Throws `.invalidInput`, and changes nothing, if a value for the roots does not fit its attribute. Complexity: O(copied objects and
    /// their links).
    package static func clone(_ draft: inout Draft, _ plan: consuming ClonePlan, _ op: CloneOp) throws(CambiumError) {
        try draft.checkUsable()
        try CapacityCheck.check(draft)
        let values = try CloneValues(plan, op, draft.layout, draft.reader)
        draft.space.memory.expect(byteCount: byteCount(draft, of: plan))
        carryOut(&draft, plan, values)
    }

    /// Writes a clone that was checked earlier, so that writing cannot fail.
    private static func carryOut(_ draft: inout Draft, _ plan: consuming ClonePlan, _ values: CloneValues) {
        precondition(draft.touched == nil, "An import must not clone, because it derives its ops from its changes.")
        let pendingCount = draft.pending.objectCount
        draft.space.memory.prepare(byteCount: byteCount(draft, of: plan), freeByteCount: draft.space.freeByteCount)
        for hierarchy in plan.hierarchies {
            guard let table = draft.layout.table(of: hierarchy.root) else { continue }
            plan.rows[table.index].setTargets(claim(&draft, table, hierarchy))
        }
        let rules = CloneLinkRules(draft.layout, plan)
        let chains = CloneChain.whole(plan, rules, draft.layout)
        var lonely = Set<Int>()
        for hierarchy in plan.hierarchies {
            guard let table = draft.layout.table(of: hierarchy.root) else { continue }
            copyColumns(&draft, table, plan, values.columns[table.index], chains, lonely: &lonely)
        }
        for value in values.ofRoots {
            assign(&draft, value.cell, value.attribute, draft.layout.tables[value.table], plan.rows[value.table].copy(of: value.row))
        }
        followParents(&draft, plan, values)
        copyLinks(&draft, plan, rules, whole: Set(chains.map(\.link)), lonely)
        for hierarchy in plan.hierarchies {
            guard let table = draft.layout.table(of: hierarchy.root) else { continue }
            indexCopies(&draft, table, plan)
        }
        trackCopies(&draft, plan, pendingCount)
    }

    /// Estimates the size of the pages that the copies need, in bytes, from the average size of all objects.
    private static func byteCount(_ draft: borrowing Draft, of plan: borrowing ClonePlan) -> Int {
        let all = draft.layout.tables.filter { $0.root != nil }.reduce(0) { $0 + draft.reader.liveCount($1.index) }
        return Int(Double(draft.space.liveGranules * PageLayout.granule) * Double(plan.objectCount) / Double(max(1, all)))
    }

    /// Claims the serials for the copies of a table's objects. Returns the groups in which the copies lie.
    private static func claim(_ draft: inout Draft, _ table: TableLayout, _ hierarchy: CloneOp.Hierarchy) -> [UInt32] {
        let count = hierarchy.objectCount
        let first = hierarchy.firstSerial
        let last = first + UInt64(count) - 1
        let page = draft.tableWriter.ownedTable(table.index)
        page.nextSerial = last + 1
        let shift = UInt64(PageLayout.fanOutShift)
        let targets = (first >> shift...last >> shift).map { virtualPage in
            let mapped = draft.pageWriter.slot(&page.virtualPages, Int(virtualPage))
            if mapped.pointee == 0 {
                let group = draft.tableWriter.newGroup(table, virtualPage: UInt32(virtualPage)) + 1
                draft.pageWriter.slot(&page.virtualPages, Int(virtualPage)).pointee = group
                return group - 1
            }
            return mapped.pointee - 1
        }
        for entity in hierarchy.counts { draft.tableWriter.count(table, entity.entity, by: entity.count) }
        return targets
    }

    /// Stores the value of an attribute in a copy. The copy must not be in an index yet.
    private static func assign(_ draft: inout Draft, _ cell: StoredCell, _ attribute: Attribute, _ table: TableLayout, _ copy: UInt32) {
        let slot = table.slot(of: attribute.number)
        cell.withCell { draft.tableWriter.store(table.index, copy, slot, table.columns[slot], $0) }
        if cell.isNull, !attribute.isOptional { draft.pending.trackObject(table.index, copy) }
    }

    // MARK: Values from parents

    /// Gives each copy the values that it takes from its parents (the rule `followParent`). Visits the objects in the order of the walk, so
    /// that a parent has its own values before its children read them.
    private static func followParents(_ draft: inout Draft, _ plan: borrowing ClonePlan, _ values: CloneValues) {
        guard plan.members.needsOrder else { return }
        let planner = ClonePlanner(reader: draft.reader, layout: draft.layout, space: nil)
        let given = Set(plan.options.rootValues.map { Given(root: $0.root, attribute: $0.attribute) })
        for (index, entry) in plan.entries.enumerated() {
            let table = draft.layout.tables[Int(entry.table)]
            let member = plan.members[draft.reader.rows(table.index).entity(entry.row, table)]
            for follower in member.followers {
                let key = Given(root: member.entity.root, attribute: follower.attribute.number)
                if entry.parent == CloneWalk.noParent, given.contains(key) { continue }
                let copy = plan.rows[table.index].copy(of: entry.row)
                if let (place, attribute) = planner.followed(follower, index, plan.entries) {
                    let above = draft.layout.tables[Int(place.table)]
                    let parent = plan.rows[above.index].copy(of: place.row)
                    let slot = above.slot(of: attribute.number)
                    // Both attributes have the same type, so the value needs no conversion. The value may lie in the page that is about to
                    // be written, so the value is copied first.
                    let cell = draft.reader.rows(above.index).withCell(parent, slot, above.columns[slot]) { StoredCell(copying: $0) }
                    assign(&draft, cell, follower.attribute, table, copy)
                } else if follower.follow.fallback == .blank, let cell = values.blanks[ObjectIdentifier(follower.attribute)] {
                    assign(&draft, cell, follower.attribute, table, copy)
                }
            }
        }
    }

    private struct Given: Hashable {
        let root: EntityNumber
        let attribute: PropertyNumber
    }

    // MARK: Indexes and checks

    private static func indexCopies(_ draft: inout Draft, _ table: TableLayout, _ plan: borrowing ClonePlan) {
        let given = Set(plan.options.rootValues.filter { $0.root == table.root?.number }.map(\.attribute))
        for index in table.indexes {
            let hasNewUUIDs = table.entities.allSatisfy { entity in
                plan.members.policy[entity]?.attributes.contains { attribute, rule in
                    index.set.properties.contains(attribute.number) && !given.contains(attribute.number)
                        && rule.source == .newUUID && rule.follow == nil
                } ?? true
            }
            addToIndex(&draft, table, index, bulk: plan.rows[table.index], hasNewUUIDs: hasNewUUIDs)
        }
    }

    /// Schedules checks of copies. A copy is checked if its original was scheduled for a check before the clone, or if the copy has a wrong
    /// number of members.
    ///
    /// - Parameter pendingCount: The number of checks that were scheduled before the clone. If there are fewer copies than scheduled
    ///   checks, all copies are checked. In a transaction with many small clones, a search through the scheduled checks would be too slow.
    private static func trackCopies(_ draft: inout Draft, _ plan: borrowing ClonePlan, _ pendingCount: Int) {
        let checksAll = plan.objectCount < pendingCount
        for index in 0..<(checksAll ? 0 : pendingCount) {
            let place = draft.pending.objects[index]
            let rows = plan.rows[Int(place.table)]
            if rows.contains(place.row) { draft.pending.trackObject(Int(place.table), rows.copy(of: place.row)) }
        }
        for hierarchy in plan.hierarchies {
            guard let table = draft.layout.table(of: hierarchy.root) else { continue }
            if checksAll { plan.rows[table.index].forEach { draft.pending.trackObject(table.index, $1) } }
            if !draft.layout.derived.isEmpty {
                plan.rows[table.index].forEach { DerivedNotes.trackDerived(&draft, ofObject: table.index, $1) }
            }
            // A relationship that several entities inherit is checked in one pass through the copies of all of them.
            var checked = Set<PropertyNumber>()
            for number in hierarchy.counts.map(\.entity) {
                for relationship in plan.members[number].entity.relationships
                where draft.layout.needsCount(table.index, relationship.number) && checked.insert(relationship.number).inserted {
                    reportMiscounted(&draft, relationship, table, plan.rows[table.index])
                }
            }
        }
    }

    private static func reportMiscounted(_ draft: inout Draft, _ relationship: Relationship, _ table: TableLayout, _ rows: CloneRows) {
        let reader = draft.reader
        let tableRows = reader.rows(table.index)
        let end = draft.layout.end(relationship)
        let range = relationship.minCount...(relationship.maxCount ?? Int.max)
        let family = draft.schema.entity(relationship.entity)?.family ?? []
        let isWhole = table.entities.allSatisfy(family.contains)
        rows.forEach { row, copy in
            guard isWhole || family.contains(tableRows.entity(row, table)) else { return }
            if !range.contains(reader.memberCount(end, owner: copy)) { draft.pending.trackObject(table.index, copy) }
        }
    }
}

extension CloneWriter {
    /// Adds many rows to an index, bucket by bucket. Records a row for a later check if the index already has the row's key.
    ///
    /// - Parameter rows: New rows that are in no index yet.
    /// - Parameter hasNewUUIDs: Whether each key contains a new UUID, which no other key contains.
    static func addToIndex(_ draft: inout Draft, _ table: TableLayout, _ index: IndexLayout, bulk rows: CloneRows, hasNewUUIDs: Bool) {
        var entries: [UInt64] = []
        var other: [UInt64] = []
        var firstPage = 0
        while firstPage < rows.pages.count {
            let endPage = min(firstPage + Draft.batchPageCount, rows.pages.count)
            entries.removeAll(keepingCapacity: true)
            addHashes(draft, table, index, rows, firstPage..<endPage, to: &entries)
            firstPage = endPage
            draft.addEntries(table, index, &entries, &other, isUnique: hasNewUUIDs)
        }
    }

    /// Adds an entry for each row with a key: the high half of the key's hash, and the row in the low half.
    private static func addHashes(
        _ draft: borrowing Draft,
        _ table: TableLayout, _ index: IndexLayout, _ rows: CloneRows, _ pages: Range<Int>, to entries: inout [UInt64]
    ) {
        let reader = draft.reader
        let tableRows = reader.rows(table.index)
        if index.coversTable, index.kinds == [.fixed(width: 16)] {
            var cache = LeafCache()
            let hasher = reader.hasher
            rows.forEach(in: pages) { _, copy in
                guard let bits = cache.fixed(copy, tableRows, index.slots[0], as: SIMD2<UInt64>.self) else { return }
                entries.append(hasher.hash(bits.x, bits.y) & IndexWriter.hashMask | UInt64(copy))
            }
            return
        }
        rows.forEach(in: pages) { _, copy in
            guard index.coversTable || index.family.contains(tableRows.entity(copy, table)),
                let hash = reader.keyHash(index, tableRows, copy)
            else { return }
            entries.append(hash & IndexWriter.hashMask | UInt64(copy))
        }
    }
}
