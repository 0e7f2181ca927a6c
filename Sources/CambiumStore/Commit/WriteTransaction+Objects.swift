import CambiumGraph
public import CambiumModel

/// Inserting, changing and deleting objects.
extension WriteTransaction {
    /// Inserts an object of an entity of the schema. Throws as `insert(_:_:links:)` does, and `.invalidInput` for an entity or an attribute
    /// that the schema does not have. After an error, nothing is changed.
    package mutating func insert(_ entity: Entity, _ values: [(Attribute, Value)] = []) throws(CambiumError) -> ObjectID {
        let entity = try schema.insertable(entity)
        for (attribute, value) in values { _ = try check(attribute, value, entity) }
        let serial = draft.nextSerial(of: entity.root)
        guard serial <= ObjectID.serialMax else {
            throw CambiumError(
                .limitExceeded,
                "The hierarchy of '\(entity.name)' has used all of its serials, the numbers in object ids. Create a new store, and import "
                    + "the objects into it.")
        }
        let id = ObjectID(root: entity.root, serial: serial)
        try record(.insert(id, entity: entity.number, values.map { Assignment($0.0.number, $0.1) }))
        return id
    }

    /// Inserts an object, and links it. Attributes without a value get their defaults.
    ///
    /// ```swift
    /// let item = try transaction.insert("Item", ["name": "tickets"], links: ["note": [note], "tags": [red, urgent]])
    /// ```
    ///
    /// Throws `.unknownName` for a name that the schema does not have. Throws `.invalidInput` for an abstract entity, a derived attribute,
    /// or a value of the wrong type, and `.ruleViolated` for a value that the attribute does not allow. Throws `.limitExceeded` if the
    /// graph is full, or if the hierarchy has used all serials (the numbers in object ids). Throws as `link(_:_:_:at:)` does for an object
    /// that a relationship cannot hold. Throws `.invalidInput` for two targets of a to-one relationship. After one of these errors, nothing
    /// is changed. If the graph becomes full between the insertion and a link, the call throws `.limitExceeded`, and the transaction fails.
    /// Each later call then throws the error, and so does the commit. Complexity: O(bytes of the values + links).
    @discardableResult
    public mutating func insert(
        _ entity: String, _ values: KeyValuePairs<String, Value> = [:], links: KeyValuePairs<String, [ObjectID]> = [:]
    ) throws(CambiumError) -> ObjectID {
        let entity = try schema.required(entity)
        var resolved: [(Attribute, Value)] = []
        for (name, value) in values { resolved.append((try entity.requiredAttribute(name), value)) }
        if links.isEmpty { return try insert(entity, resolved) }
        let targets = try draft.linkTargets(links, of: entity)
        let id = try insert(entity, resolved)
        do throws(CambiumError) {
            for (relationship, target) in targets { try link(id, relationship, target) }
        } catch {
            // The targets were checked, so only a lack of pages or of disk space can prevent a link. The object was already inserted.
            partialChange = error
            throw error
        }
        return id
    }

    /// Changes an attribute of the schema. Throws as the public `set(_:_:to:)` does, and `.invalidInput` for an attribute that the object's
    /// entity does not have.
    package mutating func set(_ id: ObjectID, _ attribute: Attribute, to value: Value) throws(CambiumError) {
        try set(id, [(attribute, value)])
    }

    /// Changes an attribute. Setting the current value does not count as a change.
    ///
    /// Throws `.notFound` for a missing object, and `.unknownName` for an attribute that the object's entity does not have. Throws
    /// `.invalidInput` for a derived attribute, and for a value of the wrong type. Throws `.ruleViolated` for a value that the attribute
    /// does not allow, and `.limitExceeded` if the graph is full. After an error, nothing is changed. Complexity: O(bytes of the value).
    public mutating func set(_ id: ObjectID, _ attribute: String, to value: Value) throws(CambiumError) {
        try set(id, try entity(of: id).requiredAttribute(attribute), to: value)
    }

    /// Changes several attributes of an object in one op. Throws as `set(_:_:to:)` does; in that case, no attribute is changed. Complexity:
    /// O(bytes of the values).
    package mutating func set(_ id: ObjectID, _ values: [(Attribute, Value)]) throws(CambiumError) {
        guard let place = draft.place(of: id), let entity = draft.entity(at: place) else { throw schema.missingObject(id) }
        var areCurrent = true
        for (attribute, value) in values where try check(attribute, value, entity) !== attribute { areCurrent = false }
        try checkUsable()
        var changed = draft.takeAssignments()
        defer { draft.recycle(&changed) }
        let before = trackedValues(id, values)
        if areCurrent {
            try draft.set(values, at: place, &changed)
        } else {
            try draft.set(try current(values, entity), at: place, &changed)
        }
        if changed.isEmpty { return }
        track(before)
        if recording == .ops { ops.append(.set(id, changed)) } else { hookedObjects.append(id) }
    }

    /// Returns the values, with the attributes of the current schema in place of the caller's attributes.
    private func current(_ values: [(Attribute, Value)], _ entity: Entity) throws(CambiumError) -> [(Attribute, Value)] {
        var current: [(Attribute, Value)] = []
        for (attribute, value) in values { current.append((try check(attribute, value, entity), value)) }
        return current
    }

    /// Deletes objects, and the objects that their delete rules reach.
    ///
    /// Throws `.notFound` for a missing object, and `.limitExceeded` if the graph may have too few pages for the deletion. After an error,
    /// nothing is changed. Complexity: O(deleted objects and their links).
    public mutating func delete(_ ids: ObjectID...) throws(CambiumError) { try delete(ids) }

    /// Deletes an array of objects, as `delete(_:)` with single objects does. Throws the same errors. Does nothing if the array is empty.
    public mutating func delete(_ ids: [ObjectID]) throws(CambiumError) {
        for id in ids { _ = try entity(of: id) }
        if !ids.isEmpty { try record(.delete(ids)) }
    }

    /// Checks a value for an attribute, and returns the attribute of the current schema with the same number.
    private borrowing func check(_ attribute: Attribute, _ value: Value, _ entity: Entity) throws(CambiumError) -> Attribute {
        // The caller's attribute may belong to an equal schema, such as the schema that the store was created with, or to an earlier
        // schema.
        guard let own = entity.attribute(attribute.number),
            own === attribute || (own.name == attribute.name && own.root == attribute.root)
        else {
            throw CambiumError(
                .invalidInput, "'\(entity.name)' has no attribute '\(attribute.name)'. Look the attribute up in the newest graph's schema.")
        }
        if let violation = own.violation(by: value) {
            throw CambiumError(.ruleViolated, "'\(entity.name).\(attribute.name)' \(violation). Pass another value.")
        }
        return own
    }
}
