import CambiumGraph
internal import CambiumJSON
import CambiumModel

/// Determines the changes of a row: which of its objects exist, and which values each object gets.
package struct RowPlanner {
    /// The maximum number of levels of objects that are nested in the object of a row. The row's own object does not count.
    static let depthMax = 64

    /// A relationship on the path from the row to the object that is being planned.
    struct Step {
        let entity: EntityNumber
        let link: Int
        /// The index in the plan of the object that has the relationship; `nil` while the import still looks for this object.
        let owner: Int?
        var element: Int32 = -1
    }

    private struct StubPlace: Hashable {
        let table: Int
        let row: UInt32
    }

    let options: RowRules
    let entities: ImportEntities
    var plan = RowPlan()
    /// The keys of the row that map to no property, as indexes into the unknown keys of the batch.
    private(set) var unknownKeys: [RowBatch.Span] = []
    /// The objects for which the reader assumed a wrong entity. The keys are the tokens of the objects, and the values are their real
    /// entities. If there is such an object, the row must be read again, and the rest of the plan is not valid.
    private(set) var misread: [Int: EntityNumber] = [:]
    let newObjects = NewObjects()
    private(set) var hasNewObjects = false
    /// The objects that the row creates and whose identity contains a relationship, as indexes into the plan.
    var ownedObjects: [OwnedIdentity: Int] = [:]
    /// The stubs that an earlier part of the row completes. In the draft, these objects are still stubs, but the planner treats them as
    /// complete objects if the row describes them again.
    private var filledStubs: Set<StubPlace> = []
    /// The members of the relationships that are being planned.
    var pending: [RowPlan.Member] = []
    /// The relationships on the path from the row to the object that is being planned.
    var steps: [Step] = []
    /// Whether mandatory values that a row lacks are checked after the program's hook, because the hook may supply them.
    var isFinishedByHook = false
    /// Whether `findings` is filled.
    var notesFindings = false
    /// The existing objects that rows found, even if a row failed afterwards. The caller empties this list.
    var findings: [RowInfluences.Finding] = []

    init(options: ImportOptions, entities: ImportEntities) {
        self.options = RowRules(options)
        self.entities = entities
    }

    /// Plans a row. `object` is the index of the row's own object in the batch. `misread` is valid even if this method throws.
    mutating func plan(_ object: Int32, _ batch: borrowing RowBatch, _ draft: borrowing Draft) throws(RowFailure) {
        plan.removeAll()
        if hasNewObjects { newObjects.removeAll() }
        hasNewObjects = false
        if !ownedObjects.isEmpty { ownedObjects.removeAll(keepingCapacity: true) }
        if !filledStubs.isEmpty { filledStubs.removeAll(keepingCapacity: true) }
        if !pending.isEmpty { pending.removeAll(keepingCapacity: true) }
        if !steps.isEmpty { steps.removeAll(keepingCapacity: true) }
        if !unknownKeys.isEmpty { unknownKeys.removeAll(keepingCapacity: true) }
        if !misread.isEmpty { misread = [:] }
        plan.root = try self.object(Int(object), batch, draft)
        if options.missing == .clear, plan.objects.count > 1 { preferStated(batch) }
        if !isFinishedByHook, !plan.lacks.isEmpty { try checkLacks(batch) }
    }

    // MARK: The row's own object, after the plan was applied

    var isRootSkipped: Bool { plan.objects[plan.root].isSkipped }

    func rootObject(_ draft: borrowing Draft) -> ObjectID {
        ImportWriter.id(draft, entities[plan.objects[plan.root].entity].counted.table, plan.rootRow)
    }

    /// Records the identity values of objects that a hook has inserted or changed.
    func track(_ ids: [ObjectID], _ draft: borrowing Draft) {
        for id in ids {
            guard let place = draft.place(of: id), let entity = draft.entity(at: place) else { continue }
            entities[entity.number].counted.track(place.row, draft)
        }
    }

    // MARK: Objects

    func failure(_ code: ImportReport.RowError.Code, _ batch: borrowing RowBatch, _ message: String) -> RowFailure {
        var pointer = ""
        for step in steps {
            let link = batch.links[step.link]
            let name = entities[step.entity].counted.links[Int(link.index)].relationship.name
            pointer += link.pointer < 0 ? "/" + JSONPointer.escaped(name) : batch.pointers[Int(link.pointer)]
            if step.element >= 0 { pointer += "/\(step.element)" }
        }
        return RowFailure(code: code, pointer: pointer, message: message)
    }

    /// Plans an object that the row describes, and returns its index in the plan.
    mutating func object(_ object: Int, _ batch: borrowing RowBatch, _ draft: borrowing Draft) throws(RowFailure) -> Int {
        let read = batch.objects[object]
        if !read.unknownKeys.isEmpty { unknownKeys.append(read.unknownKeys) }
        if read.failure >= 0 {
            if read.hasUnknownKey, let number = subEntity(of: read, batch, draft) { return misread(read, as: number) }
            throw batch.failures[Int(read.failure)]
        }
        return try entities[read.entity].with { entity throws(RowFailure) in try self.object(read, entity, batch, draft) }
    }

    @inline(__always)
    private mutating func object(
        _ read: RowBatch.Object, _ entity: ImportEntity, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) throws(RowFailure) -> Int {
        let owners = entity.isOwned ? try self.owners(read.links, entity, batch, draft) : nil
        let target = try self.target(entity, read.values, owners, batch, draft)
        if notesFindings, case .existing(let row) = target {
            let isIndifferent = isWhole(entity, read.values, batch) && !mustSkip(row, entity, draft)
            findings.append(.init(place: entity.table.place(row), isIndifferent: isIndifferent))
        }
        if !entity.isAlone, let number = self.entity(of: target, entity, draft), number != entity.number {
            if entity.entity.family.contains(number) { return misread(read, as: number) }
            throw failure(.duplicate, batch, taken(target, entity, by: number, read.values, batch, draft))
        }
        let place = plan.objects.count
        let firstExtra = plan.extras.count
        var isFilled = false
        switch target {
        case .existing(let row)
        where ImportWriter.isStub(draft, entity.table, row) && !filledStubs.contains(.init(table: entity.table.number, row: row)):
            isFilled = true
            completeStub(entity, row, read.values, batch, draft)
            filledStubs.insert(.init(table: entity.table.number, row: row))
        case .existing(let row) where mustSkip(row, entity, draft):
            plan.objects.append(.init(entity: entity.number, target: .skipped(row), values: 0..<0))
            if plan.notesNames { try trackMentions(in: read.links, of: entity, at: place, batch, draft) }
            return place
        case .alias(let other) where plan.objects[other].isStub && !plan.objects[other].isFilled:
            isFilled = true
            try completeNew(entity, read.values, batch)
            plan.objects[other].isFilled = true
        case .new: try completeNew(entity, read.values, batch)
        default: if options.missing == .clear { clearMissing(entity, read.values, batch) }
        }
        plan.objects.append(
            .init(
                entity: entity.number, target: target, isFilled: isFilled, values: read.values.range,
                extras: firstExtra..<plan.extras.count))
        if case .new = target {
            if let owners { trackOwned(place, entity, read.values, owners, batch) } else { trackNew(entity, place, batch) }
        } else if options.missing == .clear {
            clearMissingLinks(of: place, read.links, entity, batch)
        }
        for link in read.links.range {
            if let targets = owners?.targets[link] {
                finish(link, of: place, targets, entity, batch)
            } else {
                try self.link(place, link, entity, batch, draft)
            }
        }
        return place
    }

    /// Returns whether the options require that an existing object stays unchanged. A stub may always change.
    private func mustSkip(_ row: UInt32, _ entity: ImportEntity, _ draft: borrowing Draft) -> Bool {
        options.existing == .skip && ImportWriter.isOriginal(draft, entity.table, row)
    }

    /// Records that the row must be read again, because an object that it describes belongs to the sub-entity `number`.
    mutating func misread(_ object: RowBatch.Object, as number: EntityNumber) -> Int {
        misread[Int(object.token)] = number
        // The row is planned again, so the target has no effect.
        plan.objects.append(.init(entity: object.entity, target: .new, values: 0..<0))
        return plan.objects.count - 1
    }

    // MARK: Objects that the row makes

    mutating func trackNew(_ entity: ImportEntity, _ place: Int, _ batch: borrowing RowBatch) {
        var hash: UInt64 = 0
        for value in plan.objects[place].values where batch.values[value].attribute == entity.keyAttribute {
            hash = batch.hash(of: batch.values[value])
        }
        newObjects.append(entity.identityKey, place, hash: hash)
        hasNewObjects = true
    }

    func newObject(_ entity: ImportEntity, _ cells: [Cell], _ batch: borrowing RowBatch) -> Int? {
        newObjects.place(entity, cells, self, batch)
    }
}

