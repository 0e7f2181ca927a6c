import CambiumGraph
import CambiumModel

/// Reads for the edit's own use, which do not count as reads of the caller.
extension Edit {
    func isDeleted(_ id: ObjectID) -> Bool { overlay.deletedCount > 0 && overlay[id]?.deletion != nil }

    /// Whether the edit inserted an object and deleted it again.
    func isUnborn(_ id: ObjectID) -> Bool { id.isProvisional && isDeleted(id) }

    /// Returns the entity of an object, even if the edit deletes the object. Returns `nil` if there is no such object.
    package func knownEntity(of id: ObjectID) -> Entity? {
        if id.isProvisional { return overlay[id]?.inserted.flatMap(schema.entity) }
        return base.entity(of: id)
    }

    /// Returns the entity of an object, or `nil` if there is no such object.
    func liveEntity(of id: ObjectID) -> Entity? { isDeleted(id) ? nil : knownEntity(of: id) }

    /// Returns the entity of an object that a call names, so the caller learns that the object exists.
    func requiredEntity(of id: ObjectID) throws(CambiumError) -> Entity {
        trackRead(of: id)
        if let entity = liveEntity(of: id) { return entity }
        throw CambiumError(.notFound, "Object \(text(of: id)) does not exist in the edit. Check it with contains(_:) first.")
    }

    func text(of id: ObjectID) -> String { "\((knownEntity(of: id) ?? schema.entity(id.root))?.name ?? "?")/\(id.serialText)" }

    /// Returns the entity of this edit's schema that corresponds to an entity of another version of the schema. Returns `nil` if the edit's
    /// schema has no corresponding entity.
    func own(_ entity: Entity) -> Entity? {
        guard let found = schema.successor(of: entity) else { return nil }
        return found === entity || found.schemaName.isSame(as: entity.schemaName) ? found : nil
    }

    /// Returns the value of an attribute that the object's entity has.
    package func current(_ attribute: Attribute, of id: ObjectID) -> Value {
        overlay[id]?.values[attribute.number] ?? original(attribute, of: id)
    }

    /// Returns the value that an attribute would have without the changes of the edit: the value in the base graph, or the default in an
    /// inserted object.
    func original(_ attribute: Attribute, of id: ObjectID) -> Value {
        id.isProvisional ? (attribute.isDerived ? .null : attribute.defaultValue) : base[id, attribute] ?? .null
    }

    // MARK: Links

    /// Returns the relationship at the other end of a relationship's links, or `nil` if the schema names no inverse.
    func inverse(_ relationship: Relationship) -> Relationship? {
        relationship.inverse.flatMap { schema.relationship($0, ofRoot: relationship.destinationRoot) }
    }

    /// Returns the members that a relationship would have without the changes of the edit.
    func originalMembers(_ relationship: Relationship, of id: ObjectID) -> [ObjectID] {
        id.isProvisional ? [] : base.members(relationship, of: id) ?? []
    }

    /// Returns the members of a relationship, including those that the edit deletes. The members of an unordered relationship are in
    /// ascending order of their ids.
    func rawMembers(_ relationship: Relationship, of id: ObjectID) -> [ObjectID] {
        if let change = listChanges?[EditPlace(id, relationship.number)] { return change.members }
        guard let state = overlay[id] else { return originalMembers(relationship, of: id) }
        if let target = state.targets[relationship.number] { return target.id.map { [$0] } ?? [] }
        if let list = state.lists[relationship.number] { return list }
        let members = originalMembers(relationship, of: id)
        guard let difference = state.differences[relationship.number] else { return members }
        return (members.filter { difference[$0] == nil } + difference.filter(\.value).map(\.key)).sorted()
    }

    /// Returns the members of a relationship, without those that the edit deletes.
    package func currentMembers(_ relationship: Relationship, of id: ObjectID) -> [ObjectID] {
        let members = rawMembers(relationship, of: id)
        return overlay.deletedCount == 0 ? members : members.filter { !isDeleted($0) }
    }

    /// Returns whether the edit changes the target of a to-one relationship, or the members of an ordered relationship. Objects that the
    /// edit inserted and deleted again do not count, although the overlay still contains links to them. The deletion of a member of an
    /// ordered relationship does not count, because the deletion itself removes the member.
    func changesMembers(_ relationship: Relationship, of id: ObjectID) -> Bool {
        let original = originalMembers(relationship, of: id)
        if relationship.isOrdered { return currentMembers(relationship, of: id) != original.filter { !isDeleted($0) } }
        return rawMembers(relationship, of: id).filter { !isUnborn($0) } != original
    }

    /// Returns whether the edit states the target of a to-one relationship, or the members of an ordered relationship, also if they are
    /// those of the base. Links to objects that the edit inserted and deleted again do not count.
    func statesMembers(_ relationship: Relationship, of id: ObjectID) -> Bool {
        guard let state = overlay[id] else { return false }
        if let target = state.targets[relationship.number] {
            return target.id == originalMembers(relationship, of: id).first || changesMembers(relationship, of: id)
        }
        guard let list = state.lists[relationship.number] else { return false }
        return list == originalMembers(relationship, of: id) || changesMembers(relationship, of: id)
    }

    /// Returns whether two objects are linked, even if the edit deletes one of them. Complexity: O(1) expected. If the edit has changed an
    /// ordered relationship, and no batch in progress has changed it, O(members).
    func isRawLinked(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) -> Bool {
        if let change = listChanges?[EditPlace(id, relationship.number)] { return change.contains(target) }
        if let state = overlay[id] {
            if let known = state.targets[relationship.number] { return known.id == target }
            if let list = state.lists[relationship.number] { return list.contains(target) }
            if let isAdded = state.differences[relationship.number]?[target] { return isAdded }
        }
        return isOriginallyLinked(id, relationship, target)
    }

    /// Returns whether two objects are linked in the base graph, before the changes of the edit.
    func isOriginallyLinked(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) -> Bool {
        !id.isProvisional && !target.isProvisional && base.isLinked(id, relationship, target)
    }
}
