internal import CambiumBytes
import CambiumGraph
internal import CambiumJSON
import CambiumModel

extension RowPlanner {
    /// Plans the members that a row assigns to a relationship.
    mutating func link(
        _ owner: Int, _ place: Int, _ entity: ImportEntity, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) throws(RowFailure) {
        let link = batch.links[place]
        switch link.kind {
        case .kept: return
        case .cleared: return clear(owner, Int(link.index), entity)
        case .failed: throw batch.failures[Int(link.failure)]
        case .members: finish(place, of: owner, try members(of: place, owner: owner, entity, batch, draft), entity, batch)
        }
    }

    /// Plans the objects to which a link leads. Returns them as indexes into `plan.targets`.
    ///
    /// - Parameter owner: The index of the owner in the plan; `nil` if the import still looks for the owner.
    mutating func members(
        of place: Int, owner: Int?, _ entity: ImportEntity, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) throws(RowFailure) -> Range<Int> {
        let link = batch.links[place]
        let destination = entity.ends[Int(link.index)].destination
        let firstPending = pending.count
        steps.append(Step(entity: entity.number, link: place, owner: owner))
        try entities[destination].with { destination throws(RowFailure) in
            for place in link.members.range { try member(batch.members[place], destination, batch, draft) }
        }
        steps.removeLast()
        let first = plan.targets.count
        if firstPending < pending.count {
            for place in firstPending..<pending.count { plan.targets.append(pending[place]) }
            pending.removeFew(downTo: firstPending)
        }
        return first..<plan.targets.count
    }

    /// Plans a link whose members are planned already.
    mutating func finish(_ place: Int, of owner: Int, _ targets: Range<Int>, _ entity: ImportEntity, _ batch: borrowing RowBatch) {
        let link = batch.links[place]
        let isToMany = entity.ends[Int(link.index)].isToMany
        let change: RowPlan.Link.Change = !isToMany ? .target : options.toMany == .append ? .append : .replace
        // If the only reference of a to-one relationship was skipped, the relationship stays unchanged. The exception is a value of the
        // wrong type that the options treat as null: it clears the relationship.
        if change == .target, targets.isEmpty {
            if link.isMismatched, options.mismatch == .null { clear(owner, Int(link.index), entity) }
        } else {
            plan.links.append(.init(owner: owner, link: Int(link.index), change: change, targets: targets))
        }
    }

    /// Plans to clear the relationships that the row lacks. `given` contains the links that the row has.
    mutating func clearMissingLinks(of owner: Int, _ given: RowBatch.Span, _ entity: ImportEntity, _ batch: borrowing RowBatch) {
        entity.beginLinks()
        for link in given.range { entity.markLink(Int(batch.links[link].index)) }
        for (index, link) in entity.links.enumerated() where link.isRead && !entity.isGivenLink(index) {
            if !leadsBack(link.relationship, batch) { clear(owner, index, entity, isOfAbsentKey: true) }
        }
    }

    /// Returns whether a relationship of the object that is being planned leads back to the enclosing object in the row. The nesting states
    /// this link, so the relationship is not missing. If the import cleared the relationship, a nested object that several rows contain
    /// would keep only the link of the last row.
    func leadsBack(_ relationship: Relationship, _ batch: borrowing RowBatch) -> Bool {
        guard let step = steps.last else { return false }
        let arrival = entities[step.entity].counted.links[Int(batch.links[step.link].index)].relationship
        return arrival.inverse == relationship.number && arrival.destinationRoot == relationship.root
    }

    /// Plans to remove all members of a relationship.
    mutating func clear(_ owner: Int, _ index: Int, _ entity: ImportEntity, isOfAbsentKey: Bool = false) {
        let end = plan.targets.count
        let change: RowPlan.Link.Change = entity.ends[index].isToMany ? .replace : .target
        plan.links.append(.init(owner: owner, link: index, change: change, targets: end..<end, isOfAbsentKey: isOfAbsentKey))
    }

