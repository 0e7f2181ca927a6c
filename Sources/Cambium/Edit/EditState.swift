import CambiumModel

/// The changes of an edit to one object: the parts of the object that differ from the graph on which the edit builds (the base).
///
/// If the edit deletes an object, the earlier changes of the object stay in this value. Reads of the edit omit deleted objects from the
/// members of relationships.
struct EditState: Sendable {
    /// The entity of an object that the edit inserted; `nil` for an object that existed before the edit.
    var inserted: EntityNumber?
    /// The number of the call that deleted the object; `nil` if the object is not deleted.
    var deletion: Int?
    /// The new values of the changed attributes. In an inserted object, these are the values that differ from the defaults.
    var values: [PropertyNumber: Value] = [:]
    /// The new targets of the changed to-one relationships.
    var targets: [PropertyNumber: EditTargetID] = [:]
    /// All members, in order, of the ordered relationships that the edit changed.
    var lists: [PropertyNumber: [ObjectID]] = [:]
    /// The changed members of unordered to-many relationships: `true` for an added member, `false` for a removed member.
    var differences: [PropertyNumber: [ObjectID: Bool]] = [:]

    var isEmpty: Bool {
        inserted == nil && deletion == nil && values.isEmpty && targets.isEmpty && lists.isEmpty && differences.isEmpty
    }

    func hasLinks(_ property: PropertyNumber) -> Bool {
        targets[property] != nil || lists[property] != nil || differences[property] != nil
    }
}

/// The object to which a to-one relationship leads; `nil` for no object.
struct EditTargetID: Sendable, Equatable {
    let id: ObjectID?

    init(_ id: ObjectID?) { self.id = id }
}

/// One property (attribute or relationship) of one object. All properties of a hierarchy have different numbers, so the number identifies
/// the property.
struct EditPlace: Hashable, Sendable, Comparable {
    let id: ObjectID
    let property: PropertyNumber

    init(_ id: ObjectID, _ property: PropertyNumber) { (self.id, self.property) = (id, property) }

    static func < (left: Self, right: Self) -> Bool { (left.id, left.property) < (right.id, right.property) }
}
