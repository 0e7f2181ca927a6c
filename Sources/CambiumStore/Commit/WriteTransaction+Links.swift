import CambiumGraph
public import CambiumModel

extension WriteTransaction {
    // MARK: Links

    /// Links two objects by a relationship of the schema. Throws as the public `link(_:_:_:at:)` does, and `.invalidInput` for a
    /// relationship that the object's entity does not have.
    package mutating func link(
        _ id: ObjectID, _ relationship: Relationship, _ target: ObjectID, at index: Int? = nil
    ) throws(CambiumError) {
        let ends = try draft.linkEnds(id, relationship, target)
        if let index {
            try ends.relationship.checkOrder()
            guard index >= 0 else { throw CambiumError(.invalidInput, "Index \(index) is negative. An index must be 0 or more.") }
        }
        if index == nil, draft.isLinked(ends) { return }
        try record(.link(id, ends.relationship.number, target: target, index: index))
    }

    /// Links two objects. A to-one relationship loses its previous target. In an ordered relationship, the target is inserted at `index`,
    /// or at the end if `index` is `nil`. If the objects are already linked, the target moves to `index`; without an `index`, nothing
    /// changes.
    ///
    /// Throws `.notFound` for a missing object, and `.unknownName` for a relationship that the object's entity does not have. Throws
    /// `.invalidInput` for a target that the relationship cannot hold, and for an index that is negative or greater than the number of
    /// members. Throws `.limitExceeded` if the graph is full. After an error, nothing is changed. Complexity: O(1) expected, or O(log
    /// members) for an ordered relationship.
    public mutating func link(_ id: ObjectID, _ relationship: String, _ target: ObjectID, at index: Int? = nil)
        throws(CambiumError)
    {
        try link(id, try entity(of: id).requiredRelationship(relationship), target, at: index)
    }

    /// Removes a link by a relationship of the schema. Throws as `link(_:_:_:at:)` does.
    package mutating func unlink(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) throws(CambiumError) {
        let ends = try draft.linkEnds(id, relationship, target)
        if draft.isLinked(ends) { try record(.unlink(id, ends.relationship.number, target: target)) }
    }

    /// Removes a link. Unlinking objects that are not linked does not count as a change. Throws as `link(_:_:_:at:)` does.
    public mutating func unlink(_ id: ObjectID, _ relationship: String, _ target: ObjectID) throws(CambiumError) {
        try unlink(id, try entity(of: id).requiredRelationship(relationship), target)
    }

    /// Moves a member of an ordered relationship of the schema. Throws as the public `move(_:_:_:to:)` does.
    package mutating func move(
        _ id: ObjectID, _ relationship: Relationship, _ target: ObjectID, to index: Int
    ) throws(CambiumError) {
        let ends = try draft.linkEnds(id, relationship, target)
        try ends.relationship.checkMove(to: index, count: draft.memberCount(ends))
        try record(.move(id, ends.relationship.number, target: target, index: index))
    }

    /// Moves a member of an ordered relationship. `index` is the member's index after the move.
    ///
    /// Throws as `link(_:_:_:at:)` does. Also throws `.notFound` for a target that is not a member.
    public mutating func move(_ id: ObjectID, _ relationship: String, _ target: ObjectID, to index: Int)
        throws(CambiumError)
    {
        try move(id, try entity(of: id).requiredRelationship(relationship), target, to: index)
    }
}
