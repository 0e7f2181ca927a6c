import CambiumModel

/// The checks of an import that are deferred until all rows have been applied.
extension Draft {
    /// Returns the first rule that the last written row of an import breaks, and clears all checks that this row scheduled.
    ///
    /// A unique value may belong to another object until a later row changes that object, and a later row may add or remove members. So
    /// unique values and numbers of members are checked at the end of the import. Only the indexes in `finding` are checked immediately,
    /// because the import finds objects by them.
    ///
    /// - Parameter deferred: Receives each deferred check. The caller collects the checks and passes them to `check(_:)` at the end.
    @inline(__always)
    package mutating func takeViolation(finding: DeferredChecks.Indexes, _ deferred: (DeferredChecks.Check) -> Void) -> Violation? {
        pending.isEmpty ? nil : takeNoted(finding, deferred)
    }

    @inline(never)
    private mutating func takeNoted(_ finding: DeferredChecks.Indexes, _ deferred: (DeferredChecks.Check) -> Void) -> Violation? {
        var first: Violation?
        for duplicate in pending.takeDuplicates() {
            if finding.contains(table: duplicate.table, index: duplicate.index) {
                first = first ?? violation(of: duplicate).first
            } else {
                deferred(.value(.init(table: duplicate.table, index: duplicate.index, row: duplicate.row)))
            }
        }
        let ofObject = takeObjects(deferred)
        return violations().violations.first ?? ofObject ?? first
    }

    /// Defers the checks of the numbers of members. Returns the first violation of any other rule.
    private mutating func takeObjects(_ deferred: (DeferredChecks.Check) -> Void) -> Violation? {
        var first: Violation?
        var seen = PlaceSet(placeCount: pending.objectCount, tableCount: layout.tables.count)
        for place in pending.objects where seen.insert(place) && isLive(place) {
            let found = violations(at: place)
            deferred(.members(place, isWrong: found.contains { $0.rule.concernsMembers }))
            first = first ?? found.first { !$0.rule.concernsMembers }
        }
        pending.forgetObjects(after: 0)
        return first
    }

    /// Returns the rows of an import that must be omitted, because they still break a rule after all rows have been applied. Each of these
    /// rows assigned a duplicate value, or caused a wrong number of members. The rows are in ascending order.
    ///
    /// One of the objects with the same value keeps the value: if possible, an object to which no row assigned the value. Otherwise the
    /// object of the earliest row keeps it. Complexity: O(d log d) for d checks.
    package borrowing func check(_ checks: DeferredChecks) -> [DeferredChecks.Refusal] {
        var refusals: [DeferredChecks.Refusal] = []
        var seen = Set<DeferredChecks.Entry>()
        for (entry, _) in checks.ordered where !seen.contains(entry) {
            guard isLive(ObjectPlace(table: entry.table, row: entry.row)) else { continue }
            let index = layout.tables[entry.table].indexes[entry.index]
            let others = reader.rowsWithSameKey(as: entry.row, entry.table, index)
            let all = ([entry.row] + others).map { DeferredChecks.Entry(table: entry.table, index: entry.index, row: $0) }
            seen.formUnion(all)
            if !others.isEmpty { refusals += refused(all, checks) }
        }
        for (object, wrong) in checks.orderedMembers where isLive(object) {
            let found = violations(at: object).filter(\.rule.concernsMembers)
            guard let violation = found.first else { continue }
            let series = found.count == 1 ? series(wrong, violation, object) : nil
            refusals.append(.init(place: wrong.first, violation: violation, cause: object, isCertain: false, series: series))
        }
        return refusals.sorted { $0.place < $1.place }
    }

    /// Returns the rows after which an object had too many members. `violation` states how many members the object has.
    private borrowing func series(
        _ wrong: DeferredChecks.WrongMembers, _ violation: Violation, _ object: ObjectPlace
    ) -> DeferredChecks.Series? {
        guard wrong.isWhole, case .tooManyMembers(let name, let count, let max) = violation.rule, count - max == 1 + wrong.others.count,
            let relationship = entity(at: object)?.relationship(name)
        else { return nil }
        return .init(end: 2 * relationship.link + relationship.end, rows: [wrong.first] + wrong.others)
    }

