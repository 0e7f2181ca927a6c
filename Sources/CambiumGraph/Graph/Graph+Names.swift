public import CambiumModel

/// Reading by id and by name.
///
/// ```swift
/// let note = try graph.find("Note", identity: [1])
/// if let note { print(try graph[note, "title"], try graph.members("items", of: note).count) }
/// ```
extension Graph {
    /// The value of an attribute of an object. Null if the object's entity does not have the attribute.
    ///
    /// `nil` if there is no such object. Complexity: O(log serials + bytes of the value).
    public subscript(_ id: ObjectID, _ attribute: Attribute) -> Value? { value(of: attribute, of: id) }

    /// The value of an attribute of an object.
    ///
    /// Throws `.notFound` if there is no such object, and `.unknownName` if its entity has no attribute of this name. Complexity: O(log
    /// serials + bytes of the value).
    public subscript(_ id: ObjectID, _ attribute: String) -> Value {
        get throws(CambiumError) {
            let place = try required(id)
            return value(of: field(try entity(of: place).requiredAttribute(attribute)), at: place)
        }
    }

    /// Returns the ids of the objects to which a relationship leads. The ids are in the order of the relationship if it is
    /// ordered, and otherwise in ascending order.
    ///
    /// Throws `.notFound` if there is no such object, and `.unknownName` if its entity has no relationship of this name.
    /// Complexity: O(members), and O(members x log members) for an unordered relationship.
    public func members(_ relationship: String, of id: ObjectID) throws(CambiumError) -> [ObjectID] {
        let place = try required(id)
        return memberIDs(end(try entity(of: place).requiredRelationship(relationship)), of: place)
    }

    /// Returns the ids of the objects of an entity and its sub-entities, in ascending order. Throws `.unknownName` if there is no such
    /// entity. Complexity: O(1); a loop over all ids takes O(serials of the hierarchy).
    public func objects(of entity: String) throws(CambiumError) -> ObjectSequence { objects(of: try schema.required(entity)) }

    /// Returns the number of objects of an entity and its sub-entities. Throws `.unknownName` if there is no such entity. Complexity:
    /// O(sub-entities).
    public func count(of entity: String) throws(CambiumError) -> Int { count(of: try schema.required(entity)) }

    /// Returns the id of the object with these identity values, or `nil` if there is no such object. The values are in the order of the
    /// entity's identity. A relationship of the identity has the values of its target's identity: `find("Issue", identity: ["CORE", 17])`.
    /// If the destination has no identity, it has one value, the id of the target as a text.
    ///
    /// Throws `.unknownName` if there is no such entity, and `.invalidInput` if the values do not fit its identity. Complexity: O(values)
    /// expected.
    public func find(_ entity: String, identity values: [Value]) throws(CambiumError) -> ObjectID? {
        let entity = try schema.required(entity)
        if let found = find(entity, identity: values) { return found }
        try entity.checkIdentity(values)
        return nil
    }

    /// Returns the name of an object: its entity and its serial, such as `Note/42`. Returns `nil` if there is no such object. Complexity:
    /// O(log serials).
    public func name(of id: ObjectID) -> String? { entity(of: id).map { schema.text(of: id, entity: $0) } }

    /// Returns the name of an object, followed by the values of its identity: `Issue/65 (CORE-17)`. If its entity has no identity, or if a
    /// value is null, returns only the name. Returns `nil` if there is no such object. Complexity: O(log serials + bytes of the values).
    package func fullName(of id: ObjectID) -> String? {
        name(of: id).map { name in identityText(of: id).map { "\(name) (\($0))" } ?? name }
    }

    /// Returns the values of an object's identity, as in `fullName(of:)`, or `nil` if `fullName(of:)` would omit them.
    package func identityText(of id: ObjectID) -> String? {
        place(of: id).flatMap { reader.identityText(of: $0, entity(of: $0), layout) }
    }

    /// Returns the values that state an object's identity, in the order of the `identityValues` of its entity, or `nil` if there is no such
    /// object.
    package func identityValues(of id: ObjectID) -> [Value]? {
        place(of: id).map { reader.identityValues(of: $0, entity(of: $0), layout) }
    }

    func required(_ id: ObjectID) throws(CambiumError) -> ObjectPlace {
        guard let place = place(of: id) else { throw schema.missingObject(id) }
        return place
    }
}

extension Reader {
    /// Returns the values of an object's identity for messages, such as `CORE-17`. Returns `nil` if its entity has no identity, or if a
    /// value is null. Long values are cut.
    func identityText(of place: ObjectPlace, _ entity: Entity, _ layout: GraphLayout) -> String? {
        let values = identityValues(of: place, entity, layout)
        if values.isEmpty || values.contains(.null) { return nil }
        return values.map(\.text).joined(separator: "-").excerpt
    }

    /// Returns the identity of the object with a name such as `Note/42`, as the method above does.
    func identityText(ofObject name: String, _ layout: GraphLayout) -> String? {
        guard let id = layout.schema.id(name)?.id, let table = layout.table(of: id.root), let row = row(table.index, serial: id.serial),
            let entity = layout.schema.entity(rows(table.index).entity(row, table))
        else { return nil }
        return identityText(of: ObjectPlace(table: table.index, row: row), entity, layout)
    }
}
