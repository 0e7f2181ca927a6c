import CambiumModel

/// The duplicate unique values and the wrong numbers of members that rows of an import caused. Later rows resolve most of these faults, so
/// the import checks them after all rows.
package struct DeferredChecks {
    /// The indexes by which an import finds objects in a draft.
    package struct Indexes {
        private var numbers: [[Int]] = []

        package init() {}

        package mutating func insert(_ table: ImportTable) {
            guard let index = table.identity else { return }
            while numbers.count <= table.number { numbers.append([]) }
            numbers[table.number].append(index.number)
        }

        func contains(table: Int, index: Int) -> Bool { table < numbers.count && numbers[table].contains(index) }
    }

    /// An object, stated by its table and row, and the index in which another object had the same key.
    package struct Entry: Hashable {
        let table: Int
        let index: Int
        let row: UInt32
    }

    /// A check whose result can change until the end of the import, because a later row can repair the fault.
    package enum Check {
        /// A row of the import assigned a value that another object already had.
        case value(Entry)
        /// An object that a row changed, and whether one of its numbers of members is wrong after the row.
        case members(ObjectPlace, isWrong: Bool)
    }

    /// All rows that changed an object since it had too many members. There are as many rows as members beyond the maximum. So if each row
    /// added one member, the object had its maximum before the first row.
    package struct Series {
        /// The number of the end at which the object has too many members, among the ends of all relationships.
        package let end: Int
        /// The numbers of the rows in the import, ascending.
        package let rows: [Int]
    }

    /// A row that breaks a rule even after all rows of the import.
    package struct Refusal {
        /// The number of the row in the import.
        package let place: Int
        package let violation: Violation
        /// The object with the wrong number of members, or the object that keeps the value.
        package let cause: ObjectPlace
        /// Whether the row is refused even if other rows of the import are omitted. The condition is that each remaining row still applies
        /// or fails as before, and that the objects keep their entities.
        package fileprivate(set) var isCertain: Bool
        /// The series that begins with the row, if the object has too many members, and breaks no other rule about its members. `nil` if
        /// there is no such series, or if `DeferredChecks` does not note series.
        package fileprivate(set) var series: Series?

        /// The refusals of the later rows of the series. Each of them holds once the earlier rows of the series are omitted.
        package var successors: [Refusal] {
            (series?.rows.dropFirst() ?? []).map { Refusal(place: $0, violation: violation, cause: cause, isCertain: false) }
        }
    }

    /// The rows of the import that left an object with a wrong number of members, since the number became wrong.
    fileprivate struct WrongMembers {
        /// The row after which the number was wrong for the first time.
        let first: Int
        /// The later rows, if `isWhole` is `true`.
        var others: [Int] = []
        var isWhole = true
    }

    /// For each object and index, the import's last row that assigned a duplicate value to the object.
    private var places: [Entry: Int] = [:]
    /// The objects with a wrong number of members.
    private var members: [ObjectPlace: WrongMembers] = [:]
    /// The number of rows in the `others` of all elements of `members`.
    private var otherCount = 0
    /// The maximum of `otherCount`. Therefore, the memory does not grow with the input.
    private let otherCountMax: Int

    /// - Parameter notesSeries: Whether `check` returns the series of refused rows.
    package init(notesSeries: Bool = false) { otherCountMax = notesSeries ? 2048 : 0 }

    package var isEmpty: Bool { places.isEmpty && members.isEmpty }
    package var count: Int { places.count + members.count + otherCount }

    /// The numbers of the import's rows that `check` may refuse.
    package var rows: Set<Int> { Set(places.values).union(members.values.lazy.flatMap { [$0.first] + $0.others }) }

    /// Returns whether a check shows that a row of the import corrected a number of members that an earlier row had made wrong. Call this
    /// method before `note` records the check.
    package func isCorrected(by check: Check) -> Bool {
        if case .members(let object, isWrong: false) = check { members[object] != nil } else { false }
    }

    /// Records the outcome of a check after a row of the import. Returns whether the check at the end may refuse the row.
    ///
    /// - Parameter place: The number of the row in the import. The caller adds rows in ascending order.
    package mutating func note(_ check: Check, place: Int) -> Bool {
        switch check {
        case .value(let entry):
            places[entry] = place
            return true
        case .members(let object, isWrong: true): return noteWrong(object, place)
        case .members(let object, isWrong: false):
            if members.isEmpty { return false }
            otherCount -= members.removeValue(forKey: object)?.others.count ?? 0
            return false
        }
    }

    private mutating func noteWrong(_ object: ObjectPlace, _ place: Int) -> Bool {
        guard let index = members.index(forKey: object) else {
            members[object] = WrongMembers(first: place)
            return true
        }
        guard members.values[index].isWhole else { return false }
        guard otherCount < otherCountMax else {
            otherCount -= members.values[index].others.count
            members.values[index] = WrongMembers(first: members.values[index].first, isWhole: false)
            return false
        }
        members.values[index].others.append(place)
        otherCount += 1
        return true
    }
}

