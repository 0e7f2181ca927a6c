import CambiumGraph

/// The influences that the rows of a batch have on each other. The import uses these influences to determine which refused rows it may omit
/// at once.
///
/// An import that skips errors applies all rows, and then checks the rules. It omits the first row that breaks a rule, and applies the rows
/// again. If it omitted one row in each run, the time would grow with the square of the number of bad rows.
///
/// A row r is *independent* in a run if each other row would have the same outcome in a run without r. Let a, b, c be the refused rows of a
/// run, in ascending order. If a is independent, the run without a refuses exactly b and c. If b is independent in the first run, b is also
/// independent in the second one. So the import omits b next. By induction, the import omits all independent rows at the front, and then
/// the first row after them. The import omits these rows together, and no other row.
///
/// The outcome of a row depends only on the objects that the row finds, and on the checks. For each identity, a row finds a full object, a
/// stub or no object. The checks compare unique values, and numbers of members that have limits. No other value decides whether a row can
/// be applied. Earlier rows cannot see the effects of a row, so omitting the row does not change their outcome. A row is independent if all
/// of these conditions hold:
///
/// * The row describes only new objects, and existing objects without other entities in their hierarchy and without a unique set except the
///   identity. So the row frees no unique value. The row does not correct a number of members that an earlier row made wrong.
/// * The links that the row makes or removes take no member from other objects, and are not counted at their other ends
///   (`ImportEnd.isFree`). There are two exceptions: links between new objects of the row, and links from new objects to objects whose
///   number of members has only a maximum (`ImportEnd.isAddition`). Without the row, the objects with the maximum have fewer members.
///   Therefore, no row may be refused because of these objects, except the rows of a series that contains this row.
/// * No row changes members at the other ends of these links. Such a row could remove links that this row makes. In a run without this row,
///   such a row could remove links that this row removes. The condition also holds for the other links of an existing object that the row
///   describes, and for ends that could take members from that object.
/// * No later row, not even one that fails, finds an object that this row made, or changed in a way that the later row can notice. Objects
///   that the later row would otherwise create itself are an exception. Their entity has no limits (`ImportEntity.isReplaceable`), and the
///   later row has all mandatory values or only refers to the object. An object that the later row skips is no exception, because the later
///   row would change the object if it were still a stub.
/// * No other row is refused because of the objects that this row made or changed. These objects keep no unique value that another row
///   assigns.
///
/// A *series* of an object with too many members consists of all rows that changed the object since it had its maximum. Each of these rows
/// added exactly one member. A run refuses only the first row because of the object. Without this row, the run refuses the second row for
/// the same reason, and so on. So each row of the series counts as refused in the first run.
///
/// The exception for objects that the later row would create itself also holds if several rows are omitted. All rows that made or found
/// such an object have the same outcome without the object, so the first row that is not omitted creates the object.
struct RowInfluences {
    /// An existing object that a row found.
    struct Finding {
        let place: ObjectPlace
        /// Whether the row would have the same outcome if the object did not exist or were a stub. In these cases, the row itself would
        /// create or complete the object.
        let isIndifferent: Bool
    }

    /// The change that a row makes to an object. The row may be refused later.
    private struct Effect {
        let row: Int
        /// Whether a later row has the same outcome without the change, if the finding of the later row is indifferent
        /// (`Finding.isIndifferent`).
        let isReplaceable: Bool
    }

    /// The members that a row added to an object.
    private struct Addition {
        /// The number of the end (the side of a relationship) at which the object got a member.
        let end: Int
        /// Whether the row added exactly one member to the object. If `false`, the row may have added several members, possibly at
        /// different ends of the object; `end` is only the last of these ends.
        let isSingle: Bool
    }

    /// The objects that rows made or changed, each with the last row that made or changed the object.
    private var effects: [ObjectPlace: Effect] = [:]
    /// The rows that may be refused, and on which no other row depends as far as is known. The value for each row is a set of ends (sides
    /// of relationships). If any row of the import has changed members at one of these ends, the row is not independent after all.
    private var independent: [Int: Set<Int>] = [:]
    /// For each object whose number of members has only a maximum, the possibly refused rows that added members to the object.
    private var additions: [ObjectPlace: [Int: Addition]] = [:]
    /// The ends (sides of relationships) at which rows changed members.
    private var changedEnds: Set<Int> = []

    /// Records the objects that a row found.
    mutating func track(_ findings: [Finding]) {
        for finding in findings {
            guard let effect = effects[finding.place] else { continue }
            if !effect.isReplaceable || !finding.isIndifferent { independent[effect.row] = nil }
        }
    }

