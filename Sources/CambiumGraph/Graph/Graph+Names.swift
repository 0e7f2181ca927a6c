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

    /// Returns the id of the object with these identity values, or `nil` if there is no such object. Throws `.unknownName` if there is no
    /// such entity. Complexity: O(1) expected.
    public func find(_ entity: String, identity values: [Value]) throws(CambiumError) -> ObjectID? {
        find(try schema.required(entity), identity: values)
    }

    /// Returns the name of an object: its entity and its serial, such as `Note/42`. Returns `nil` if there is no such object. Complexity:
    /// O(log serials).
    public func name(of id: ObjectID) -> String? { entity(of: id).map { schema.text(of: id, entity: $0) } }

    func required(_ id: ObjectID) throws(CambiumError) -> ObjectPlace {
        guard let place = place(of: id) else { throw schema.missingObject(id) }
        return place
    }
}