    /// Lets the draft of an import list the changes of members of those links that have a limit at one of their ends. Returns, for each
    /// end, whether its changes are listed.
    package mutating func listMemberChanges() -> [Bool] {
        let listed = layout.marks.indices.map { layout.marks[$0].isCounted || layout.marks[$0 ^ 1].isCounted }
        touched?.listedEnds = listed.contains(true) ? listed : []
        return listed
    }

    package mutating func takeMemberChanges() -> [MemberChange] { touched?.takeChanges() ?? [] }

    /// Returns how many members an object may lose or gain without a violation; less than 0 if it breaks a rule already. Returns `nil` if
    /// the object is not live, or its number of members at this end has no limit.
    package borrowing func memberSlack(_ change: MemberChange) -> Int? {
        let mark = layout.marks[change.end]
        let place = ObjectPlace(table: mark.table, row: change.row)
        guard mark.isCounted, isLive(place), let entity = entity(at: place) else { return nil }
        let link = schema.links[change.end / 2]
        guard let property = (change.end % 2 == 0 ? link.first : link.second).property,
            let relationship = entity.relationship(property)
        else { return nil }
        let count = reader.memberCount(layout.ends[change.end], owner: change.row)
        let fewer = relationship.minCount > 0 ? count - relationship.minCount : Int.max
        return min(fewer, relationship.maxCount.map { relationship.isToMany ? $0 - count : Int.max } ?? Int.max)
    }

    /// Removes the entries of deleted objects, and the entries whose values later rows have made unique. Complexity: O(d) for d checks.
    package borrowing func forgetResolved(_ checks: inout DeferredChecks) {
        checks.keep { entry in
            guard isLive(ObjectPlace(table: entry.table, row: entry.row)) else { return false }
            return reader.duplicate(of: entry.row, entry.table, layout.tables[entry.table].indexes[entry.index]) != noRow
        }
    }

    /// Returns a refusal for each row of the import that assigned the duplicate value to an object of `entries`. One object keeps the
    /// value, and its row is not refused.
    private borrowing func refused(_ entries: [DeferredChecks.Entry], _ checks: DeferredChecks) -> [DeferredChecks.Refusal] {
        let keeper = entries.min { (checks.place(of: $0) ?? 0, $0.row) < (checks.place(of: $1) ?? 0, $1.row) }
        guard let keeper, let entity = entity(at: ObjectPlace(table: keeper.table, row: keeper.row)) else { return [] }
        let table = layout.tables[keeper.table]
        let index = table.indexes[keeper.index]
        let names = entity.names(of: index.set)
        let rule = Violation.Rule.duplicate(attributes: names, of: text(ObjectPlace(table: keeper.table, row: keeper.row)))
        // A row that changes a link of the object does not touch its attributes. So an index with a relationship gives no certainty.
        let isUntouched = !index.hasRelationship && touched.map { !$0.attributes[keeper.table].contains(keeper.row) } ?? false
        let isOld = reader.rows(keeper.table).serial(keeper.row) < base.reader.nextSerialOrOne(keeper.table, of: base.layout)
        // If the hierarchy has other entities, an earlier row can determine the entity of the object. If that row is omitted, the object
        // may lack the attribute, so the refusal is not certain.
        let isAlone = entity.parent == nil && entity.family.count == 1
        return entries.compactMap { entry in
            guard entry != keeper, let place = checks.place(of: entry) else { return nil }
            let violation = Violation(object: text(ObjectPlace(table: entry.table, row: entry.row)), rule: rule)
            let cause = ObjectPlace(table: keeper.table, row: keeper.row)
            return .init(place: place, violation: violation, cause: cause, isCertain: isUntouched && isOld && isAlone)
        }
    }
}
