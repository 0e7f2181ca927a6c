import CambiumGraph
import CambiumModel

/// The identity of an object, if it contains a relationship.
struct OwnedIdentity: Hashable {
    enum Part: Hashable {
        case value(StoredForm)
        case owner(RowPlanner.PlannedObject)
    }

    /// The `identityKey` of the object's entity.
    let key: UInt64
    let parts: [Part]
}

/// Finds objects whose identity contains a relationship. The import finds the owner first: the object to which the relationship leads. The
/// row names the owner, describes it, or nests the object in it.
extension RowPlanner {
    /// The objects to which the relationships of an identity lead.
    struct Owners {
        /// The owners, by the indexes of the relationships in the entity.
        var objects: [Int: PlannedObject] = [:]
        /// The links of the row that state an owner, each with its targets in `plan.targets`.
        var targets: [Int: Range<Int>] = [:]
    }

    /// Plans the owners of an object, and returns them. Throws if the row states no owner, or if it nests the object in another one.
    mutating func owners(
        _ links: RowBatch.Span, _ entity: ImportEntity, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) throws(RowFailure) -> Owners {
        var owners = Owners()
        for case .link(let index) in entity.identityParts {
            let enclosing = enclosing(entity.links[index].relationship, batch)
            guard let place = Self.link(index, links, batch) else {
                guard let enclosing else { throw missingOwner("missing", index, entity, batch) }
                owners.objects[index] = enclosing
                continue
            }
            switch batch.links[place].kind {
            case .failed: throw batch.failures[Int(batch.links[place].failure)]
            case .cleared: throw missingOwner("null", index, entity, batch)
            case .kept:
                guard let enclosing else { throw missingOwner("null", index, entity, batch) }
                owners.objects[index] = enclosing
            case .members:
                let targets = try members(of: place, owner: nil, entity, batch, draft)
                guard let member = targets.first.map({ plan.targets[$0] }) else {
                    throw missingOwner("a reference to no object", index, entity, batch)
                }
                let owner = owner(member, entity.ends[index].destination)
                if let enclosing, enclosing != owner {
                    throw failure(
                        .ruleViolated, batch,
                        "'\(entity.links[index].relationship.name)' names another object than the one that contains this object, but it is "
                            + "part of the identity; remove the key, or move the object")
                }
                owners.objects[index] = owner
                owners.targets[place] = targets
            }
        }
        return owners
    }

    /// Returns the place of the link in which a row states a relationship.
    private static func link(_ index: Int, _ links: RowBatch.Span, _ batch: borrowing RowBatch) -> Int? {
        for place in links.range.reversed() where Int(batch.links[place].index) == index { return place }
        return nil
    }

    /// Returns the object in which the row nests the present one, if the nesting states this relationship.
    private func enclosing(_ relationship: Relationship, _ batch: borrowing RowBatch) -> PlannedObject? {
        guard let step = steps.last, let place = step.owner, leadsBack(relationship, batch) else { return nil }
        return object(at: place, entities[plan.objects[place].entity].counted)
    }

    private func owner(_ member: RowPlan.Member, _ destination: EntityNumber) -> PlannedObject {
        switch member {
        case .object(let place): object(at: place, entities[plan.objects[place].entity].counted)
        case .row(let row): .existing(table: entities[destination].counted.table.number, row: row)
        }
    }

    private func missingOwner(_ fault: String, _ index: Int, _ entity: ImportEntity, _ batch: borrowing RowBatch) -> RowFailure {
        let name = entity.links[index].relationship.name
        return failure(.missingIdentity, batch, "'\(name)' is \(fault), but it is part of the identity")
    }

    // MARK: Looking up

    /// Finds the object with the identity values in the row and these owners: first in the draft, and then among the objects that the row
    /// creates. Returns `.new` if there is no such object.
    func ownedTarget(
        _ entity: ImportEntity, _ values: RowBatch.Span, _ owners: Owners, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) throws(RowFailure) -> RowPlan.Target {
        let identity = try identity(entity, values, owners, batch)
        var forms: [StoredForm] = []
        for part in identity.parts {
            switch part {
            case .value(let form): forms.append(form)
            case .owner(.existing(let table, let row)): forms.append(.fixed(ImportWriter.serial(draft, table, row), 0))
            case .owner(.new): break
            }
        }
        if forms.count == identity.parts.count, let row = ImportWriter.row(draft, entity.table, identity: forms) { return .existing(row) }
        return ownedObjects[identity].map { .alias($0) } ?? .new
    }

    private func identity(
        _ entity: ImportEntity, _ values: RowBatch.Span, _ owners: Owners, _ batch: borrowing RowBatch
    ) throws(RowFailure) -> OwnedIdentity {
        var parts: [OwnedIdentity.Part] = []
        for part in entity.identityParts {
            switch part {
            case .attribute(let index):
                let type = entity.attributes[index].type
                parts.append(
                    .value(
                        batch.withCell(try self.part(index, entity, values, batch)) { cell in
                            let key = cell.key(type)
                            return key.kind == .bytes ? .bytes([UInt8](key.bytes)) : .fixed(key.low, key.high)
                        }))
            case .link(let index): if let owner = owners.objects[index] { parts.append(.owner(owner)) }
            }
        }
        return OwnedIdentity(key: entity.identityKey, parts: parts)
    }

    /// Records a new object, so that other parts of the row find it.
    mutating func trackOwned(
        _ place: Int, _ entity: ImportEntity, _ values: RowBatch.Span, _ owners: Owners, _ batch: borrowing RowBatch
    ) {
        // The values were read before, so there is no failure.
        if let identity = try? identity(entity, values, owners, batch) { ownedObjects[identity] = place }
    }

    // MARK: Without a plan

    /// Finds the object that a part of the row describes, without planning anything. Returns `nil` if the row does not state the whole
    /// identity, or states an owner that does not exist.
    func knownTarget(
        _ read: RowBatch.Object, _ entity: ImportEntity, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) -> RowPlan.Target? {
        if !entity.isOwned { return try? target(entity, read.values, nil, batch, draft) }
        var owners = Owners()
        for case .link(let index) in entity.identityParts {
            let place = Self.link(index, read.links, batch)
            let owner = place.map { knownOwner($0, entity, batch, draft) } ?? enclosing(entity.links[index].relationship, batch)
            guard let owner else { return nil }
            owners.objects[index] = owner
        }
        return try? target(entity, read.values, owners, batch, draft)
    }

    private func knownOwner(
        _ place: Int, _ entity: ImportEntity, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) -> PlannedObject? {
        let link = batch.links[place]
        guard link.kind == .members, let member = link.members.range.last.map({ batch.members[$0] }) else { return nil }
        let target: RowPlan.Target?
        var destination = entities[entity.ends[Int(link.index)].destination].counted
        switch member.kind {
        case .failed: return nil
        case .named: target = find(batch.values[Int(member.place)], destination, batch, draft)
        case .described:
            let owner = batch.objects[Int(member.place)]
            destination = entities[owner.entity].counted
            target = knownTarget(owner, destination, batch, draft)
        }
        switch target {
        case .existing(let row), .skipped(let row): return .existing(table: destination.table.number, row: row)
        case .alias(let place): return .new(place)
        case .new, nil: return nil
        }
    }
}
