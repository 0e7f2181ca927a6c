package import CambiumModel

/// Carries out clones.
extension Draft {
    /// Plans a clone again from its op in the log, and carries out this plan. Throws `.damaged` if the plan does not contain the objects
    /// that the op states.
    mutating func apply(_ op: CloneOp) throws(CambiumError) {
        let plan = try replanned(op)
        guard plan.hierarchies == op.hierarchies, plan.setHash == op.setHash, plan.needsTime == (op.time != nil),
            plan.needsSeed == (op.seed != nil)
        else { throw mismatch(op) }
        try plan.checkTime(op)
        let values = try CloneValues(plan, op, layout, reader)
        carryOut(plan, values)
    }

    private func replanned(_ op: CloneOp) throws(CambiumError) -> ClonePlan {
        let planner = ClonePlanner(reader: reader, layout: layout, space: pending.isOff ? nil : space)
        do throws(CambiumError) {
            return try planner.plan(op.roots, op.options, objectCountMax: op.objectCount)
        } catch {
            if error.code == .limitExceeded { throw mismatch(op) }
            throw error
        }
    }

    private func mismatch(_ op: CloneOp) -> CambiumError {
        let roots = op.roots.prefix(3).map { text(of: $0) }.joined(separator: ", ")
        return CambiumError(.damaged, "The clone of \(roots) does not produce the objects that the log states.")
    }

    /// Carries out a plan. The plan must have been made from the current state of this draft, and `op` must have been made from the plan.
    ///
    /// Throws `.invalidInput`, and changes nothing, if a value for the roots does not fit its attribute. Complexity: O(copied objects and
    /// their links).
    package mutating func clone(_ plan: consuming ClonePlan, _ op: CloneOp) throws(CambiumError) {
        try checkUsable()
        try checkCapacity()
        let values = try CloneValues(plan, op, layout, reader)
        space.memory.expect(byteCount: byteCount(of: plan))
        carryOut(plan, values)
    }

    /// Writes a clone that was checked earlier, so that writing cannot fail.
    private mutating func carryOut(_ plan: consuming ClonePlan, _ values: CloneValues) {
        precondition(touched == nil, "An import must not clone, because it derives its ops from its changes.")
        let pendingCount = pending.objectCount
        space.memory.prepare(byteCount: byteCount(of: plan), freeByteCount: space.freeByteCount)
        for hierarchy in plan.hierarchies {
            guard let table = layout.table(of: hierarchy.root) else { continue }
            plan.rows[table.index].setTargets(claim(table, hierarchy))
        }
        let rules = CloneLinkRules(layout, plan)
        let chains = layout.wholeChains(plan, rules)
        var lonely = Set<Int>()
        for hierarchy in plan.hierarchies {
            guard let table = layout.table(of: hierarchy.root) else { continue }
            copyColumns(table, plan, values.columns[table.index], chains, lonely: &lonely)
        }
        for value in values.ofRoots {
            assign(value.cell, value.attribute, layout.tables[value.table], plan.rows[value.table].copy(of: value.row))
        }
        followParents(plan, values)
        copyLinks(plan, rules, whole: Set(chains.map(\.link)), lonely)
        for hierarchy in plan.hierarchies {
            guard let table = layout.table(of: hierarchy.root) else { continue }
            indexCopies(table, plan)
        }
        noteCopies(plan, pendingCount)
    }

    /// Estimates the size of the pages that the copies need, in bytes, from the average size of all objects.
    private func byteCount(of plan: borrowing ClonePlan) -> Int {
        let all = layout.tables.filter { $0.root != nil }.reduce(0) { $0 + reader.liveCount($1.index) }
        return Int(Double(space.liveGranules * PageLayout.granule) * Double(plan.objectCount) / Double(max(1, all)))
    }

    /// Claims the serials for the copies of a table's objects. Returns the groups in which the copies lie.
    private mutating func claim(_ table: TableLayout, _ hierarchy: CloneOp.Hierarchy) -> [UInt32] {
        let count = hierarchy.objectCount
        let first = hierarchy.firstSerial
        let last = first + UInt64(count) - 1
        let page = tableWriter.ownedTable(table.index)
        page.nextSerial = last + 1
        let shift = UInt64(PageLayout.fanOutShift)
        let targets = (first >> shift...last >> shift).map { virtualPage in
            let mapped = pageWriter.slot(&page.virtualPages, Int(virtualPage))
            if mapped.pointee == 0 {
                let group = tableWriter.newGroup(table, virtualPage: UInt32(virtualPage)) + 1
                pageWriter.slot(&page.virtualPages, Int(virtualPage)).pointee = group
                return group - 1
            }
            return mapped.pointee - 1
        }
        for entity in hierarchy.counts { tableWriter.count(table, entity.entity, by: entity.count) }
        return targets
    }

