public import CambiumModel

/// What a graph under way holds, by id.
extension Draft {
    public borrowing func contains(_ id: ObjectID) -> Bool { place(of: id) != nil }

    /// The concrete entity of an object; nil where there is none.
    public borrowing func entity(of id: ObjectID) -> Entity? {
        guard let place = place(of: id) else { return nil }
        return entity(at: place)
    }

    /// The value of an attribute; nil where there is no such object.
    public borrowing func value(of attribute: Attribute, of id: ObjectID) -> Value? {
        guard let place = place(of: id) else { return nil }
        return reader.value(of: layout.field(attribute), at: place)
    }

    /// Whether an attribute of an object's entity has this value; false where the value is not of the attribute's type, which
    /// applying it says.
    package borrowing func holds(_ value: Value, _ attribute: Attribute, at place: ObjectPlace) -> Bool {
        let table = layout.tables[Int(place.table)]
        let slot = table.slot(of: attribute.number)
        let isEqual = try? attribute.withCell(of: value) {
            reader.rows(table.index).equals(place.row, slot, table.columns[slot], $0)
        }
        return isEqual == true
    }

    /// The ids that a relationship leads to: in order where it is ordered, else ascending.
    public borrowing func members(_ relationship: Relationship, of id: ObjectID) -> [ObjectID]? {
        guard let place = place(of: id) else { return nil }
        return reader.memberIDs(layout.handle(relationship), of: place, layout)
    }

    public borrowing func memberCount(_ relationship: Relationship, of id: ObjectID) -> Int? {
        guard let place = place(of: id) else { return nil }
        return layout.own(relationship).map { reader.memberCount(layout.end($0), owner: place.row) } ?? 0
    }

    /// Whether two objects are linked. Complexity: O(1) expected.
    public borrowing func isLinked(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) -> Bool {
        guard let owner = place(of: id), let row = place(of: target), let relationship = layout.own(relationship) else { return false }
        return reader.isLinked(layout.end(relationship), owner: owner.row, target: row.row)
    }

    /// The object whose one identity attribute has this text.
    public borrowing func find(_ entity: Entity, identity text: String) -> ObjectID? {
        guard let place = reader.find(entity, identity: text, layout) else { return nil }
        return id(place)
    }

    /// The object with these identity values, in the order of `entity.identity`.
    public borrowing func find(_ entity: Entity, identity values: [Value]) -> ObjectID? {
        guard let place = reader.find(entity, identity: values, layout) else { return nil }
        return id(place)
    }
}
