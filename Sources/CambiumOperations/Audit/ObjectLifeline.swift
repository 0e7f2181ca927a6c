internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel

/// A transaction that may have changed an object: it is the last change of the row, or a migration.
struct ObjectStep {
    let step: TransactionStep
    /// The object: the one that was asked for, or the source of a clone that led to it.
    let id: ObjectID
    /// The difference of the object; `nil` if the object has the same values and members before and after the transaction.
    let change: ObjectChange?
    /// The object from which a clone made `id` in this transaction.
    let source: ObjectID?
}

/// Walks backwards through the transactions that changed one object, newest first. After the clone that made the object, continues with the
/// source of the clone.
///
/// Each row of a graph names the last transaction that changed it, and each graph names the last transaction that changed the schema. So
/// the walk reads only the graphs before and after these transactions. The touch index names the earlier ones, too. If the ops of such a
/// transaction show its effect on the object, the walk reads no graph for it.
///
/// If the object does not exist, the index names the transaction that deleted it. After the end of the index, the ops of the log name the
/// transactions that created it. Between two creations, the object exists up to one transaction and never after it, so a binary search
/// finds its deletion.
struct ObjectLifeline {
    /// The reason why a walk ended.
    enum End {
        /// The walk reached the transaction that created the object.
        case creation
        /// The walk reached the first transaction of its range.
        case range
        /// Earlier transactions were retired.
        case retired
    }

    private let trail: AuditTrail
    private(set) var id: ObjectID
    /// The last graph that was read. The object is the same in it as after `position`, except for the attributes in `values`.
    private(set) var graph: Graph
    /// The newest transaction that was not examined yet.
    private(set) var position: TransactionNumber
    private let requestedFirst: TransactionNumber
    private var first: TransactionNumber
    private let newest: TransactionNumber
    private var oldest: TransactionNumber
    private(set) var end: End?
    /// The number of examined transactions after the end of the touch index.
    private var unindexedCount: UInt64 = 0
    /// Whether the object did not exist before `graph`, according to its serial.
    private var isUnassigned = false
    /// The transactions that created an object, in descending order. The log is read once for each object that needs them.
    private var births: (id: ObjectID, numbers: [TransactionNumber])?
    /// The objects of the last transaction that were examined, because a clone may copy an object that the same transaction inserted.
    private var examined: (number: TransactionNumber, ids: Set<ObjectID>) = (.none, [])
    /// Transactions that were read and not examined yet.
    private var steps: [TransactionNumber: TransactionStep] = [:]
    /// The number of earlier transactions that the next replay reads, too.
    private var nextStepCount = 0
    /// The transactions of objects, from the touch index; `nil` if there is no index, or if it contradicts the log.
    private var touches: ObjectTouches?
    /// Whether ops may show a change without the graphs before and after it.
    private let readsOps: Bool
    /// The attributes whose values after `position` differ from those in `graph`.
    private var values: [PropertyNumber: Value] = [:]

    /// - Parameters:
    ///   - graph: the graph after the newest transaction to examine.
    ///   - first: the oldest transaction to examine.
    ///   - readsOps: whether the caller needs no graphs for a change that the ops of the transaction show. Then the graphs before and after
    ///     the transaction may be those of another moment, in which the object has the same name.
    init(_ trail: AuditTrail, _ id: ObjectID, from graph: Graph, downTo first: TransactionNumber, readsOps: Bool) throws {
        (self.trail, self.id, self.graph, self.readsOps) = (trail, id, graph, readsOps)
        position = graph.transaction
        newest = graph.transaction
        oldest = try trail.oldest()
        requestedFirst = first
        self.first = max(first, oldest)
        touches = ObjectTouches(trail, from: oldest)
    }

