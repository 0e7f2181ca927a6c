import CambiumModel

/// The changes of an edit to one object: the values, targets and members that calls of the edit have stated. They may equal those of the
/// graph on which the edit builds (the base): if the store then changes them, the edit and the store differ.
///
/// If the edit deletes an object, the earlier changes of the object stay in this value. Reads of the edit omit deleted objects from the
/// members of relationships.
struct EditState: Sendable {
    /// The entity of an object that the edit inserted; `nil` for an object that existed before the edit.
    var inserted: EntityNumber?
    /// The number of the call that deleted the object; `nil` if the object is not deleted.
    var deletion: Int?
    /// The stated values of attributes. In an inserted object, these are the values that differ from the defaults.
    var values: [PropertyNumber: Value] = [:]
    /// The stated targets of to-one relationships.
    var targets: [PropertyNumber: EditTargetID] = [:]
    /// All members, in order, of the ordered relationships that the edit has written.
    var lists: [PropertyNumber: [ObjectID]] = [:]
    /// The stated members of unordered to-many relationships: `true` for an added member, `false` for a removed member.
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
package struct EditPlace: Hashable, Sendable, Comparable {
    let id: ObjectID
    let property: PropertyNumber

    package init(_ id: ObjectID, _ property: PropertyNumber) { (self.id, self.property) = (id, property) }

    package static func < (left: Self, right: Self) -> Bool { (left.id, left.property) < (right.id, right.property) }
}
