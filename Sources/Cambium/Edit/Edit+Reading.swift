import CambiumGraph
public import CambiumModel

/// Reading by id and by name, including the changes of the edit. The methods mirror the methods of `Graph`.
///
/// The store computes derived attributes at the commit. Before the commit, they have the values of the base graph, or null in inserted
/// objects.
extension Edit {
    /// The value of an attribute of an object. `.null` if the object's entity does not have the attribute; `nil` if there is no such
    /// object.
    ///
    /// Complexity: O(log serials + bytes of the value).
    package subscript(_ id: ObjectID, _ attribute: Attribute) -> Value? {
        guard let entity = entity(of: id) else { return nil }
        guard let own = entity.attribute(attribute.number), own.schemaName.isSame(as: attribute.schemaName), own.root == attribute.root
        else { return .null }
        return read(own, of: id)
    }

    /// The value of an attribute of an object.
    ///
    /// Throws `.notFound` if there is no object `id`, and `.unknownName` if the object's entity has no attribute of this name. Complexity:
    /// O(log serials + bytes of the value).
    public subscript(_ id: ObjectID, _ attribute: String) -> Value {
        get throws(CambiumError) { read(try requiredEntity(of: id).requiredAttribute(attribute), of: id) }
    }

    private func read(_ attribute: Attribute, of id: ObjectID) -> Value {
        noteRead(attribute, of: id)
        return current(attribute, of: id)
    }

    /// Returns the ids of the objects to which a relationship leads. Returns `nil` if there is no such object, and no ids if the object's
    /// entity does not have the relationship.
    package func members(_ relationship: Relationship, of id: ObjectID) -> [ObjectID]? {
        guard let entity = entity(of: id) else { return nil }
        guard let own = entity.relationship(relationship.number), own.root == relationship.root,
            own.schemaName.isSame(as: relationship.schemaName)
        else { return [] }
        return read(own, of: id)
    }

    /// Returns the ids of the objects to which a relationship leads, in the order of the relationship. If the relationship is unordered,
    /// the ids are in ascending order.
    ///
    /// Throws `.notFound` if there is no object `id`, and `.unknownName` if the object's entity has no relationship of this name.
    /// Complexity: O(members), and O(members x log members) for an unordered relationship that the edit changes.
    public func members(_ relationship: String, of id: ObjectID) throws(CambiumError) -> [ObjectID] {
        read(try requiredEntity(of: id).requiredRelationship(relationship), of: id)
    }

    private func read(_ relationship: Relationship, of id: ObjectID) -> [ObjectID] {
        noteRead(relationship, of: id)
        return currentMembers(relationship, of: id)
    }

    // MARK: Objects

    /// Returns whether the edit has an object with this id. Complexity: O(log serials).
    public func contains(_ id: ObjectID) -> Bool { entity(of: id) != nil }

    /// Returns the concrete entity of an object, or `nil` if there is no such object. Complexity: O(log serials).
    public func entity(of id: ObjectID) -> Entity? {
        noteRead(of: id)
        return liveEntity(of: id)
    }

    /// Returns the name of an object, such as `Note/42`, or `Note/+1` for the first object that the edit inserted. Returns `nil` if there
    /// is no such object. Complexity: O(log serials).
    public func name(of id: ObjectID) -> String? { contains(id) ? text(of: id) : nil }

    package func objects(of entity: Entity) -> [ObjectID] {
        guard let entity = own(entity) else { return [] }
        reads?.noteList(of: entity.number)
        let kept = base.objects(of: entity).filter { !isDeleted($0) }
        return kept + inserted(entity).sorted()
    }

    /// Returns the ids of the objects of an entity and its sub-entities. The objects of the base come first, by ascending id; the inserted
    /// objects follow, in the order in which they were inserted. Throws `.unknownName` if there is no such entity.
    ///
    /// Complexity: O(objects of the hierarchy + changed objects x log changed objects).
    public func objects(of entity: String) throws(CambiumError) -> [ObjectID] { objects(of: try schema.required(entity)) }

    package func count(of entity: Entity) -> Int {
        guard let entity = own(entity) else { return 0 }
        reads?.noteCount(of: entity.number)
        let deleted = overlay.objects.count { id, state in
            state.deletion != nil && !id.isProvisional && base.entity(of: id).map { entity.family.contains($0.number) } == true
        }
        return base.count(of: entity) - deleted + inserted(entity).count
    }

    /// Returns the number of objects of an entity and its sub-entities. Throws `.unknownName` if there is no such entity. Complexity:
    /// O(changed objects).
    public func count(of entity: String) throws(CambiumError) -> Int { count(of: try schema.required(entity)) }

    private func inserted(_ entity: Entity) -> [ObjectID] {
        overlay.objects.compactMap { id, state in
            state.deletion == nil && state.inserted.map(entity.family.contains) == true ? id : nil
        }
    }

    // MARK: Identity

    package func find(_ entity: Entity, identity values: [Value]) -> ObjectID? {
        guard let entity = own(entity), !values.isEmpty, values.count == entity.identity.count else { return nil }
        var wanted: [Value] = []
        for (value, attribute) in zip(values, entity.identity) {
            guard let form = StoredForm(value, type: attribute.type), let stored = Value(stored: form, type: attribute.type) else {
                return nil
            }
            wanted.append(stored.withoutNegativeZero)
        }
        reads?.note(EditReads.Identity(entity: entity.number, values: values))
        if let found = base.find(entity, identity: values), hasIdentity(found, entity, wanted) { return found }
        return identities.candidates(entity, wanted).filter { hasIdentity($0, entity, wanted) }.min()
    }

    /// Returns the id of the object with these identity values, or `nil` if there is no such object. The values are in the order of the
    /// entity's identity.
    ///
    /// If several objects have the values, returns one of them; a commit would refuse such duplicates. Throws `.unknownName` if there is no
    /// such entity, and `.invalidInput` if the values do not fit its identity. Complexity: O(1) expected.
    public func find(_ entity: String, identity values: [Value]) throws(CambiumError) -> ObjectID? {
        let entity = try schema.required(entity)
        if let found = find(entity, identity: values) { return found }
        try entity.checkIdentity(values)
        return nil
    }

    private func hasIdentity(_ id: ObjectID, _ entity: Entity, _ wanted: [Value]) -> Bool {
        guard let found = liveEntity(of: id), entity.family.contains(found.number) else { return false }
        return identity(of: id, entity) == wanted
    }

    /// Returns the identity values of an object in the form in which searches compare them: a negative zero is replaced with zero.
    func identity(of id: ObjectID, _ entity: Entity) -> [Value] { entity.identity.map { current($0, of: id).withoutNegativeZero } }
}
