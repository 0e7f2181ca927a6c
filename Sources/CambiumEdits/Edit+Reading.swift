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
        trackRead(attribute, of: id)
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
        trackRead(relationship, of: id)
        return currentMembers(relationship, of: id)
    }

    // MARK: Objects

    /// Returns whether the edit has an object with this id. Complexity: O(log serials).
    public func contains(_ id: ObjectID) -> Bool { entity(of: id) != nil }

    /// Returns the concrete entity of an object, or `nil` if there is no such object. Complexity: O(log serials).
    public func entity(of id: ObjectID) -> Entity? {
        trackRead(of: id)
        return liveEntity(of: id)
    }

    /// Returns the name of an object, such as `Note/42`, or `Note/+1` for the first object that the edit inserted. Returns `nil` if there
    /// is no such object. Complexity: O(log serials).
    public func name(of id: ObjectID) -> String? { contains(id) ? text(of: id) : nil }

    package func objects(of entity: Entity) -> [ObjectID] {
        guard let entity = own(entity) else { return [] }
        reads?.trackList(of: entity.number)
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
        reads?.trackCount(of: entity.number)
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
        guard let entity = own(entity), !values.isEmpty, values.count == entity.identityValues.count else { return nil }
        return find(entity, values[...])
    }

    /// Finds an object by the values that state its identity. The identities of a schema do not depend on themselves, so the
    /// recursion ends.
    private func find(_ entity: Entity, _ values: ArraySlice<Value>) -> ObjectID? {
        reads?.track(EditReads.Identity(entity: entity.number, values: Array(values)))
        return schema.identityKey(entity, values, target: target).flatMap { find(entity, key: $0) }
    }

    private func target(_ destination: Entity, _ values: ArraySlice<Value>) -> ObjectID? {
        if !destination.identity.isEmpty { return find(destination, values) }
        guard case .string(let text)? = values.first, let (id, _) = schema.id(text), id.root == destination.root else { return nil }
        return liveEntity(of: id) == nil ? nil : id
    }

    /// Returns the object whose identity has this key, as `find(_:key:)` does, and records the search as a read of the caller.
    package func foundByIdentity(_ entity: Entity, _ key: [IdentityKeyPart]) -> ObjectID? {
        if let values = identityValues(of: key, entity) { reads?.track(EditReads.Identity(entity: entity.number, values: values)) }
        return find(entity, key: key)
    }

    /// Returns the values that state an identity; `nil` if one of them is not known.
    private func identityValues(of key: [IdentityKeyPart], _ entity: Entity) -> [Value]? {
        var values: [Value] = []
        for (part, component) in zip(key, entity.identity) {
            switch part {
            case .value(let value): values.append(value)
            case .object(let id):
                guard let target = liveEntity(of: id) else { return nil }
                if case .relationship(let relationship) = component,
                    let destination = schema.entity(relationship.destination), !destination.identity.isEmpty
                {
                    guard let inner = identityValues(of: identity(of: id, destination), destination) else { return nil }
                    values += inner
                } else {
                    values.append(.string(schema.text(of: id, entity: target)))
                }
            }
        }
        return values
    }

    /// Returns the object whose identity has this key: a part for each component, in the order of `entity.identity`.
    package func find(_ entity: Entity, key: [IdentityKeyPart]) -> ObjectID? {
        guard let entity = own(entity), !key.isEmpty, key.count == entity.identity.count else { return nil }
        var wanted: [IdentityKeyPart] = []
        for (part, component) in zip(key, entity.identity) {
            switch (part, component) {
            case (.value(let value), .attribute(let attribute)):
                guard let form = StoredForm(value, type: attribute.type), let stored = Value(stored: form, type: attribute.type) else {
                    return nil
                }
                wanted.append(.value(stored.withoutNegativeZero))
            case (.object, .relationship): wanted.append(part)
            default: return nil
            }
        }
        if let found = base.find(entity, key: key), hasIdentity(found, entity, wanted) { return found }
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

    private func hasIdentity(_ id: ObjectID, _ entity: Entity, _ wanted: [IdentityKeyPart]) -> Bool {
        guard let found = liveEntity(of: id), entity.family.contains(found.number) else { return false }
        return identity(of: id, entity) == wanted
    }

    /// Returns the key of an object's identity in the form in which searches compare it: a negative zero is replaced with zero. The part of
    /// a relationship without a target is null.
    func identity(of id: ObjectID, _ entity: Entity) -> [IdentityKeyPart] {
        entity.identity.map { component in
            switch component {
            case .attribute(let attribute): .value(current(attribute, of: id).withoutNegativeZero)
            case .relationship(let relationship):
                currentMembers(relationship, of: id).first.map { .object($0) } ?? .value(.null)
            }
        }
    }
}
