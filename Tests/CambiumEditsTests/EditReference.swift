import Cambium
import CambiumGraph
import CambiumModel

@testable import CambiumEdits

/// A simple model of a rebase: the objects of the base, of the edit and of the newer graph, as dictionaries. It computes the conflicts and
/// the result that Docs/Use/EDITS.md promises.
struct EditReference {
    struct Object {
        let entity: Entity
        /// The values of the attributes that are not derived.
        var values: [PropertyNumber: Value] = [:]
        var members: [PropertyNumber: [ObjectID]] = [:]
    }

    private let base: [ObjectID: Object]
    private let mine: [ObjectID: Object]
    private let theirs: [ObjectID: Object]
    /// The attributes that the edit sets, also to the values of the base.
    private var statedValues = Set<EditPlace>()
    /// The to-one and ordered relationships that the edit writes, also if they are as in the base.
    private var statedLinks = Set<EditPlace>()
    /// The members that the edit adds to a relationship (`true`) or removes from it, from either end.
    private var statedMembers: [EditPlace: [ObjectID: Bool]] = [:]
    private let newSchema: Schema
    private let hasSameSchema: Bool

    init(_ edit: Edit, onto graph: Graph) {
        (base, mine, theirs) = (Self.objects(of: edit.base), Self.objects(of: edit), Self.objects(of: graph))
        newSchema = graph.schema
        hasSameSchema = edit.base.schema.catalog == graph.schema.catalog
        for id in mine.keys { noteStatements(of: id, edit) }
    }

    private mutating func noteStatements(of id: ObjectID, _ edit: Edit) {
        guard let state = edit.overlay[id], let entity = mine[id]?.entity else { return }
        for number in state.values.keys { statedValues.insert(EditPlace(id, number)) }
        for relationship in entity.relationships {
            let place = EditPlace(id, relationship.number)
            if edit.statesMembers(relationship, of: id) { statedLinks.insert(place) }
            var members = state.differences[relationship.number] ?? [:]
            if let target = state.targets[relationship.number]?.id { members[target] = true }
            for (member, isMember) in members {
                statedMembers[place, default: [:]][member] = isMember
                guard let inverse = edit.inverse(relationship) else { continue }
                statedMembers[EditPlace(member, inverse.number), default: [:]][id] = isMember
            }
        }
    }

    // MARK: Reading

    private static func objects(of graph: Graph) -> [ObjectID: Object] {
        var objects: [ObjectID: Object] = [:]
        for root in graph.schema.roots {
            for id in graph.objects(of: root) {
                guard let entity = graph.entity(of: id) else { continue }
                objects[id] = object(entity, { graph[id, $0] ?? .null }, { graph.members($0, of: id) ?? [] })
            }
        }
        return objects
    }

    private static func objects(of edit: Edit) -> [ObjectID: Object] {
        var objects: [ObjectID: Object] = [:]
        for root in edit.schema.roots {
            for id in edit.objects(of: root) {
                guard let entity = edit.entity(of: id) else { continue }
                objects[id] = object(entity, { edit.current($0, of: id) }, { edit.currentMembers($0, of: id) })
            }
        }
        return objects
    }

    private static func object(_ entity: Entity, _ value: (Attribute) -> Value, _ members: (Relationship) -> [ObjectID]) -> Object {
        var object = Object(entity: entity)
        for attribute in entity.attributes where !attribute.isDerived { object.values[attribute.number] = value(attribute) }
        for relationship in entity.relationships { object.members[relationship.number] = members(relationship) }
        return object
    }

    /// Returns a value in the type that the attribute has in the newer graph.
    private func later(_ value: Value?, _ attribute: Attribute, _ now: Attribute) -> Value {
        let value = value ?? .null
        return attribute.type.converted(value, to: now.type) ?? value
    }

    private var deletesObjects: Bool { base.keys.contains { mine[$0] == nil } }

    // MARK: Conflicts

    /// Returns a sentence about a conflict that is missing, or that must not exist; `nil` if the conflicts are right.
    func difference(from conflicts: [EditConflict]) -> String? {
        var (values, links, objects, removed) = (Set<EditPlace>(), Set<EditPlace>(), Set<ObjectID>(), Set<EditPlace>())
        for conflict in conflicts where conflict.use == .written {
            switch conflict.subject {
            case .attribute(let attribute) where conflict.canKeepMine: values.insert(EditPlace(conflict.id, attribute.number))
            case .relationship(let relationship) where conflict.canKeepMine: links.insert(EditPlace(conflict.id, relationship.number))
            case .attribute(let attribute): removed.insert(EditPlace(conflict.id, attribute.number))
            case .relationship(let relationship): removed.insert(EditPlace(conflict.id, relationship.number))
            case .object: objects.insert(conflict.id)
            }
        }
        if values != conflictingValues { return "the attributes \(values) conflict instead of \(conflictingValues)" }
        if removed != removedPlaces { return "the removed properties \(removed) conflict instead of \(removedPlaces)" }
        for (id, before) in base {
            guard let difference = objectDifference(id, before, isConflict: objects.contains(id)) else { continue }
            return difference
        }
        if !hasSameSchema || deletesObjects || links == conflictingLinks { return nil }
        return "the relationships \(links) conflict instead of \(conflictingLinks)"
    }

