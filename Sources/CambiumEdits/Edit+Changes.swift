public import CambiumGraph
import CambiumModel

extension Edit {
    /// The objects that the edit inserts, deletes or changes, by ascending id. Within each hierarchy, the inserted objects come last.
    ///
    /// ```swift
    /// for object in edit.changes { print(object.kind, edit.name(of: object.id) ?? "", object.attributes.count) }
    /// ```
    ///
    /// If a relationship has an inverse, a link is reported in both of the linked objects. The deletion of an object also changes the
    /// objects that were linked to it. An object that the edit has inserted and deleted again is not reported. Complexity: O(changed
    /// objects x their properties + members of the changed relationships + links of the deleted objects).
    public var changes: [ObjectChange] {
        var ids = Set(overlay.objects.keys)
        // A deleted object is no longer a member of the objects that were linked to it, so these objects change, too.
        for (id, state) in overlay.objects where state.deletion != nil {
            for relationship in knownEntity(of: id)?.relationships ?? [] where relationship.inverse != nil {
                ids.formUnion(originalMembers(relationship, of: id))
            }
            ids.formUnion(base.ownersWithoutInverse(of: id))
        }
        return ids.sorted().compactMap(changes(of:))
    }

    private func changes(of id: ObjectID) -> ObjectChange? {
        if isUnborn(id) { return nil }
        guard let entity = knownEntity(of: id) else { return nil }
        let kind: ObjectChange.Kind = id.isProvisional ? .inserted : isDeleted(id) ? .deleted : .changed
        let attributes = entity.attributes.compactMap { change(of: $0, of: id, kind) }
        let relationships = entity.relationships.compactMap { change(of: $0, of: id, kind) }
        if kind == .changed, attributes.isEmpty, relationships.isEmpty { return nil }
        return ObjectChange(ObjectChange.Edited(id, entity, kind, attributes, relationships), base: base)
    }

    private func change(of attribute: Attribute, of id: ObjectID, _ kind: ObjectChange.Kind) -> AttributeChange? {
        if kind == .changed, overlay[id]?.values[attribute.number] == nil { return nil }
        let before = kind == .inserted ? .null : original(attribute, of: id)
        let after = kind == .deleted ? .null : current(attribute, of: id)
        return before == after ? nil : AttributeChange(attribute: attribute, before: before, after: after)
    }

    private func change(of relationship: Relationship, of id: ObjectID, _ kind: ObjectChange.Kind) -> RelationshipChange? {
        if kind == .changed, overlay.deletedCount == 0, overlay[id]?.hasLinks(relationship.number) != true { return nil }
        let before = originalMembers(relationship, of: id)
        let after = kind == .deleted ? [] : currentMembers(relationship, of: id)
        return RelationshipChange(relationship, of: id, from: before, to: after, base: base)
    }
}
