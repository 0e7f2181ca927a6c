import CambiumGraph
import CambiumModel

/// The destination of an edit's changes: a transaction, or a new edit on the graph to which the edit is rebased.
protocol EditTarget: ~Copyable {
    var schema: Schema { get }

    /// Returns the entity of an object, or `nil` if there is no such object.
    borrowing func liveEntity(of id: ObjectID) -> Entity?
    /// Returns the members of a relationship that the object's entity has.
    borrowing func currentMembers(_ relationship: Relationship, of id: ObjectID) -> [ObjectID]
    /// Inserts an object that has a provisional id in an edit. Returns the id of the object in the target.
    mutating func insert(_ id: ObjectID, as entity: Entity, _ values: [(Attribute, Value)]) throws(CambiumError) -> ObjectID
    mutating func set(_ id: ObjectID, _ values: [(Attribute, Value)]) throws(CambiumError)
    mutating func delete(_ ids: [ObjectID]) throws(CambiumError)
    mutating func link(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID, at index: Int?) throws(CambiumError)
    mutating func unlink(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) throws(CambiumError)
    mutating func move(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID, to index: Int) throws(CambiumError)
    /// Puts the members of an ordered relationship into another order.
    mutating func reorder(_ id: ObjectID, _ relationship: Relationship, _ members: [ObjectID]) throws(CambiumError)
}

extension Edit: EditTarget {}

extension WriteTransaction: EditTarget {
    borrowing func liveEntity(of id: ObjectID) -> Entity? { draft.entity(of: id) }

    borrowing func currentMembers(_ relationship: Relationship, of id: ObjectID) -> [ObjectID] {
        draft.members(relationship, of: id) ?? []
    }

    mutating func insert(_ id: ObjectID, as entity: Entity, _ values: [(Attribute, Value)]) throws(CambiumError) -> ObjectID {
        try insert(entity, values)
    }

    mutating func reorder(_ id: ObjectID, _ relationship: Relationship, _ members: [ObjectID]) throws(CambiumError) {
        for step in MemberOrder.steps(from: currentMembers(relationship, of: id), to: members) {
            try move(id, relationship, step.member, to: step.index)
        }
    }
}

/// Finds the elements of the target's schema that correspond to elements of an edit's schema. The schema may have been migrated in the
/// meantime, but an element keeps its number, even if it is renamed. The edit and the target belong to one store, which never assigns a
/// number again. So the names are not compared: after several migrations, no trace of a former name may be left.
extension EditTarget where Self: ~Copyable {
    borrowing func own(_ entity: Entity) throws(CambiumError) -> Entity {
        if let found = schema.entity(entity.number), found.root == entity.root { return found }
        throw lost("entity '\(entity.name)'")
    }

    borrowing func own(_ attribute: Attribute, of entity: Entity) throws(CambiumError) -> Attribute {
        if let found = entity.attribute(attribute.number) { return found }
        throw lost("attribute '\(entity.name).\(attribute.name)'")
    }

    borrowing func own(_ relationship: Relationship, of entity: Entity) throws(CambiumError) -> Relationship {
        if let found = entity.relationship(relationship.number) { return found }
        throw lost("relationship '\(entity.name).\(relationship.name)'")
    }

    private borrowing func lost(_ element: String) -> CambiumError {
        CambiumError(
            .conflict, "A migration removed the \(element), which the edit uses. Undo the changes that use it, or make a new edit.")
    }
}

extension Schema {
    /// Whether the schema has a relationship of an earlier schema, in any entity of the hierarchy.
    func keeps(_ relationship: Relationship) -> Bool { self.relationship(relationship.number, ofRoot: relationship.root) != nil }
}
