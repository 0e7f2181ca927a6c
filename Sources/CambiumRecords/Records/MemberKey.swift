/// The position of a member in the order in which a save writes the members of a Swift `Set`. A `Set` has a different order in each run of
/// a program. Because a save follows the order of these keys, new objects get the same ids in each run.
struct MemberKey: Comparable {
    /// The object of the member; `nil` for a record that was never saved.
    var id: ObjectID?
    /// The values by which records that were never saved are ordered.
    var values: [Value] = []

    /// Saved members come first, by ascending id. Null comes before other values. Values without an order count as equal.
    static func < (left: Self, right: Self) -> Bool {
        if let one = left.id, let other = right.id { return one < other }
        if left.id != nil || right.id != nil { return left.id != nil }
        for (one, other) in zip(left.values, right.values) {
            if one.isNull != other.isNull { return one.isNull }
            if let order = one.order(other), order != 0 { return order < 0 }
        }
        return false
    }
}

extension RecordWriter {
    /// Returns the members of a set in the order of their keys.
    mutating func inOrder<Element: _RelatedValue>(_ members: Set<Element>) -> [Element] {
        if members.count < 2 || isClearing { return Array(members) }
        var found: [(key: MemberKey, member: Element)] = []
        for member in members { found.append((key(of: member), member)) }
        found.sort { $0.key < $1.key }
        return found.map(\.member)
    }

    private mutating func key<Member>(of member: Member) -> MemberKey {
        if let ref = member as? any ContainerRef { return MemberKey(id: ref.id) }
        guard let record = member as? any EntityRecord else { return MemberKey() }
        return key(ofRecord: record)
    }

    private mutating func key<Record: EntityRecord>(ofRecord record: Record) -> MemberKey {
        if let id = record.ref?.id { return MemberKey(id: id) }
        return MemberKey(values: orderingValues(of: record))
    }
}