    private mutating func member(
        _ member: RowBatch.Member, _ destination: ImportEntity, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) throws(RowFailure) {
        steps[steps.count - 1].element = member.element
        switch member.kind {
        case .described: pending.append(.object(try object(Int(member.place), batch, draft)))
        case .named: try named(Int(member.place), destination, batch, draft)
        case .failed: throw batch.failures[Int(member.place)]
        }
    }

    /// Plans an object to which a row refers by its identity.
    private mutating func named(
        _ place: Int, _ destination: ImportEntity, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) throws(RowFailure) {
        let value = batch.values[place]
        switch find(value, destination, batch, draft) {
        case .existing(let row):
            if notesFindings {
                let isIndifferent = destination.isAlone && options.references == .create
                findings.append(.init(place: destination.table.place(row), isIndifferent: isIndifferent))
            }
            if !destination.isAlone { try checkFamily(of: ImportWriter.entity(draft, destination.table, row), destination, place, batch) }
            if !plan.notesNames { return pending.append(.row(row)) }
            pending.append(.object(plan.objects.count))
            plan.objects.append(.init(entity: destination.number, target: .existing(row), isDescribed: false, values: 0..<0))
        case .alias(let alias):
            try checkFamily(of: plan.objects[alias].entity, destination, place, batch)
            pending.append(.object(alias))
        default:
            try stub(destination, place, batch)
        }
    }

    private func checkFamily(
        of number: EntityNumber, _ destination: ImportEntity, _ place: Int, _ batch: borrowing RowBatch
    ) throws(RowFailure) {
        if destination.isAlone { return }
        if destination.entity.family.contains(number) { return }
        let name = entities[number].counted.entity.name
        let identity = identity(destination, place, batch)
        throw failure(.ruleViolated, batch, "the object with the identity \(identity) is a '\(name)', not a '\(destination.entity.name)'")
    }

    private mutating func stub(_ entity: ImportEntity, _ value: Int, _ batch: borrowing RowBatch) throws(RowFailure) {
        switch options.references {
        case .skip: break
        case .error: throw failure(.unknownReference, batch, missing(entity, value, batch))
        case .create:
            if entity.isAbstract {
                let why = ", and the entity is abstract, so the import cannot create a stub (an object with only its identity)"
                throw failure(.unknownReference, batch, missing(entity, value, batch) + why + kinds(below: entity))
            }
            let place = plan.objects.count
            plan.objects.append(
                .init(entity: entity.number, target: .new, isStub: true, isDescribed: false, values: value..<value + 1))
            trackNew(entity, place, batch)
            pending.append(.object(place))
        }
    }

    /// The maximum number of entities that a message names.
    private static let namedCountMax = 5

    /// Returns the part of a message that names the entities below an abstract entity. An object of the abstract entity belongs to one of
    /// them.
    private func kinds(below entity: ImportEntity) -> String {
        let numbers = entity.entity.family.sorted { $0.rawValue < $1.rawValue }
        let names = numbers.map { entities[$0].counted.entity }.filter { !$0.isAbstract }.map { "'\($0.name)'" }
        if names.isEmpty { return "; import its row first" }
        let rest = names.count > Self.namedCountMax ? " or another sub-entity" : ""
        return "; import its row first, as an object of " + names.prefix(Self.namedCountMax).joined(separator: ", ") + rest
    }

    private func missing(_ entity: ImportEntity, _ place: Int, _ batch: borrowing RowBatch) -> String {
        "no '\(entity.entity.name)' has the identity \(identity(entity, place, batch))"
    }

    /// Returns the value that identifies an object, for messages.
    private func identity(_ entity: ImportEntity, _ place: Int, _ batch: borrowing RowBatch) -> String {
        let value = batch.values[place]
        let type = entity.attributes[Int(value.attribute)].type
        let stored: StoredForm? = batch.withCell(value) { cell in
            switch cell.kind {
            case .null: nil
            case .fixed: .fixed(cell.low, cell.high)
            case .bytes: .bytes(Array(cell.bytes))
            }
        }
        return Excerpt.plain(stored.flatMap { Value(stored: $0, type: type) }?.text ?? "null")
    }
}
