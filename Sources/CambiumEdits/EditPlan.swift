import CambiumGraph
import CambiumModel

/// The net changes of an edit, in the order in which they are applied.
///
/// Links are removed before objects are deleted, so that cascades do not reach the objects that the edit has unlinked. A link to or from an
/// object that the edit deletes is made before the deletion, so that `deny` rules see it. The order of members is set last.
struct EditPlan {
    private let edit: Edit
    private let drops: EditDrops
    private let removed: [EditLink]
    /// The added links to or from objects that the edit also deletes.
    private let early: [EditLink]
    private let added: [EditLink]

    /// Plans the changes of an edit, except those in `drops`. Complexity: O(changed objects and members of their changed relationships).
    init(_ edit: Edit, _ drops: EditDrops = EditDrops()) {
        var (links, drops) = (EditLinks(edit), drops)
        drops.reduce(&links, of: edit)
        (self.edit, self.drops) = (edit, drops)
        removed = links.all.filter { $0.kind == .removed }
        early = links.all.filter { $0.kind == .added && (edit.isDeleted($0.id) || edit.isDeleted($0.target)) }
        added = links.all.filter { $0.kind == .added && !edit.isDeleted($0.id) && !edit.isDeleted($0.target) }
    }

    /// Applies the changes. Omits changes to properties that a migration removed, because `EditConflictFinder` has reported these changes.
    /// Throws `.conflict` if a migration removed the entity of an inserted object. Also throws the errors of the target.
    ///
    /// - Returns: The ids of the inserted objects in the target, by their provisional ids.
    func apply(to transaction: inout WriteTransaction) throws(CambiumError) -> [ObjectID: ObjectID] {
        var target = ChangeTarget(transaction)
        let ids = result(in: &target)
        transaction = target.takeTransaction()
        return try ids.get()
    }

    /// Applies the changes to an edit on a newer graph, as `apply(to:)` with a transaction does. The inserted objects keep their ids.
    func apply(to edit: inout Edit) throws(CambiumError) -> [ObjectID: ObjectID] {
        // Moves the edit. If the target got a copy, its first write would copy all changes of the edit.
        var target = ChangeTarget(consume edit)
        let ids = result(in: &target)
        edit = target.takeEdit()
        return try ids.get()
    }

    private func result(in target: inout ChangeTarget) -> Result<[ObjectID: ObjectID], CambiumError> {
        do throws(CambiumError) { return .success(try change(&target)) } catch { return .failure(error) }
    }

    private func change(_ target: inout ChangeTarget) throws(CambiumError) -> [ObjectID: ObjectID] {
        let ids = try insertObjects(&target)
        try setValues(&target)
        for link in removed { try unlink(link, ids, &target) }
        try clearTargets(&target)
        for link in early { try self.link(link, ids, &target) }
        try deleteObjects(&target)
        for link in added { try self.link(link, ids, &target) }
        try orderMembers(ids, &target)
        return ids
    }