    private func objectDifference(_ id: ObjectID, _ before: Object, isConflict: Bool) -> String? {
        switch (mine[id], theirs[id]) {
        case (let mine?, nil):
            if mine.values != before.values, !isConflict { return "\(id) was deleted in the store, but is not a conflict" }
        case (nil, let theirs?):
            // A migration may change the properties of every object.
            if !hasSameSchema { return nil }
            let isChanged = theirs.values != before.values || theirs.members != before.members
            if isChanged != isConflict { return "\(id) was deleted in the edit, and is \(isConflict ? "" : "not ")a conflict" }
        default: break
        }
        return nil
    }

    /// The attributes that the edit and the store set to different values.
    private var conflictingValues: Set<EditPlace> {
        var found = Set<EditPlace>()
        for (id, object) in mine {
            guard let before = base[id], let after = theirs[id] else { continue }
            for attribute in object.entity.attributes where !attribute.isDerived {
                let number = attribute.number
                guard let now = after.entity.attribute(number), statedValues.contains(EditPlace(id, number)) else { continue }
                let (was, wanted) = (later(before.values[number], attribute, now), later(object.values[number], attribute, now))
                let value = after.values[number] ?? .null
                if value != was, value != wanted { found.insert(EditPlace(id, number)) }
            }
        }
        return found
    }

    /// The to-one and ordered relationships that the edit and the store change differently. Right only if the edit deletes no object.
    private var conflictingLinks: Set<EditPlace> {
        var found = Set<EditPlace>()
        for (id, object) in mine {
            guard let before = base[id], let after = theirs[id] else { continue }
            for relationship in object.entity.relationships where relationship.isOrdered || !relationship.isToMany {
                let number = relationship.number
                let (was, wanted, now) = (before.members[number], object.members[number], after.members[number])
                if statedLinks.contains(EditPlace(id, number)), now != was, wanted != now { found.insert(EditPlace(id, number)) }
            }
        }
        return found
    }

    /// The removed properties to which the edit gives a value, a member or another order.
    private var removedPlaces: Set<EditPlace> {
        var found = Set<EditPlace>()
        for (id, object) in mine {
            guard let now = laterEntity(id) else { continue }
            for attribute in object.entity.attributes where !attribute.isDerived && now.attribute(attribute.number) == nil {
                let value = object.values[attribute.number] ?? .null
                let was = base[id].map { $0.values[attribute.number] ?? .null } ?? attribute.defaultValue
                let isStated = value != was || statedValues.contains(EditPlace(id, attribute.number))
                if isStated, !value.isNull { found.insert(EditPlace(id, attribute.number)) }
            }
            for relationship in object.entity.relationships where now.relationship(relationship.number) == nil {
                let (members, former) = (object.members[relationship.number] ?? [], base[id]?.members[relationship.number] ?? [])
                let isReordered = relationship.isOrdered && former.filter(members.contains) != members
                let stated = statedMembers[EditPlace(id, relationship.number)] ?? [:]
                let changed = isReordered ? members : members.filter { !former.contains($0) || stated[$0] == true }
                if changed.contains(where: { isLost(relationship, to: $0, from: now) }) {
                    found.insert(EditPlace(id, relationship.number))
                }
            }
        }
        return found
    }

    /// Returns the entity of an object in the newer graph, or the entity that an inserted object gets there.
    private func laterEntity(_ id: ObjectID) -> Entity? {
        if base[id] != nil { return theirs[id]?.entity }
        guard let entity = mine[id]?.entity, let found = newSchema.entity(entity.number) else { return nil }
        return found.root == entity.root ? found : nil
    }

    /// Whether the inverse of a removed relationship cannot contain the link from an object of an entity.
    private func isLost(_ relationship: Relationship, to member: ObjectID, from entity: Entity) -> Bool {
        guard let other = laterEntity(member) else { return false }
        guard let inverse = relationship.inverse.flatMap({ other.relationship($0) }) else { return true }
        return newSchema.entity(inverse.destination)?.family.contains(entity.number) != true
    }

    // MARK: Refusals

    /// Whether the new schema may refuse a change of the edit, so that a rebase may throw although a policy resolves all conflicts.
    var mayBeRefused: Bool {
        !hasSameSchema && (deletesObjects || mine.contains { id, object in mayRefuse(id, object) })
    }