extension DeferredChecks {
    fileprivate var ordered: [(entry: Entry, place: Int)] {
        places.map { (entry: $0.key, place: $0.value) }.sorted {
            ($0.1, $0.0.table, $0.0.index, $0.0.row) < ($1.1, $1.0.table, $1.0.index, $1.0.row)
        }
    }

    fileprivate var orderedMembers: [(object: ObjectPlace, wrong: WrongMembers)] {
        members.map { (object: $0.key, wrong: $0.value) }.sorted {
            ($0.wrong.first, $0.object.table, $0.object.row) < ($1.wrong.first, $1.object.table, $1.object.row)
        }
    }

    fileprivate func place(of entry: Entry) -> Int? { places[entry] }

    fileprivate mutating func keep(_ isKept: (Entry) -> Bool) { places = places.filter { isKept($0.key) } }
}

extension Draft {
    /// Returns the first rule that the last written row of an import breaks, and clears all checks that this row scheduled.
    ///
    /// A unique value may belong to another object until a later row changes that object, and a later row may add or remove members. So
    /// unique values and numbers of members are checked at the end of the import. Only the indexes in `finding` are checked immediately,
    /// because the import finds objects by them.
    ///
    /// - Parameter deferred: Receives each deferred check. The caller passes it to `check(_:)` at the end.
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

    /// Returns the rows of an import that must be omitted, because they still break a rule after all rows. Each of these rows assigned a
    /// duplicate value, or caused a wrong number of members. The rows ascend.
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

    /// Returns the series of rows after which an object had too many members, as `violation` states.
    private borrowing func series(
        _ wrong: DeferredChecks.WrongMembers, _ violation: Violation, _ object: ObjectPlace
    ) -> DeferredChecks.Series? {
        guard wrong.isWhole, case .tooManyMembers(let name, let count, let max) = violation.rule, count - max == 1 + wrong.others.count,
            let relationship = entity(at: object)?.relationship(name)
        else { return nil }
        return .init(end: 2 * relationship.link + relationship.end, rows: [wrong.first] + wrong.others)
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
        let names = table.indexes[keeper.index].set.attributes.map { entity.attribute($0)?.name ?? "" }
        let rule = Violation.Rule.duplicate(attributes: names, of: text(ObjectPlace(table: keeper.table, row: keeper.row)))
        let isUntouched = touched.map { !$0.attributes[keeper.table].contains(keeper.row) } ?? false
        let isOld = reader.rows(keeper.table).serial(keeper.row) < base.reader.nextSerialOrOne(keeper.table, of: base.layout)
        // In a larger hierarchy, an earlier row can determine the entity of the object, and thus whether the object has the attribute.
        let isAlone = entity.parent == nil && entity.family.count == 1
        return entries.compactMap { entry in
            guard entry != keeper, let place = checks.place(of: entry) else { return nil }
            let violation = Violation(object: text(ObjectPlace(table: entry.table, row: entry.row)), rule: rule)
            let cause = ObjectPlace(table: keeper.table, row: keeper.row)
            return .init(place: place, violation: violation, cause: cause, isCertain: isUntouched && isOld && isAlone)
        }
    }
}
