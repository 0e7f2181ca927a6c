import CambiumGraph
public import CambiumModel

/// Inserting, changing and deleting objects. The methods mirror the methods of `WriteTransaction`, and throw the same errors.
///
/// Each call immediately checks names, types and the rules of single values. Rules that concern the whole graph are checked at the commit:
/// mandatory properties, uniqueness, numbers of members, and deletions that a `deny` rule forbids.
extension Edit {
    package mutating func insert(_ entity: Entity, _ values: [(Attribute, Value)] = []) throws(CambiumError) -> ObjectID {
        let entity = try schema.insertable(entity)
        let checked = try check(values, entity)
        let id = try nextID(entity.root)
        insert(id, entity, checked)
        return id
    }

    /// Inserts an object, and links it. Returns its provisional id, which is valid in this edit and its copies. The commit returns the
    /// permanent id. Attributes without a value get their defaults.
    ///
    /// ```swift
    /// let item = try edit.insert("Item", ["name": "tickets"], links: ["note": [note], "tags": [red, urgent]])
    /// ```
    ///
    /// Throws `.unknownName` for a name that the schema does not have. Throws `.invalidInput` for an abstract entity, for a value of the
    /// wrong type, and for two targets of a to-one relationship. Throws `.ruleViolated` for a value that the attribute does not allow.
    /// Throws as `link(_:_:_:at:)` does for an object that a relationship cannot hold. After an error, nothing is changed.
    @discardableResult
    public mutating func insert(
        _ entity: String, _ values: KeyValuePairs<String, Value> = [:], links: KeyValuePairs<String, [ObjectID]> = [:]
    ) throws(CambiumError) -> ObjectID {
        let entity = try schema.insertable(try schema.required(entity))
        var resolved: [(Attribute, Value)] = []
        for (name, value) in values { resolved.append((try entity.requiredAttribute(name), value)) }
        let targets = try entity.linkTargets(links) { (target, relationship) throws(CambiumError) in
            try check(target, for: relationship, of: "the new '\(entity.name)'")
        }
        let checked = try check(resolved, entity)
        let id = try nextID(entity.root)
        batch { edit in
            edit.insert(id, entity, checked)
            for (relationship, target) in targets where !edit.isRawLinked(id, relationship, target) {
                edit.connect(id, relationship, target, at: nil)
            }
        }
        return id
    }

    /// Inserts an object with an id that no other object of the edit has.
    mutating func insert(_ id: ObjectID, _ entity: Entity, _ values: [(Attribute, Value)]) {
        group { edit in
            edit.write(.insertion(id, entity.number))
            for (attribute, value) in values { edit.assign(value, to: attribute, of: id) }
        }
    }

    /// Inserts an object with the id that it has in another edit, which inserted it earlier. Throws as `insert(_:_:links:)` does.
    mutating func insert(_ id: ObjectID, as entity: Entity, _ values: [(Attribute, Value)]) throws(CambiumError) -> ObjectID {
        insert(id, try schema.insertable(entity), try check(values, entity))
        return id
    }

    // MARK: Values

    package mutating func set(_ id: ObjectID, _ attribute: Attribute, to value: Value) throws(CambiumError) {
        try set(id, [(attribute, value)])
    }

    /// Changes an attribute. Setting the current value does not count as a change of the edit. But it states the value, so another value
    /// that the store sets is a conflict.
    ///
    /// Throws `.notFound` for a missing object. Throws `.unknownName` for an attribute that the object's entity does not have, and
    /// `.invalidInput` for a value of the wrong type. Throws `.ruleViolated` for a value that the attribute does not allow. After an error,
    /// nothing is changed. Complexity: O(bytes of the value).
    public mutating func set(_ id: ObjectID, _ attribute: String, to value: Value) throws(CambiumError) {
        try set(id, try requiredEntity(of: id).requiredAttribute(attribute), to: value)
    }