/// Finds the objects that a row mentions inside an object that stays unchanged.
extension RowPlanner {
    /// Records the existing objects to which the links of an unchanged object lead. The row changes none of them, but an import that
    /// deletes absent objects must keep them. The recursion is as deep as the objects nest in the row, so its depth is limited.
    ///
    /// Throws if a part of the row could not be read. This part may mention any object, so no object may be deleted.
    ///
    /// - Parameter owner: The index of the unchanged object in the plan; `nil` if a row describes an object that does not exist.
    mutating func trackMentions(
        in links: RowBatch.Span, of entity: ImportEntity, at owner: Int?, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) throws(RowFailure) {
        for number in links.range {
            let link = batch.links[number]
            switch link.kind {
            case .kept, .cleared: continue
            case .failed: throw batch.failures[Int(link.failure)]
            case .members: break
            }
            let destination = entities[entity.ends[Int(link.index)].destination].counted
            steps.append(Step(entity: entity.number, link: number, owner: owner))
            defer { steps.removeLast() }
            for place in link.members.range {
                let member = batch.members[place]
                switch member.kind {
                case .described: try trackMention(batch.objects[Int(member.place)], batch, draft)
                case .named:
                    let target = find(batch.values[Int(member.place)], destination, batch, draft)
                    if case .existing(let row) = target { trackMention(row, destination) }
                case .failed: throw batch.failures[Int(member.place)]
                }
            }
        }
    }

    private mutating func trackMention(
        _ read: RowBatch.Object, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) throws(RowFailure) {
        if let number = subEntity(of: read, batch, draft) {
            _ = misread(read, as: number)
            return
        }
        if read.failure >= 0 { throw batch.failures[Int(read.failure)] }
        let entity = entities[read.entity].counted
        // If a value of the identity is missing or null, the description identifies no existing object, but its links may still mention
        // existing objects.
        var place: Int?
        if case .existing(let row)? = knownTarget(read, entity, batch, draft) {
            place = plan.objects.count
            trackMention(row, entity)
        }
        try trackMentions(in: read.links, of: entity, at: place, batch, draft)
    }

    private mutating func trackMention(_ row: UInt32, _ entity: ImportEntity) {
        plan.objects.append(.init(entity: entity.number, target: .skipped(row), isDescribed: false, values: 0..<0))
    }
}
