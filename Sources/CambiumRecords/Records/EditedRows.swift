/// Gives a `RecordReader` access to the objects of an edit. The reader identifies each object by its place (the position of its row). An
/// object that the edit inserted has no row yet, so its place is its index in `inserted`.
final class EditedRows {
    let edit: Edit
    private var inserted: [ObjectID] = []
    private var numbers: [ObjectID: Int] = [:]

    init(_ edit: Edit) { self.edit = edit }

    /// Returns the place by which a `RecordReader` identifies an object, or `nil` if the edit does not have the object.
    func place(of id: ObjectID) -> ObjectPlace? { edit.contains(id) ? knownPlace(of: id) : nil }

    private func knownPlace(of id: ObjectID) -> ObjectPlace? {
        if !id.isProvisional { return edit.base.place(of: id) }
        if let number = numbers[id] { return ObjectPlace(unplaced: number) }
        numbers[id] = inserted.count
        inserted.append(id)
        return ObjectPlace(unplaced: inserted.count - 1)
    }

    func id(of place: ObjectPlace) -> ObjectID { place.unplacedNumber.map { inserted[$0] } ?? edit.base.id(of: place) }

    /// Returns the value of an attribute. If the edit tracks reads, the attribute counts as read, because the caller receives the value in
    /// a record.
    func value(_ attribute: Attribute, at place: ObjectPlace) -> Value { edit[id(of: place), attribute] ?? .null }

    /// Returns the members of a relationship, in the order of the relationship, or by ascending id if the relationship is unordered. If the
    /// edit tracks reads, the relationship counts as read.
    func members(_ relationship: Relationship, of place: ObjectPlace) -> [ObjectPlace] {
        (edit.members(relationship, of: id(of: place)) ?? []).compactMap { knownPlace(of: $0) }
    }
}