    /// Returns the next earlier transaction, or `nil` at the end. Complexity: O(bytes of the log between a checkpoint and the transaction).
    /// If the object was deleted or created again after the end of the touch index, also O(bytes of the log after it), once.
    mutating func next() throws -> ObjectStep? {
        while end == nil {
            if isUnassigned {
                end = .creation
                break
            }
            do {
                guard let number = try latestChange() else { break }
                if number < first {
                    end = number < oldest && requestedFirst < oldest ? .retired : .range
                    break
                }
                if readsOps {
                    if var touches, number > touches.covered {
                        unindexedCount += 1
                        touches.coverRest(through: newest, examinedCount: unindexedCount)
                        self.touches = touches
                    }
                    if let step = try opStep(number) ?? insertion(number) { return step }
                }
                return try examine(number)
            } catch is ObjectTouches.Mistrust {
                // Without the index, the next attempt reads the graph.
                (touches, births) = (nil, nil)
            } catch let error as CambiumError where error.code == .notFound || error.code == .expired {
                // A compaction may have retired transactions in the meantime.
                let known = oldest
                oldest = try trail.oldest()
                if touches == nil, oldest == known { throw error }
                first = max(first, oldest)
                (touches, births, steps) = (nil, nil, [:])
                if position < first {
                    end = requestedFirst < oldest ? .retired : .range
                    break
                }
            }
        }
        return nil
    }

    /// Reads the graph after `position`.
    private mutating func readGraph() throws {
        if graph.transaction != position { graph = try trail.graph(after: position) }
        values = [:]
    }

    /// Returns the last transaction up to `position` that may have changed the object. Returns `nil` at the end.
    private mutating func latestChange() throws -> TransactionNumber? {
        if graph.transaction != position, let number = try touches?.last(of: id, upTo: position) { return number }
        try readGraph()
        guard let place = graph.place(of: id) else { return try latestDeletion() }
        let (created, changed) = graph.provenance(of: place)
        let number = max(created, changed, graph.schemaTransaction)
        guard number <= graph.transaction, number != .none else {
            throw CambiumError(
                .corrupted,
                "Object \(NamedObject(id, in: graph)) names transaction \(number) as its last change, which is later than its moment "
                    + "\(graph.transaction). Run 'cambium verify'.")
        }
        return number
    }

    /// Returns the last transaction up to `position` that deleted the object, which does not exist in `graph`. It may also be a migration.
    /// Returns `nil` at the end.
    private mutating func latestDeletion() throws -> TransactionNumber? {
        let covered = touches?.covered ?? .none
        if position >= first, position > covered, let death = try latestDeath(after: covered) { return death }
        if let number = try touches?.last(of: id, upTo: min(covered, position)), number >= oldest { return number }
        end = first > oldest ? .range : try requestedFirst < oldest && hasRetiredLife() ? .retired : .creation
        return nil
    }

    /// Returns whether retired transactions may have created and deleted the object, which no later transaction did.
    private func hasRetiredLife() throws -> Bool {
        let base = TransactionNumber(rawValue: oldest.rawValue - 1)
        return try oldest > AuditTrail.first && trail.graph(after: base).hasAssigned(id)
    }

    /// Returns a transaction. A walk that has read several transactions also reads those that it will probably examine next, because the
    /// replay that leads to a transaction passes them.
    private mutating func readStep(_ number: TransactionNumber) throws -> TransactionStep {
        if let step = steps.removeValue(forKey: number) { return step }
        steps = [:]
        let earlier = try touches?.transactions(of: id, before: number, count: nextStepCount) ?? []
        nextStepCount = min(2 * nextStepCount + 1, Self.stepCountMax)
        for step in try trail.steps(earlier + [number]) { steps[step.entry.number] = step }
        guard let step = steps.removeValue(forKey: number) else { return try trail.step(number) }
        return step
    }

    /// The maximum number of transactions that are read before they are examined. Their graphs take the memory of the pages that changed
    /// between them.
    private static let stepCountMax = 31