    /// Changes several attributes of an object in one step. Throws as `set(_:_:to:)` does. After an error, no attribute is changed.
    package mutating func set(_ id: ObjectID, _ values: [(Attribute, Value)]) throws(CambiumError) {
        let checked = try check(values, try requiredEntity(of: id))
        group { edit in for (attribute, value) in checked { edit.assign(value, to: attribute, of: id) } }
    }

    private mutating func assign(_ value: Value, to attribute: Attribute, of id: ObjectID) {
        let before = overlay[id]?.values[attribute.number]
        // The defaults of an inserted object are not stored.
        let after = id.isProvisional && value == original(attribute, of: id) ? nil : value
        if before == after { return }
        let isChange = current(attribute, of: id) != value
        write(.value(EditPlace(id, attribute.number), before: before, after: after), isChange: isChange)
    }

    /// Checks values, and converts each to the form in which a graph would return it. Returns the values with the attributes of this edit's
    /// schema.
    private func check(_ values: [(Attribute, Value)], _ entity: Entity) throws(CambiumError) -> [(Attribute, Value)] {
        var checked: [(Attribute, Value)] = []
        for (attribute, value) in values { checked.append(try check(attribute, value, entity)) }
        return checked
    }

    private func check(_ attribute: Attribute, _ value: Value, _ entity: Entity) throws(CambiumError) -> (Attribute, Value) {
        guard let own = entity.attribute(attribute.number), own == attribute else {
            throw CambiumError(
                .invalidInput, "'\(entity.name)' has no attribute '\(attribute.name)'. Look the attribute up in the edit's schema.")
        }
        if let violation = own.violation(by: value) {
            throw CambiumError(.ruleViolated, "'\(entity.name).\(attribute.name)' \(violation). Pass another value.")
        }
        if own.isDerived { throw own.refusal(in: entity) }
        return (own, try own.stored(value))
    }

    // MARK: Deleting

    /// Deletes objects, and the objects that their `cascade` rules reach in this edit. The relationships of other objects no longer contain
    /// the deleted objects.
    ///
    /// A `deny` rule is checked at the commit. At that time, cascades also follow the links that other writers have made since the base.
    ///
    /// Throws `.notFound` for a missing object. After an error, nothing is changed. Complexity: O(objects that are deleted and their
    /// links).
    public mutating func delete(_ ids: ObjectID...) throws(CambiumError) { try delete(ids) }

    /// Deletes an array of objects, as `delete(_:)` with single objects does. Throws the same errors. Does nothing if the array is empty.
    public mutating func delete(_ ids: [ObjectID]) throws(CambiumError) {
        for id in ids { _ = try requiredEntity(of: id) }
        if ids.isEmpty { return }
        let (dying, number) = (closure(of: ids), nextDeletion())
        if reads != nil { for id in dying where id.isProvisional { trackReads(atOtherEndsOf: id) } }
        group { edit in for id in dying { edit.write(.deletion(id, number)) } }
    }

    /// Records that the deletion of an inserted object depends on the relationships that lead to it. The edit keeps no trace of its links,
    /// but each of them may have replaced another one.
    private func trackReads(atOtherEndsOf id: ObjectID) {
        for relationship in liveEntity(of: id)?.relationships ?? [] {
            guard let inverse = inverse(relationship), let reads else { continue }
            for member in rawMembers(relationship, of: id) where !member.isProvisional { reads.track(EditPlace(member, inverse.number)) }
        }
    }

    /// Returns the given objects and all objects that cascade rules reach from them.
    private func closure(of ids: [ObjectID]) -> [ObjectID] {
        var seen = Set<ObjectID>()
        var found: [ObjectID] = []
        for id in ids where seen.insert(id).inserted { found.append(id) }
        var done = 0
        while done < found.count {
            let id = found[done]
            done += 1
            for relationship in liveEntity(of: id)?.relationships ?? [] where relationship.deleteRule == .cascade {
                for member in currentMembers(relationship, of: id) where seen.insert(member).inserted { found.append(member) }
            }
        }
        return found
    }
}