    private func mayRefuse(_ id: ObjectID, _ object: Object) -> Bool {
        let before = base[id]
        guard let now = before == nil ? newSchema.entity(object.entity.number) : theirs[id]?.entity else { return before == nil }
        if before == nil, now.isAbstract { return true }
        for attribute in object.entity.attributes where !attribute.isDerived {
            let value = object.values[attribute.number] ?? .null
            let isStated = statedValues.contains(EditPlace(id, attribute.number))
            if !isStated, value == before?.values[attribute.number] ?? attribute.defaultValue { continue }
            guard let found = now.attribute(attribute.number) else { continue }
            if found.violation(by: later(value, attribute, found)) != nil { return true }
        }
        for relationship in object.entity.relationships {
            let (members, former) = (object.members[relationship.number] ?? [], before?.members[relationship.number] ?? [])
            if members == former, statedMembers[EditPlace(id, relationship.number)] == nil { continue }
            guard let found = now.relationship(relationship.number) else { continue }
            guard let wanted = newSchema.entity(found.destination) else { return true }
            let entities = (members + former).compactMap { theirs[$0]?.entity ?? mine[$0]?.entity }
            if entities.contains(where: { !wanted.family.contains($0.number) }) { return true }
        }
        return false
    }

    // MARK: Results

    /// Returns a sentence about a part of a rebased edit that differs from the promised result; `nil` if there is none.
    func difference(from rebased: Edit, _ conflicts: [EditConflict], _ policy: EditPolicy) -> String? {
        let result = Self.objects(of: rebased)
        let deleted = Set(base.keys.filter { mine[$0] == nil })
        let all = Set(theirs.keys).union(mine.keys.filter { base[$0] == nil })
        let wanted = conflicts.isEmpty ? all.subtracting(deleted) : all
        // Other rules or other links may let a deletion reach more objects.
        let isExact = conflicts.isEmpty && (hasSameSchema || deleted.isEmpty)
        if isExact ? Set(result.keys) != wanted : !wanted.isSuperset(of: result.keys) {
            return "the objects are \(result.keys.sorted()) instead of \(wanted.sorted())"
        }
        var winners: [EditPlace: EditSide] = [:]
        for conflict in conflicts where conflict.use == .written {
            guard case .attribute(let attribute) = conflict.subject else { continue }
            winners[EditPlace(conflict.id, attribute.number)] = policy.winner(of: conflict)
        }
        for (id, object) in result {
            for attribute in object.entity.attributes where !attribute.isDerived {
                let found = object.values[attribute.number] ?? .null
                let expected = value(attribute, of: id, isMine: winners[EditPlace(id, attribute.number)] == .mine)
                if let expected, found != expected { return "\(id).\(attribute.name) is \(found) instead of \(expected)" }
            }
            for relationship in object.entity.relationships where conflicts.isEmpty {
                guard let expected = members(relationship, of: id) else { continue }
                let found = object.members[relationship.number] ?? []
                let living = expected.members.filter { result[$0] != nil }
                if expected.isOrdered ? living == found : Set(living) == Set(found) { continue }
                return "\(id).\(relationship.name) has \(found) instead of \(living)"
            }
        }
        return nil
    }

    /// Returns the value that an attribute of the new schema must have, or `nil` if the new schema may have replaced the value.
    private func value(_ now: Attribute, of id: ObjectID, isMine: Bool) -> Value? {
        let number = now.number
        guard let object = mine[id], let attribute = object.entity.attribute(number), !attribute.isDerived else {
            return theirs[id]?.values[number] ?? now.defaultValue
        }
        let wanted = later(object.values[number], attribute, now)
        guard let before = base[id] else {
            return now.violation(by: wanted) != nil || (wanted.isNull && !now.isOptional) ? nil : wanted
        }
        let (was, value) = (later(before.values[number], attribute, now), theirs[id]?.values[number] ?? .null)
        return statedValues.contains(EditPlace(id, number)) && (value == was || value == wanted || isMine) ? wanted : value
    }

    /// Returns the members that a relationship of the new schema must have if there are no conflicts. The list may contain objects that no
    /// longer exist. Returns `nil` if the old schema does not have the relationship.
    private func members(_ now: Relationship, of id: ObjectID) -> (members: [ObjectID], isOrdered: Bool)? {
        let number = now.number
        let there = theirs[id]?.members[number] ?? []
        guard let object = mine[id] else { return (there, now.isOrdered) }
        guard let relationship = object.entity.relationship(number) else { return nil }
        let wanted = object.members[number] ?? []
        let isOrdered = relationship.isOrdered && now.isOrdered
        let isWhole = isOrdered || (!relationship.isToMany && !now.isToMany)
        if isWhole, statedLinks.contains(EditPlace(id, number)) { return (wanted, isOrdered) }
        // The deletion of a member is not a change of the relationship.
        let (old, new) = (Set((base[id]?.members[number] ?? []).filter { mine[$0] != nil }), Set(wanted))
        let stated = statedMembers[EditPlace(id, number)] ?? [:]
        let (added, removed) = (stated.filter(\.value).map(\.key), stated.filter { !$0.value }.map(\.key))
        let merged = Set(there).subtracting(old.subtracting(new)).union(new.subtracting(old))
        let result = merged.union(relationship.isToMany ? added : []).subtracting(removed)
        // The places of members that the edit adds from the other end are not promised.
        return result == Set(there) ? (there, now.isOrdered) : (result.sorted(), false)
    }
}
