package import CambiumModel

/// Reads the objects of a draft, by id.
extension Draft {
    package borrowing func contains(_ id: ObjectID) -> Bool { place(of: id) != nil }

    /// Returns the concrete entity of an object, or `nil` if there is no such object.
    package borrowing func entity(of id: ObjectID) -> Entity? {
        guard let place = place(of: id) else { return nil }
        return entity(at: place)
    }

    /// Returns the value of an attribute. Returns `nil` if there is no such object, and null if the object's entity does not have the
    /// attribute.
    package borrowing func value(of attribute: Attribute, of id: ObjectID) -> Value? {
        guard let place = place(of: id) else { return nil }
        return DerivedNotes.pendingValue(self, of: attribute, at: place) ?? reader.value(of: layout.field(attribute), at: place)
    }

    /// Returns the ids that a relationship leads to. The ids are in the order of the relationship if it is ordered, and otherwise in
    /// ascending order. Returns `nil` if there is no such object, and an empty array if the object's entity does not have the relationship.
    package borrowing func members(_ relationship: Relationship, of id: ObjectID) -> [ObjectID]? {
        guard let place = place(of: id) else { return nil }
        return reader.memberIDs(layout.handle(relationship), of: place, layout)
    }

    package borrowing func memberCount(_ relationship: Relationship, of id: ObjectID) -> Int? {
        guard let place = place(of: id) else { return nil }
        let handle = layout.handle(relationship)
        return handle.isIn(place) ? reader.memberCount(handle.end, owner: place.row) : 0
    }

    /// Returns whether two objects are linked. Complexity: O(1) expected.
    package borrowing func isLinked(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) -> Bool {
        let handle = layout.handle(relationship)
        guard let owner = place(of: id), let row = place(of: target), handle.isIn(owner), handle.targetTable == Int(row.table)
        else { return false }
        return reader.isLinked(handle.end, owner: owner.row, target: row.row)
    }

    /// Returns the object whose only identity attribute has this text.
    package borrowing func find(_ entity: Entity, identity text: String) -> ObjectID? {
        guard let place = reader.find(entity, identity: text, layout) else { return nil }
        return id(place)
    }

    /// Returns the object with these identity values. The values are in the order of `entity.identity`.
    package borrowing func find(_ entity: Entity, identity values: [Value]) -> ObjectID? {
        guard let place = reader.find(entity, identity: values, layout) else { return nil }
        return id(place)
    }
}