    /// Reads a transaction, and moves to the moment before it.
    private mutating func examine(_ number: TransactionNumber) throws -> ObjectStep {
        let step = try readStep(number)
        let (before, after) = (step.before, step.after)
        if examined.number != number { examined = (number, []) }
        let change = after.change(of: id, since: before)
        let own = id
        (graph, values) = (before, [:])
        position = before.transaction
        guard change?.kind == .inserted else { return ObjectStep(step: step, id: own, change: change, source: nil) }
        guard let source = step.clonedSource(of: id) else {
            isUnassigned = !before.hasAssigned(id)
            return ObjectStep(step: step, id: own, change: change, source: nil)
        }
        // A clone may copy an object that the same transaction inserted. Otherwise, the source had its values before the transaction.
        if !before.contains(source), after.contains(source) {
            (graph, position) = (after, number)
            guard examined.ids.insert(own).inserted else {
                throw CambiumError(
                    .corrupted, "The copies of transaction \(number) are sources of each other. Run 'cambium verify'.")
            }
        }
        id = source
        return ObjectStep(step: step, id: own, change: change, source: source)
    }

    // MARK: Ops

    /// Returns the next step if the ops of the transaction show the values after it, and earlier ops or a graph the values before it.
    /// Returns `nil` if graphs are needed.
    private mutating func opStep(_ number: TransactionNumber) throws -> ObjectStep? {
        guard var touches, number <= touches.covered, graph.schemaTransaction < number, let entity = graph.entity(of: id),
            try touches.last(of: id, upTo: position) == number
        else { return nil }
        defer { self.touches = touches }
        // The name of an object contains its identity. An identity with an owner may change with the owner, which has touches of its own.
        guard !entity.hasOwnerInIdentity, case .sets(let assigned) = try touches.effect(of: number, on: id, graph.schema),
            entity.identity.allSatisfy({ assigned[$0.number] == nil })
        else { return nil }
        var changes: [AttributeChange] = []
        var before: [PropertyNumber: Value] = [:]
        for attribute in entity.attributes where assigned[attribute.number] != nil {
            guard let value = values[attribute.number] ?? graph.value(of: attribute, of: id),
                let old = try touches.value(of: attribute, of: id, before: number, graph.schema),
                let form = Form(value, attribute), let oldForm = Form(old, attribute),
                let assignedForm = assigned[attribute.number].flatMap({ Form($0, attribute) })
            else { return nil }
            // If a later transaction set the attribute, the index has omitted it.
            guard form == assignedForm else { throw ObjectTouches.Mistrust() }
            before[attribute.number] = old
            if form != oldForm { changes.append(AttributeChange(attribute: attribute, before: old, after: value)) }
        }
        guard before.count == assigned.count else { return nil }
        values.merge(before) { $1 }
        let edited = changes.isEmpty ? nil : ObjectChange.Edited(id, entity, .changed, changes, [])
        let step = TransactionStep(entry: TransactionLog.Entry(try touches.record(number)), before: graph, after: graph)
        position = TransactionNumber(rawValue: number.rawValue - 1)
        return ObjectStep(step: step, id: id, change: edited.map { ObjectChange($0, base: graph) }, source: nil)
    }

    /// The stored form of a value that is read as it was assigned.
    enum Form: Equatable {
        case null
        case value(StoredForm)

        /// Returns `nil` for a value that may be read in another form than it was assigned, such as -0.0 or a decimal.
        init?(_ value: Value, _ attribute: Attribute) {
            switch value {
            case .null: self = .null
            case .bool, .int, .string, .data, .uuid, .uri:
                guard let form = StoredForm(value, type: attribute.type) else { return nil }
                self = .value(form)
            case .double, .float, .date:
                guard let form = StoredForm(value, type: attribute.type), form != .fixed(0, 0),
                    form != .fixed(attribute.type.negativeZero, 0)
                else { return nil }
                self = .value(form)
            case .decimal, .json: return nil
            }
        }
    }

