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