    private var states: [(id: ObjectID, state: EditState)] {
        edit.overlay.objects.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Whether the edit deletes an object. The deletion of an object in `drops` does not count, because this object stays as it is in the
    /// store.
    private func deletes(_ id: ObjectID) -> Bool { edit.isDeleted(id) && !drops.objects.contains(id) }

    // MARK: Objects

    private func insertObjects(_ target: inout ChangeTarget) throws(CambiumError) -> [ObjectID: ObjectID] {
        var ids: [ObjectID: ObjectID] = [:]
        for (id, state) in states where id.isProvisional && state.deletion == nil {
            guard let entity = edit.knownEntity(of: id) else { continue }
            let own = try self.own(entity, in: target)
            ids[id] = try target.insert(own, values(of: id, state, entity, own) + keptDefaults(state, entity, own), as: id)
        }
        return ids
    }

    /// Returns the entity of the target's schema that corresponds to an entity of the edit's schema. Throws `.conflict` if a migration
    /// removed the entity.
    ///
    /// The schema may have been migrated in the meantime, but an entity keeps its number, even if a migration renames it. The edit and the
    /// target belong to one store, and a store never reuses a number. So the names are not compared: after several migrations, the target's
    /// schema may no longer contain an entity's former name.
    private func own(_ entity: Entity, in target: borrowing ChangeTarget) throws(CambiumError) -> Entity {
        if let found = target.original.schema.successor(of: entity) { return found }
        throw CambiumError(
            .conflict,
            "The edit inserts an object of the entity '\(entity.name)', but a migration removed this entity. "
                + "Undo the insertion, or make a new edit.")
    }

    /// Returns the defaults that an inserted object has in the edit, if a migration has given the attributes other defaults. The caller may
    /// have read or set these values, and `EditState` does not contain a value that equals the default.
    private func keptDefaults(_ state: EditState, _ entity: Entity, _ own: Entity) -> [(Attribute, Value)] {
        if entity === own { return [] }
        var kept: [(Attribute, Value)] = []
        for attribute in entity.attributes where state.values[attribute.number] == nil && !attribute.isDerived {
            guard let found = own.attribute(attribute.number), !found.isDerived else { continue }
            let value = attribute.type.converted(attribute.defaultValue, to: found.type) ?? attribute.defaultValue
            // If the new schema refuses the value, the object gets the new default.
            if value == found.defaultValue || (value.isNull && !found.isOptional) || found.violation(by: value) != nil { continue }
            kept.append((found, value))
        }
        return kept
    }

    private func setValues(_ target: inout ChangeTarget) throws(CambiumError) {
        for (id, state) in states where !id.isProvisional && !state.values.isEmpty && state.deletion == nil {
            guard !drops.objects.contains(id), let entity = edit.knownEntity(of: id), let own = target.liveEntity(of: id) else { continue }
            try target.set(id, values(of: id, state, entity, own))
        }
    }

    private func values(of id: ObjectID, _ state: EditState, _ entity: Entity, _ own: Entity) -> [(Attribute, Value)] {
        var values: [(Attribute, Value)] = []
        for attribute in entity.attributes where !drops.attributes.contains(EditPlace(id, attribute.number)) {
            guard let value = state.values[attribute.number], let found = own.attribute(attribute.number) else { continue }
            // A migration may have changed the type, for example from `float` to `double`.
            values.append((found, attribute.type.converted(value, to: found.type) ?? value))
        }
        return values
    }

    private func deleteObjects(_ target: inout ChangeTarget) throws(CambiumError) {
        var calls: [Int: [ObjectID]] = [:]
        for (id, state) in states where !id.isProvisional && deletes(id) {
            if let deletion = state.deletion { calls[deletion, default: []].append(id) }
        }
        for (_, ids) in calls.sorted(by: { $0.key < $1.key }) {
            // An earlier call to `delete` may already have deleted some of these objects by a cascade, because the links in the store have
            // changed.
            let living = ids.filter { target.liveEntity(of: $0) != nil }
            try target.delete(living)
        }
    }

    // MARK: Links

    private func link(_ link: EditLink, _ ids: [ObjectID: ObjectID], _ target: inout ChangeTarget) throws(CambiumError) {
        for end in ends(of: link, ids, target) { try target.link(end.id, end.relationship, end.other, at: nil) }
    }

    private func unlink(_ link: EditLink, _ ids: [ObjectID: ObjectID], _ target: inout ChangeTarget) throws(CambiumError) {
        for end in ends(of: link, ids, target) {
            let destination = target.original.schema.entity(end.relationship.destination)
            // A migration that narrowed the destination found no link to an object of another entity, so there is nothing to remove.
            guard let number = target.liveEntity(of: end.other)?.number, destination?.family.contains(number) == true else { continue }
            try target.unlink(end.id, end.relationship, end.other)
        }
    }

    /// One end of a link in the target.
    private typealias End = (id: ObjectID, relationship: Relationship, other: ObjectID)

    /// Returns the ends of a link in the target that must be changed: usually one end, because the change of one end changes the inverse,
    /// too. Returns both ends if a migration separated the two inverse relationships. Returns no end if one of the two objects does not
    /// exist. If a migration removed one of the two inverse relationships, the other one still contains the link.
    private func ends(of link: EditLink, _ ids: [ObjectID: ObjectID], _ target: borrowing ChangeTarget) -> [End] {
        let (id, other) = (ids[link.id] ?? link.id, ids[link.target] ?? link.target)
        guard let entity = target.liveEntity(of: id), let otherEntity = target.liveEntity(of: other) else { return [] }
        let inverse = link.inverse.flatMap { otherEntity.relationship($0.number) }
        guard let kept = entity.relationship(link.relationship.number) else {
            if let inverse { return [(other, inverse, id)] }
            return []
        }
        let end: End = (id, kept, other)
        guard let inverse, kept.inverse != inverse.number else { return [end] }
        return [end, (other, inverse, id)]
    }

    /// Removes the links of the to-one relationships that the edit has cleared, even if the store has linked them to other objects since
    /// the base. A relationship also counts as cleared if the edit has linked it to an object and then deleted this object. In that case,
    /// the object must not exist in `target`.
    private func clearTargets(_ target: inout ChangeTarget) throws(CambiumError) {
        for (id, state) in states where !id.isProvisional && !state.targets.isEmpty && !drops.objects.contains(id) {
            guard let entity = edit.liveEntity(of: id), let own = target.liveEntity(of: id) else { continue }
            for relationship in entity.relationships {
                guard let known = state.targets[relationship.number], edit.statesMembers(relationship, of: id),
                    !drops.ends.contains(EditPlace(id, relationship.number))
                else { continue }
                // If the store has the new target, `link` replaces the former one, although the edit then deletes the new target.
                let isCleared = known.id.map { target.liveEntity(of: $0) == nil && edit.isDeleted($0) } ?? true
                guard isCleared else { continue }
                // If a migration made the relationship to-many, only the former target is removed. `removed` contains that link.
                guard let ownRelationship = own.relationship(relationship.number), !ownRelationship.isToMany else { continue }
                // If the edit also deleted the target, and the deletion was dropped, the link stays.
                for other in target.members(ownRelationship, of: id) where !drops.objects.contains(other) {
                    try target.unlink(id, ownRelationship, other)
                }
            }
        }
    }

    // MARK: Orders

    private func orderMembers(_ ids: [ObjectID: ObjectID], _ target: inout ChangeTarget) throws(CambiumError) {
        for (provisional, state) in states where !state.lists.isEmpty && !drops.objects.contains(provisional) {
            let id = ids[provisional] ?? provisional
            guard let entity = edit.liveEntity(of: provisional), let own = target.liveEntity(of: id) else { continue }
            for relationship in entity.relationships where state.lists[relationship.number] != nil {
                let place = EditPlace(provisional, relationship.number)
                if drops.ends.contains(place) || !edit.statesMembers(relationship, of: provisional) { continue }
                let wanted = edit.currentMembers(relationship, of: provisional)
                // If a migration has removed the order of the members, only the added and removed members count.
                guard let ownRelationship = own.relationship(relationship.number), ownRelationship.isOrdered else { continue }
                if drops.forced.contains(place) { try force(wanted, ids, ownRelationship, of: id, &target) }
                try order(wanted.map { ids[$0] ?? $0 }, ownRelationship, of: id, &target)
            }
        }
    }

    /// Replaces the members of an ordered relationship with the members in the edit. Omits members that no longer exist. Also omits members
    /// that stay as they are in the store, because the store won a conflict.
    private func force(
        _ wanted: [ObjectID], _ ids: [ObjectID: ObjectID], _ relationship: Relationship, of id: ObjectID,
        _ target: inout ChangeTarget
    ) throws(CambiumError) {
        let wantedIDs = Set(wanted.map { ids[$0] ?? $0 })
        for member in target.members(relationship, of: id) where !wantedIDs.contains(member) {
            if !isTaken(member, relationship) { try target.unlink(id, relationship, member) }
        }
        for member in wanted where !isTaken(member, relationship) {
            let other = ids[member] ?? member
            if target.liveEntity(of: other) != nil { try target.link(id, relationship, other, at: nil) }
        }
    }

    /// Whether a member, or the inverse relationship at the member, stays as it is in the store, because the store won a conflict.
    private func isTaken(_ member: ObjectID, _ relationship: Relationship) -> Bool {
        drops.objects.contains(member) || relationship.inverse.map { drops.ends.contains(EditPlace(member, $0)) } ?? false
    }

    private func order(
        _ wanted: [ObjectID], _ relationship: Relationship, of id: ObjectID, _ target: inout ChangeTarget
    ) throws(CambiumError) {
        let current = target.members(relationship, of: id)
        let (known, wantedIDs) = (Set(current), Set(wanted))
        let own = wanted.filter(known.contains)
        // If the members that the edit knows are already in the edit's order, the other members keep their positions. The other members can
        // include objects that the edit deleted, if their deletion was dropped.
        let isInOrder = own == current.filter(wantedIDs.contains)
        try target.reorder(id, relationship, isInOrder ? current : own + current.filter { !wantedIDs.contains($0) })
    }
}
