import CambiumModel

/// The faults that rows of an import caused: duplicates of unique values, and relationships with too few or too many members. Later rows
/// repair most of these faults, so the import checks them after all rows.
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

    /// An object, identified by its table and row, and the index in which another object had the same key.
    package struct Entry: Hashable {
        let table: Int
        let index: Int
        let row: UInt32
    }

    /// A check whose result can change until the end of the import, because a later row can repair the fault.
    package enum Check {
        /// A row of the import assigned a value that another object already had.
        case value(Entry)
        /// An object that a row changed. `isWrong` states whether a relationship of the object has too few or too many members after the
        /// row.
        case members(ObjectPlace, isWrong: Bool)
    }

    /// The rows after which an object had too many members: one row for each member beyond the maximum. So if each row added one member,
    /// the object had exactly the maximum number of members before the first row.
    package struct Series {
        /// The number of the end at which the object has too many members, among the ends of all relationships.
        package let end: Int
        /// The numbers of the rows in the import, in ascending order.
        package let rows: [Int]
    }

    /// A row that the import must omit, because it still breaks a rule after all rows of the import were applied.
    package struct Refusal {
        /// The number of the row in the import.
        package let place: Int
        package let violation: Violation
        /// The object with the wrong number of members, or the object that keeps the duplicate value.
        package let cause: ObjectPlace
        /// Whether the row is refused even if other rows of the import are omitted. The answer assumes that each remaining row applies or
        /// fails as before, and that the objects keep their entities.
        package fileprivate(set) var isCertain: Bool
        /// The series that begins with the row, if the object has too many members and breaks no other rule about its members. `nil` if
        /// there is no such series, or if `DeferredChecks` does not record series.
        package fileprivate(set) var series: Series?

        /// A refusal for each row of `series` after the first. If the import omits the earlier rows of the series, and no others, it
        /// refuses this row for the same reason.
        package var successors: [Refusal] {
            (series?.rows.dropFirst() ?? []).map { Refusal(place: $0, violation: violation, cause: cause, isCertain: false) }
        }
    }

    /// The rows of the import after which an object had a wrong number of members. If a row corrects the number, the recorded rows are
    /// discarded.
    struct WrongMembers {
        /// The row that made the number wrong.
        let first: Int
        /// The later rows. Empty if `isWhole` is `false`, because there were too many rows to record.
        var others: [Int] = []
        var isWhole = true
    }

    /// For each object and index, the import's last row that assigned a duplicate value to the object.
    private var places: [Entry: Int] = [:]
    /// The objects with a wrong number of members.
    private var members: [ObjectPlace: WrongMembers] = [:]
    /// The number of rows in the `others` of all elements of `members`.
    private var otherCount = 0
    /// The maximum of `otherCount`, which limits the memory that the arrays `others` take.
    private let otherCountMax: Int

    /// - Parameter notesSeries: Whether `check` returns the series of refused rows.
    package init(notesSeries: Bool = false) { otherCountMax = notesSeries ? 2048 : 0 }

    package var isEmpty: Bool { places.isEmpty && members.isEmpty }
    package var count: Int { places.count + members.count + otherCount }

    /// The numbers of the import's rows that `check` may refuse.
    package var rows: Set<Int> { Set(places.values).union(members.values.lazy.flatMap { [$0.first] + $0.others }) }

    /// Returns whether, according to a check, a row of the import corrected a number of members that an earlier row had made wrong. Call
    /// this method before `note` records the check.
    package func isCorrected(by check: Check) -> Bool {
        if case .members(let object, isWrong: false) = check { members[object] != nil } else { false }
    }

    /// Returns the row that made a number of members wrong, if a check states that another row corrected the number. Call this method
    /// before `note` records the check.
    package func rowCorrected(by check: Check) -> Int? {
        if case .members(let object, isWrong: false) = check { members[object]?.first } else { nil }
    }

    /// Records the outcome of a check after a row of the import. Returns whether the check at the end may refuse the row.
    ///
    /// - Parameter place: The number of the row in the import. The caller adds rows in ascending order.
    package mutating func track(_ check: Check, place: Int) -> Bool {
        switch check {
        case .value(let entry):
            places[entry] = place
            return true
        case .members(let object, isWrong: true): return reportWrong(object, place)
        case .members(let object, isWrong: false):
            if members.isEmpty { return false }
            otherCount -= members.removeValue(forKey: object)?.others.count ?? 0
            return false
        }
    }

    private mutating func reportWrong(_ object: ObjectPlace, _ place: Int) -> Bool {
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

/// The recorded faults, for the checks in a draft.
extension DeferredChecks {
    /// The objects with duplicate values, in the order of the rows that assigned the values.
    var ordered: [(entry: Entry, place: Int)] {
        places.map { (entry: $0.key, place: $0.value) }.sorted {
            ($0.1, $0.0.table, $0.0.index, $0.0.row) < ($1.1, $1.0.table, $1.0.index, $1.0.row)
        }
    }

    /// The objects with too few or too many members, in the order of the rows that first made the numbers of members wrong.
    var orderedMembers: [(object: ObjectPlace, wrong: WrongMembers)] {
        members.map { (object: $0.key, wrong: $0.value) }.sorted {
            ($0.wrong.first, $0.object.table, $0.object.row) < ($1.wrong.first, $1.object.table, $1.object.row)
        }
    }

    func place(of entry: Entry) -> Int? { places[entry] }

    mutating func keep(_ isKept: (Entry) -> Bool) { places = places.filter { isKept($0.key) } }
}

/// The checks of an import that are deferred until all rows have been applied.
extension DeferredChecks {
    /// Returns the first rule that the last written row of an import breaks, and clears all checks that this row scheduled.
    ///
    /// A unique value may belong to another object until a later row changes that object, and a later row may add or remove members. So
    /// unique values and numbers of members are checked at the end of the import. Only the indexes in `finding` are checked immediately,
    /// because the import finds objects by them.
    ///
    /// - Parameter deferred: Receives each deferred check. The caller collects the checks and passes them to `check(_:)` at the end.
    @inline(__always)
    package static func takeViolation(
        _ draft: inout Draft, finding: DeferredChecks.Indexes, _ deferred: (DeferredChecks.Check) -> Void
    ) -> Violation? {
        draft.pending.isEmpty ? nil : takeNoted(&draft, finding, deferred)
    }

    @inline(never)
    private static func takeNoted(
        _ draft: inout Draft, _ finding: DeferredChecks.Indexes, _ deferred: (DeferredChecks.Check) -> Void
    ) -> Violation? {
        var first: Violation?
        for duplicate in draft.pending.takeDuplicates() {
            if finding.contains(table: duplicate.table, index: duplicate.index) {
                first = first ?? draft.violation(of: duplicate).first
            } else {
                deferred(.value(.init(table: duplicate.table, index: duplicate.index, row: duplicate.row)))
            }
        }
        let ofObject = takeObjects(&draft, deferred)
        return draft.violations().violations.first ?? ofObject ?? first
    }

    /// Defers the checks of the numbers of members. Returns the first violation of any other rule.
    private static func takeObjects(_ draft: inout Draft, _ deferred: (DeferredChecks.Check) -> Void) -> Violation? {
        var first: Violation?
        var seen = PlaceSet(placeCount: draft.pending.objectCount, tableCount: draft.layout.tables.count)
        for place in draft.pending.objects where seen.insert(place) && draft.isLive(place) {
            let found = draft.violations(at: place)
            deferred(.members(place, isWrong: found.contains { $0.rule.concernsMembers }))
            first = first ?? found.first { !$0.rule.concernsMembers }
        }
        draft.pending.forgetObjects(after: 0)
        return first
    }

    /// Returns the rows of an import that must be omitted, because they still break a rule after all rows have been applied. Each of these
    /// rows assigned a duplicate value, or caused a wrong number of members. The rows are in ascending order.
    ///
    /// One of the objects with the same value keeps the value: if possible, an object to which no row assigned the value. Otherwise the
    /// object of the earliest row keeps it. Complexity: O(d log d) for d checks.
    package static func check(_ draft: borrowing Draft, _ checks: DeferredChecks) -> [DeferredChecks.Refusal] {
        var refusals: [DeferredChecks.Refusal] = []
        var seen = Set<DeferredChecks.Entry>()
        for (entry, _) in checks.ordered where !seen.contains(entry) {
            guard draft.isLive(ObjectPlace(table: entry.table, row: entry.row)) else { continue }
            let index = draft.layout.tables[entry.table].indexes[entry.index]
            let others = draft.reader.rowsWithSameKey(as: entry.row, entry.table, index)
            let all = ([entry.row] + others).map { DeferredChecks.Entry(table: entry.table, index: entry.index, row: $0) }
            seen.formUnion(all)
            if !others.isEmpty { refusals += refused(draft, all, checks) }
        }
        for (object, wrong) in checks.orderedMembers where draft.isLive(object) {
            let found = draft.violations(at: object).filter(\.rule.concernsMembers)
            guard let violation = found.first else { continue }
            let series = found.count == 1 ? series(draft, wrong, violation, object) : nil
            refusals.append(.init(place: wrong.first, violation: violation, cause: object, isCertain: false, series: series))
        }
        return refusals.sorted { $0.place < $1.place }
    }

    /// Returns the rows after which an object had too many members. `violation` states how many members the object has.
    private static func series(
        _ draft: borrowing Draft, _ wrong: DeferredChecks.WrongMembers, _ violation: Violation, _ object: ObjectPlace
    ) -> DeferredChecks.Series? {
        guard wrong.isWhole, case .tooManyMembers(let name, let count, let max) = violation.rule, count - max == 1 + wrong.others.count,
            let relationship = draft.entity(at: object)?.relationship(name)
        else { return nil }
        return .init(end: 2 * relationship.link + relationship.end, rows: [wrong.first] + wrong.others)
    }

    /// Lets the draft of an import list the changes of members of those links that have a limit at one of their ends. Returns, for each
    /// end, whether its changes are listed.
    package static func listMemberChanges(_ draft: inout Draft) -> [Bool] {
        let listed = draft.layout.marks.indices.map { draft.layout.marks[$0].isCounted || draft.layout.marks[$0 ^ 1].isCounted }
        draft.touched?.listedEnds = listed.contains(true) ? listed : []
        return listed
    }

    package static func takeMemberChanges(_ draft: inout Draft) -> [MemberChange] { draft.touched?.takeChanges() ?? [] }

    /// Returns how many members an object may lose or gain without a violation; less than 0 if it breaks a rule already. Returns `nil` if
    /// the object is not live, or its number of members at this end has no limit.
    package static func memberSlack(_ draft: borrowing Draft, _ change: MemberChange) -> Int? {
        let mark = draft.layout.marks[change.end]
        let place = ObjectPlace(table: mark.table, row: change.row)
        guard mark.isCounted, draft.isLive(place), let entity = draft.entity(at: place) else { return nil }
        let link = draft.schema.links[change.end / 2]
        guard let property = (change.end % 2 == 0 ? link.first : link.second).property,
            let relationship = entity.relationship(property)
        else { return nil }
        let count = draft.reader.memberCount(draft.layout.ends[change.end], owner: change.row)
        let fewer = relationship.minCount > 0 ? count - relationship.minCount : Int.max
        return min(fewer, relationship.maxCount.map { relationship.isToMany ? $0 - count : Int.max } ?? Int.max)
    }

    /// Removes the entries of deleted objects, and the entries whose values later rows have made unique. Complexity: O(d) for d checks.
    package static func forgetResolved(_ draft: borrowing Draft, _ checks: inout DeferredChecks) {
        checks.keep { entry in
            guard draft.isLive(ObjectPlace(table: entry.table, row: entry.row)) else { return false }
            return draft.reader.duplicate(of: entry.row, entry.table, draft.layout.tables[entry.table].indexes[entry.index]) != noRow
        }
    }

    /// Returns a refusal for each row of the import that assigned the duplicate value to an object of `entries`. One object keeps the
    /// value, and its row is not refused.
    private static func refused(
        _ draft: borrowing Draft, _ entries: [DeferredChecks.Entry], _ checks: DeferredChecks
    ) -> [DeferredChecks.Refusal] {
        let keeper = entries.min { (checks.place(of: $0) ?? 0, $0.row) < (checks.place(of: $1) ?? 0, $1.row) }
        guard let keeper, let entity = draft.entity(at: ObjectPlace(table: keeper.table, row: keeper.row)) else { return [] }
        let table = draft.layout.tables[keeper.table]
        let index = table.indexes[keeper.index]
        let names = entity.names(of: index.set)
        let rule = Violation.Rule.duplicate(attributes: names, of: draft.text(ObjectPlace(table: keeper.table, row: keeper.row)))
        // A row that changes a link of the object does not touch its attributes. So an index with a relationship gives no certainty.
        let isUntouched = !index.hasRelationship && draft.touched.map { !$0.attributes[keeper.table].contains(keeper.row) } ?? false
        let isOld =
            draft.reader.rows(keeper.table).serial(keeper.row) < draft.base.reader.nextSerialOrOne(keeper.table, of: draft.base.layout)
        // If the hierarchy has other entities, an earlier row can determine the entity of the object. If that row is omitted, the object
        // may lack the attribute, so the refusal is not certain.
        let isAlone = entity.parent == nil && entity.family.count == 1
        return entries.compactMap { entry in
            guard entry != keeper, let place = checks.place(of: entry) else { return nil }
            let violation = Violation(object: draft.text(ObjectPlace(table: entry.table, row: entry.row)), rule: rule)
            let cause = ObjectPlace(table: keeper.table, row: keeper.row)
            return .init(place: place, violation: violation, cause: cause, isCertain: isUntouched && isOld && isAlone)
        }
    }
}
