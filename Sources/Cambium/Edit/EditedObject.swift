public import CambiumGraph
public import CambiumModel

/// The changes of an edit to one object, compared with the edit's base.
///
/// ```swift
/// for object in edit.changes { print(object.kind, edit.name(of: object.id) ?? "", object.attributes.count) }
/// ```
public struct EditedObject: Sendable {
    public let id: ObjectID
    public let entity: Entity
    public let kind: ObjectChange.Kind
    /// The attributes that differ, in the order of the schema. For an inserted or deleted object, the attributes with a value.
    public let attributes: [AttributeChange]
    /// The relationships that differ, in the order of the schema. For an inserted or deleted object, the relationships with members.
    public let relationships: [EditedRelationship]
}

/// The members of a relationship of one object, before and after an edit.
///
/// ```swift
/// for object in edit.changes {
///     for change in object.relationships { print(change.relationship.name, change.added, change.removed) }
/// }
/// ```
public struct EditedRelationship: Sendable {
    public let relationship: Relationship
    /// All members in the base: in order if the relationship is ordered, otherwise ascending.
    public let before: [ObjectID]
    /// All members in the edit: in order if the relationship is ordered, otherwise ascending.
    public let after: [ObjectID]

    /// The members that only the edit has, in the order of `after`. Complexity: O(members).
    public var added: [ObjectID] {
        let known = Set(before)
        return after.filter { !known.contains($0) }
    }

    /// The members that only the base has, in the order of `before`. Complexity: O(members).
    public var removed: [ObjectID] {
        let known = Set(after)
        return before.filter { !known.contains($0) }
    }
}

extension Edit {
    /// The objects that the edit inserts, deletes or changes, by ascending id. The inserted objects of each hierarchy come last.
    ///
    /// If a relationship has an inverse, a link is reported in both of the linked objects. An object that the edit has inserted and deleted
    /// again is not reported. Complexity: O(changed objects x their properties + members of the changed relationships).
    public var changes: [EditedObject] {
        var ids = Set(overlay.objects.keys)
        // A deleted object is no longer a member of the objects that were linked to it, so these objects change, too.
        for (id, state) in overlay.objects where state.deletion != nil {
            for relationship in knownEntity(of: id)?.relationships ?? [] where relationship.inverse != nil {
                ids.formUnion(originalMembers(relationship, of: id))
            }
        }
        return ids.sorted().compactMap(changes(of:))
    }

    private func changes(of id: ObjectID) -> EditedObject? {
        if isUnborn(id) { return nil }
        guard let entity = knownEntity(of: id) else { return nil }
        let kind: ObjectChange.Kind = id.isProvisional ? .inserted : isDeleted(id) ? .deleted : .changed
        let attributes = entity.attributes.compactMap { change(of: $0, of: id, kind) }
        let relationships = entity.relationships.compactMap { change(of: $0, of: id, kind) }
        if kind == .changed, attributes.isEmpty, relationships.isEmpty { return nil }
        return EditedObject(id: id, entity: entity, kind: kind, attributes: attributes, relationships: relationships)
    }

    private func change(of attribute: Attribute, of id: ObjectID, _ kind: ObjectChange.Kind) -> AttributeChange? {
        if kind == .changed, overlay[id]?.values[attribute.number] == nil { return nil }
        let before = kind == .inserted ? .null : original(attribute, of: id)
        let after = kind == .deleted ? .null : current(attribute, of: id)
        return before == after ? nil : AttributeChange(attribute: attribute, before: before, after: after)
    }

    private func change(of relationship: Relationship, of id: ObjectID, _ kind: ObjectChange.Kind) -> EditedRelationship? {
        if kind == .changed, overlay.deletedCount == 0, overlay[id]?.hasLinks(relationship.number) != true { return nil }
        let before = originalMembers(relationship, of: id)
        let after = kind == .deleted ? [] : currentMembers(relationship, of: id)
        return before == after ? nil : EditedRelationship(relationship: relationship, before: before, after: after)
    }
}
