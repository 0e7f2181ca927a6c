import CambiumGraph
public import CambiumModel

/// Reads values, members and objects by the names of the schema, including the changes of the transaction so far.
extension WriteTransaction {
    /// The value of an attribute of an object.
    ///
    /// Throws `.notFound` if there is no object `id`, and `.unknownName` if the object's entity has no attribute of this name.
    public subscript(_ id: ObjectID, _ attribute: String) -> Value {
        get throws(CambiumError) {
            let attribute = try entity(of: id).requiredAttribute(attribute)
            return draft.value(of: attribute, of: id) ?? .null
        }
    }

    /// Returns the ids of the objects to which a relationship of object `id` leads. The ids are in the order of the relationship if it
    /// is ordered, and otherwise in ascending order.
    ///
    /// Throws `.notFound` if there is no object `id`, and `.unknownName` if the object's entity has no relationship of this name.
    /// Complexity: O(members), and O(members x log members) for an unordered relationship.
    public borrowing func members(_ relationship: String, of id: ObjectID) throws(CambiumError) -> [ObjectID] {
        let relationship = try entity(of: id).requiredRelationship(relationship)
        return members(relationship, of: id) ?? []
    }

    /// Returns the id of the object with these identity values, or `nil` if there is no such object. Throws `.unknownName` if there is no
    /// such entity, and `.invalidInput` if the values do not fit the attributes of its identity. Complexity: O(1) expected.
    public borrowing func find(_ entity: String, identity values: [Value]) throws(CambiumError) -> ObjectID? {
        let entity = try schema.required(entity)
        if let found = find(entity, identity: values) { return found }
        try entity.checkIdentity(values)
        return nil
    }
}
