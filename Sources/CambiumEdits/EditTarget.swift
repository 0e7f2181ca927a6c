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
    /// Puts the members of an ordered relationship into the order of `members`.
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

extension EditTarget where Self: ~Copyable {
    /// Returns the entity of the target's schema that corresponds to an entity of an edit's schema. Throws `.conflict` if a migration
    /// removed the entity.
    ///
    /// The schema may have been migrated in the meantime, but an entity keeps its number, even if a migration renames it. The edit and the
    /// target belong to one store, and a store never reuses a number. So the names are not compared: after several migrations, the target's
    /// schema may no longer contain an entity's former name.
    borrowing func own(_ entity: Entity) throws(CambiumError) -> Entity {
        if let found = schema.successor(of: entity) { return found }
        throw CambiumError(
            .conflict,
            "The edit inserts an object of the entity '\(entity.name)', but a migration removed this entity. "
                + "Undo the insertion, or make a new edit.")
    }
}