    /// Stores the value of an attribute in a copy. The copy must not be in an index yet.
    private mutating func assign(_ cell: StoredCell, _ attribute: Attribute, _ table: TableLayout, _ copy: UInt32) {
        let slot = table.slot(of: attribute.number)
        cell.withCell { tableWriter.store(table.index, copy, slot, table.columns[slot], $0) }
        if cell.isNull, !attribute.isOptional { pending.noteObject(table.index, copy) }
    }

    // MARK: Values from parents

    /// Gives each copy the values that it takes from its parents (the rule `followParent`). Visits the objects in the order of the walk, so
    /// that a parent has its own values before its children read them.
    private mutating func followParents(_ plan: borrowing ClonePlan, _ values: CloneValues) {
        guard plan.members.needsOrder else { return }
        let planner = ClonePlanner(reader: reader, layout: layout, space: nil)
        let given = Set(plan.options.rootValues.map { Given(root: $0.root, attribute: $0.attribute) })
        for (index, entry) in plan.entries.enumerated() {
            let table = layout.tables[Int(entry.table)]
            let member = plan.members[reader.rows(table.index).entity(entry.row, table)]
            for follower in member.followers {
                let key = Given(root: member.entity.root, attribute: follower.attribute.number)
                if entry.parent == CloneWalk.noParent, given.contains(key) { continue }
                let copy = plan.rows[table.index].copy(of: entry.row)
                if let (place, attribute) = planner.followed(follower, index, plan.entries) {
                    let above = layout.tables[Int(place.table)]
                    let parent = plan.rows[above.index].copy(of: place.row)
                    let slot = above.slot(of: attribute.number)
                    // Both attributes have the same type, so the value needs no conversion. The value may lie in the page that is about to
                    // be written, so the value is copied first.
                    let cell = reader.rows(above.index).withCell(parent, slot, above.columns[slot]) { StoredCell(copying: $0) }
                    assign(cell, follower.attribute, table, copy)
                } else if follower.follow.fallback == .blank, let cell = values.blanks[ObjectIdentifier(follower.attribute)] {
                    assign(cell, follower.attribute, table, copy)
                }
            }
        }
    }

    private struct Given: Hashable {
        let root: EntityNumber
        let attribute: PropertyNumber
    }

    // MARK: Indexes and checks

    private mutating func indexCopies(_ table: TableLayout, _ plan: borrowing ClonePlan) {
        let given = Set(plan.options.rootValues.filter { $0.root == table.root?.number }.map(\.attribute))
        for index in table.indexes {
            let hasNewUUIDs = table.entities.allSatisfy { entity in
                plan.members.policy[entity]?.attributes.contains { attribute, rule in
                    index.set.properties.contains(attribute.number) && !given.contains(attribute.number)
                        && rule.source == .newUUID && rule.follow == nil
                } ?? true
            }
            addToIndex(table, index, bulk: plan.rows[table.index], hasNewUUIDs: hasNewUUIDs)
        }
    }

    /// Schedules checks of copies. A copy is checked if its original was scheduled for a check before the clone, or if the copy has a wrong
    /// number of members.
    ///
    /// - Parameter pendingCount: The number of checks that were scheduled before the clone. If there are fewer copies than scheduled
    ///   checks, all copies are checked. In a transaction with many small clones, a search through the scheduled checks would be too slow.
    private mutating func noteCopies(_ plan: borrowing ClonePlan, _ pendingCount: Int) {
        let checksAll = plan.objectCount < pendingCount
        for index in 0..<(checksAll ? 0 : pendingCount) {
            let place = pending.objects[index]
            let rows = plan.rows[Int(place.table)]
            if rows.contains(place.row) { pending.noteObject(Int(place.table), rows.copy(of: place.row)) }
        }
        for hierarchy in plan.hierarchies {
            guard let table = layout.table(of: hierarchy.root) else { continue }
            if checksAll { plan.rows[table.index].forEach { pending.noteObject(table.index, $1) } }
            if !layout.derived.isEmpty { plan.rows[table.index].forEach { noteDerived(ofObject: table.index, $1) } }
            // A relationship that several entities inherit is checked in one pass through the copies of all of them.
            var checked = Set<PropertyNumber>()
            for number in hierarchy.counts.map(\.entity) {
                for relationship in plan.members[number].entity.relationships
                where layout.needsCount(table.index, relationship.number) && checked.insert(relationship.number).inserted {
                    noteMiscounted(relationship, table, plan.rows[table.index])
                }
            }
        }
    }

    private mutating func noteMiscounted(_ relationship: Relationship, _ table: TableLayout, _ rows: CloneRows) {
        let reader = reader
        let tableRows = reader.rows(table.index)
        let end = layout.end(relationship)
        let range = relationship.minCount...(relationship.maxCount ?? Int.max)
        let family = schema.entity(relationship.entity)?.family ?? []
        let isWhole = table.entities.allSatisfy(family.contains)
        rows.forEach { row, copy in
            guard isWhole || family.contains(tableRows.entity(row, table)) else { return }
            if !range.contains(reader.memberCount(end, owner: copy)) { pending.noteObject(table.index, copy) }
        }
    }
}