    /// Records the links of a row that was applied.
    mutating func trackLinks(_ plan: RowPlan, _ entities: ImportEntities) {
        for link in plan.links { changedEnds.insert(Self.end(link, plan, entities).number) }
    }

    /// Records a row that was applied and may be refused at the end.
    mutating func add(_ row: Int, _ plan: RowPlan, _ entities: ImportEntities) {
        var ends: Set<Int> = []
        /// The indexes in the plan of those objects whose links later rows could remove.
        var linked: Set<Int> = []
        var filled: [(object: ObjectPlace, end: Int)] = []
        for link in plan.links {
            let end = Self.end(link, plan, entities)
            if !end.isFree {
                guard plan.isNew(link.owner) else { return }
                if !link.targets.allSatisfy({ plan.isNew(plan.targets[$0]) }) {
                    guard end.isAddition else { return }
                    filled += Self.targets(of: link, plan, entities).map { (object: $0, end: end.opposite) }
                }
                for target in link.targets { if case .object(let place) = plan.targets[target] { linked.insert(plan.original(place)) } }
            }
            linked.insert(plan.original(link.owner))
            ends.insert(end.opposite)
        }
        var made: [ObjectPlace: Effect] = [:]
        for (index, object) in plan.objects.enumerated() where object.isDescribed || object.isStub {
            let entity = entities[object.entity].counted
            let isReplaceable = entity.isReplaceable && !linked.contains(index)
            switch object.target {
            case .new: break
            case .existing:
                guard entity.isAlone, entity.table.isUniqueByIdentityOnly else { return }
                if isReplaceable, !object.isFilled { continue }
                // Without this row, only another row that changes the object's members would change the object. Such a row makes this row
                // dependent, so the ends of the object's relationships are recorded.
                for link in entity.links { ends.formUnion(link.end.isFree ? [link.end.opposite] : [link.end.number, link.end.opposite]) }
            case .alias, .skipped: continue
            }
            let place = entity.table.place(plan.tableRow(ofObject: index))
            made[place] = Effect(row: row, isReplaceable: isReplaceable && made[place]?.isReplaceable != false)
        }
        effects.merge(made) { $1 }
        for (object, end) in filled {
            let isSingle = additions[object]?[row] == nil
            additions[object, default: [:]][row] = Addition(end: end, isSingle: isSingle)
        }
        independent[row] = ends
    }

    /// Records that a row is refused because of an object. Returns whether each row of the refusal's series added exactly one member to the
    /// object, so that the rows are refused one after the other. All rows must have been recorded.
    mutating func reportRefusal(_ refusal: DeferredChecks.Refusal) -> Bool {
        let object = refusal.cause
        if let effect = effects[object], effect.row != refusal.place { independent[effect.row] = nil }
        guard let added = additions[object] else { return false }
        var series: Set<Int> = []
        if let given = refusal.series, given.rows.allSatisfy({ added[$0]?.isSingle == true && added[$0]?.end == given.end }) {
            series = Set(given.rows)
        }
        for row in added.keys where !series.contains(row) { independent[row] = nil }
        return !series.isEmpty
    }

    /// Returns whether a row is independent, as defined above. If all refused rows up to this one are independent, the import may omit the
    /// next refused row together with them. All rows and all refusals must have been recorded.
    func isIndependent(_ row: Int) -> Bool { independent[row].map { $0.isDisjoint(with: changedEnds) } ?? false }

    static func end(_ link: RowPlan.Link, _ plan: RowPlan, _ entities: ImportEntities) -> ImportEnd {
        entities[plan.objects[link.owner].entity].counted.links[link.link].end
    }

    /// Returns the objects at the other end of a link.
    static func targets(of link: RowPlan.Link, _ plan: RowPlan, _ entities: ImportEntities) -> [ObjectPlace] {
        let relationship = entities[plan.objects[link.owner].entity].counted.links[link.link].relationship
        let table = entities[relationship.destination].counted.table
        return link.targets.map { target in
            switch plan.targets[target] {
            case .object(let place): table.place(plan.tableRow(ofObject: place))
            case .row(let row): table.place(row)
            }
        }
    }
}

extension RowPlan {
    /// Returns the smallest index at which `objects` has the same object as at `place`.
    fileprivate func original(_ place: Int) -> Int { if case .alias(let other) = objects[place].target { other } else { place } }

    fileprivate func isNew(_ place: Int) -> Bool { if case .new = objects[original(place)].target { true } else { false } }

    fileprivate func isNew(_ member: Member) -> Bool { if case .object(let place) = member { isNew(place) } else { false } }
}
