package import CambiumModel

extension InverseChanges {
    /// Finds the changes that give an object the values and links that it had at an earlier moment. If the object was deleted since then,
    /// it comes back under its id. Members that no longer exist are omitted.
    ///
    /// Throws `.notFound` if the earlier graph does not have the object. Throws `.ruleViolated` if the present schema no longer has its
    /// entity. Complexity: O(values and members of the object).
    ///
    /// - Returns: the changes, and the former members that no longer exist.
    package static func restoration(
        of id: ObjectID, from then: Graph, to now: Graph
    ) throws(CambiumError) -> (changes: InverseChanges, missing: [ObjectID]) {
        guard let former = then.place(of: id) else {
            let name = (now.entity(of: id) ?? now.schema.entity(id.root) ?? then.schema.entity(id.root))?.name
            throw CambiumError(
                .notFound,
                "\(name ?? "Object")/\(id.serial) did not exist after transaction \(then.transaction). Name a "
                    + "moment at which it existed; 'cambium log STORE --object' lists its transactions.")
        }
        let formerEntity = then.entity(of: former)
        guard let entity = now.schema.entity(formerEntity.number), !entity.isAbstract else {
            throw CambiumError(
                .ruleViolated, "The schema no longer has the entity '\(formerEntity.name)' of the object. Add the entity to the schema.")
        }
        var restoration = Restoration(id: id, then: then, former: former, now: now, entity: entity)
        restoration.findValues()
        for relationship in entity.relationships { restoration.findMembers(relationship) }
        return (restoration.changes, restoration.missing.sorted())
    }
}

/// The state of a search for the changes that restore one object.
private struct Restoration {
    let id: ObjectID
    let then: Graph
    let former: ObjectPlace
    let now: Graph
    let entity: Entity
    var changes = InverseChanges()
    var missing: Set<ObjectID> = []

    mutating func findValues() {
        let present = now.place(of: id)
        let formerEntity = then.entity(of: former)
        var assignments: [Assignment] = []
        for attribute in entity.attributes where !attribute.isDerived {
            guard let own = formerEntity.attribute(attribute.number) else { continue }
            let value = then.value(of: then.field(own), at: former)
            let wanted = own.type.converted(value, to: attribute.type) ?? value
            if let present, now.value(of: now.field(attribute), at: present) == wanted { continue }
            assignments.append(Assignment(attribute.number, wanted))
        }
        let (source, isStub) = (then.source(of: former)?.serial ?? 0, then.isStub(former))
        if let present {
            if !assignments.isEmpty { changes.values.append((id, assignments)) }
            let hasSameMark = now.isStub(present) == isStub && (now.source(of: present)?.serial ?? 0) == source
            if !hasSameMark { changes.marks.append(.init(id: id, source: source, isStub: isStub)) }
        } else {
            changes.revivals.append(.init(id: id, entity: entity.number, values: assignments, source: source, isStub: isStub))
        }
    }

    mutating func findMembers(_ relationship: Relationship) {
        guard let own = then.entity(of: former).relationship(relationship.number) else { return }
        let all = then.memberIDs(then.end(own), of: former)
        let wanted = all.filter { $0 == id || now.contains($0) }
        missing.formUnion(all.filter { $0 != id && !now.contains($0) })
        let present = now.members(relationship, of: id) ?? []
        let (wantedIDs, presentIDs) = (Set(wanted), Set(present))
        for member in present where !wantedIDs.contains(member) {
            changes.unlinked.append(.init(id: id, property: relationship.number, target: member))
        }
        for member in wanted where !presentIDs.contains(member) {
            changes.linked.append(.init(id: id, property: relationship.number, target: member))
        }
        if relationship.isOrdered, wanted != present {
            changes.orders.append(
                MemberArrangement(id: id, relationship: relationship, former: wanted, returning: wantedIDs, isMoved: true))
        }
    }
}
