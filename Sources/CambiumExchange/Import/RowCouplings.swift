import CambiumGraph

/// The groups of rows that may influence each other. `RowInfluences` finds the refused rows that influence no row at all; a refused row of
/// a group may influence the other rows of its group. So the import may omit the first refused row of each group at the same time.
///
/// Two rows are in the same group if one of these statements holds:
///
/// * Both changed the members of an object with a limit, and the refused rows could break the limit.
/// * Both changed the members of another object at the end of a link that has a limit at its other end, and a row states these members.
/// * The second one found an object that the first one made or changed, and would have another outcome without it.
/// * The second one is refused because of a value that the first one assigned.
struct RowCouplings {
    private struct Entry {
        let change: MemberChange
        let row: Int
    }

    private struct Maker {
        let row: Int
        let isReplaceable: Bool
    }

    /// For each end of each link, whether changes at this end are recorded.
    private let listedEnds: [Bool]
    private var entries: [Entry] = []
    /// The objects whose members a row states.
    private var stated: Set<MemberChange> = []
    /// For each object that a row made or changed, the last such row that may be refused.
    private var makers: [ObjectPlace: Maker] = [:]
    private var pairs: [(Int, Int)] = []
    /// The rows that change objects in a way whose effects on other rows are not known.
    private var unclear: Set<Int> = []

    init(listedEnds: [Bool]) { self.listedEnds = listedEnds }

    /// Records the objects that a row found.
    mutating func track(_ findings: [RowInfluences.Finding], _ row: Int) {
        for finding in findings {
            guard let maker = makers[finding.place], maker.row != row, !maker.isReplaceable || !finding.isIndifferent else { continue }
            pairs.append((maker.row, row))
        }
    }

    /// Records the changes of members by a row that was applied.
    mutating func track(_ changes: [MemberChange], _ plan: RowPlan, _ entities: ImportEntities, _ row: Int) {
        for change in changes { entries.append(Entry(change: change, row: row)) }
        for link in plan.links {
            let end = RowInfluences.end(link, plan, entities)
            guard listedEnds[end.number] else { continue }
            let change = MemberChange(end: end.number, row: plan.tableRow(ofObject: link.owner))
            stated.insert(change)
            entries.append(Entry(change: change, row: row))
        }
    }

    /// Records a row that was applied and may be refused at the end.
    mutating func add(_ row: Int, _ plan: RowPlan, _ entities: ImportEntities) {
        for (index, object) in plan.objects.enumerated() where object.isDescribed || object.isStub {
            let entity = entities[object.entity].counted
            if case .existing = object.target {
                if !entity.isAlone || !entity.table.isUniqueByIdentityOnly { unclear.insert(row) }
                if entity.isReplaceable, !object.isFilled { continue }
            }
            if object.isSkipped { continue }
            track(Maker(row: row, isReplaceable: entity.isReplaceable), of: entity.table.place(plan.tableRow(ofObject: index)))
        }
        // A link changes the unique values of an object, even if the row only refers to the object.
        for link in plan.links {
            let (entity, end) = (entities[plan.objects[link.owner].entity].counted, RowInfluences.end(link, plan, entities))
            if end.isKey {
                track(Maker(row: row, isReplaceable: false), of: entity.table.place(plan.tableRow(ofObject: link.owner)))
            }
            if end.isKeyAtOtherEnd {
                for place in RowInfluences.targets(of: link, plan, entities) { track(Maker(row: row, isReplaceable: false), of: place) }
            }
        }
    }

    private mutating func track(_ maker: Maker, of place: ObjectPlace) {
        if let earlier = makers[place], earlier.row != maker.row { pairs.append((earlier.row, maker.row)) }
        makers[place] = maker
    }

    /// Returns the first refusal of each group. Complexity: O(n log n) for n changes of members.
    ///
    /// - Parameter refusals: The refusals of all rows, in the order of the rows.
    mutating func leaders(_ refusals: [DeferredChecks.Refusal], _ draft: borrowing Draft) -> [DeferredChecks.Refusal] {
        var groups = Groups()
        for (row, other) in pairs { groups.join(row, other) }
        for refusal in refusals { if let maker = makers[refusal.cause] { groups.join(maker.row, refusal.place) } }
        let refused = Set(refusals.map(\.place))
        entries.sort { ($0.change.end, $0.change.row, $0.row) < ($1.change.end, $1.change.row, $1.row) }
        var first = 0
        while first < entries.count {
            let change = entries[first].change
            let end = entries[first...].firstIndex { $0.change != change } ?? entries.count
            if mayCouple(change, entries[first..<end].count { refused.contains($0.row) }, draft) {
                for entry in entries[first..<end] { groups.join(entries[first].row, entry.row) }
            }
            first = end
        }
        var known: Set<Int> = []
        return refusals.filter { known.insert(groups.group(of: $0.place)).inserted && !unclear.contains($0.place) }
    }

    /// Returns whether the rows that changed the members of an object belong to the same group.
    ///
    /// - Parameter count: The number of changes by refused rows.
    private func mayCouple(_ change: MemberChange, _ count: Int, _ draft: borrowing Draft) -> Bool {
        if let slack = DeferredChecks.memberSlack(draft, change) { slack < count } else { stated.contains(change) }
    }

    /// Disjoint sets of rows.
    private struct Groups {
        private var parents: [Int: Int] = [:]

        mutating func group(of row: Int) -> Int {
            var root = row
            while let parent = parents[root] { root = parent }
            var next = row
            while let parent = parents[next], parent != root {
                parents[next] = root
                next = parent
            }
            return root
        }

        mutating func join(_ row: Int, _ other: Int) {
            let (one, two) = (group(of: row), group(of: other))
            if one != two { parents[max(one, two)] = min(one, two) }
        }
    }
}