    /// Returns the next step if the transaction inserted the object, no earlier transaction changed it, and a later graph shows its first
    /// values and members. Returns `nil` if the graph after the transaction is needed.
    private mutating func insertion(_ number: TransactionNumber) throws -> ObjectStep? {
        guard var touches, touches.isFromFirst, number <= touches.covered, number > AuditTrail.first,
            try touches.last(of: id, upTo: position) == number,
            try touches.last(of: id, itselfUpTo: TransactionNumber(rawValue: number.rawValue - 1)) == nil
        else { return nil }
        defer { self.touches = touches }
        let graph = try touches.graph(number..<position.next, of: id)
        guard let place = graph.place(of: id), graph.provenance(of: place).created == number, graph.source(of: id) == nil,
            graph.schemaTransaction <= number, let entity = graph.entity(of: id), !entity.hasOwnerInIdentity
        else { return nil }
        for relationship in entity.relationships {
            for member in graph.members(relationship, of: id) ?? [] {
                // The names of the members are those after the transaction if the members have not changed since.
                guard let place = graph.place(of: member), graph.provenance(of: place).changed <= number,
                    !graph.entity(of: place).hasOwnerInIdentity
                else { return nil }
            }
        }
        let empty = try trail.graph(after: .none)
        let change = graph.change(of: id, since: empty)
        let step = TransactionStep(entry: TransactionLog.Entry(try touches.record(number)), before: empty, after: graph)
        isUnassigned = true
        return ObjectStep(step: step, id: id, change: change, source: nil)
    }

    // MARK: Deletions

    /// Returns the last transaction after `base` and up to `graph` that deleted the object. Returns `nil` if there is no such transaction.
    ///
    /// - Parameter covered: the end of the touch index, which has all earlier deletions; `.none` if there is no index.
    private mutating func latestDeath(after covered: TransactionNumber) throws -> TransactionNumber? {
        let bound = graph.transaction
        let base = max(covered, TransactionNumber(rawValue: oldest.rawValue - 1))
        for birth in try births(after: base, upTo: bound) where birth <= bound {
            // The transaction that created the object may have deleted it, too.
            if try trail.graph(after: birth).contains(id) { return try death(after: birth, upTo: bound) }
        }
        guard base < bound, base != .none, try trail.graph(after: base).contains(id) else { return nil }
        return try death(after: base, upTo: bound)
    }

    /// Returns the transaction that deleted an object. The object exists after `alive`, does not exist after `dead`, and is not created in
    /// between. Complexity: O(log transactions) graphs.
    private func death(after alive: TransactionNumber, upTo dead: TransactionNumber) throws -> TransactionNumber {
        let number = try (min(alive.next.rawValue, dead.rawValue)..<dead.rawValue).prefixEnd { number in
            try trail.graph(after: TransactionNumber(rawValue: number)).contains(id)
        }
        return TransactionNumber(rawValue: number)
    }

    /// Returns the transactions with an op that creates the object, newest first.
    private mutating func births(after base: TransactionNumber, upTo last: TransactionNumber) throws -> [TransactionNumber] {
        if let births, births.id == id { return births.numbers }
        var numbers: [TransactionNumber] = []
        if base < last {
            try TransactionLog(trail.volume).read(from: base.next) { entry in
                if try entry.creates(id) { numbers.append(entry.number) }
                return entry.number < last
            }
        }
        numbers.reverse()
        births = (id, numbers)
        return numbers
    }
}

extension Entity {
    /// Whether an object may get another name by a change of another object.
    fileprivate var hasOwnerInIdentity: Bool { identity.contains { $0.relationship != nil } }
}

extension TransactionLog.Entry {
    /// Returns whether an op of the transaction creates an object with this id. Complexity: O(bytes of the ops).
    fileprivate func creates(_ id: ObjectID) throws -> Bool {
        struct Found: Error {}
        do {
            try forEachOp { op in
                switch op {
                case .insert(let object, _, _) where object == id: throw Found()
                // The number of the entity leads to a root only in the schema of that moment. Another hierarchy may have the same serials,
                // so the caller looks at the graph, too.
                case .upsert(let block) where block.kind.isInsert && block.serials.contains(id.serial): throw Found()
                case .clone(let clone) where clone.makes(id): throw Found()
                default: break
                }
            }
        } catch is Found { return true }
        return false
    }
}
