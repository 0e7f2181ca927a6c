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
/// the walk reads only the graphs before and after these transactions. If the object does not exist, the ops of the log name the
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
    /// The graph after the newest transaction that was not examined yet.
    private(set) var graph: Graph
    private let first: TransactionNumber
    private let oldest: TransactionNumber
    private(set) var end: End?
    /// Whether the object did not exist before `graph`, according to its serial.
    private var isUnassigned = false
    /// The transactions that created an object, in descending order. The log is read once for each object that needs them.
    private var births: (id: ObjectID, numbers: [TransactionNumber])?
    /// The objects of the current transaction that were examined, because a clone may copy an object that the same transaction inserted.
    private var examined: Set<ObjectID> = []

    /// - Parameters:
    ///   - graph: the graph after the newest transaction to examine.
    ///   - first: the oldest transaction to examine.
    init(_ trail: AuditTrail, _ id: ObjectID, from graph: Graph, downTo first: TransactionNumber) throws {
        (self.trail, self.id, self.graph) = (trail, id, graph)
        oldest = try trail.oldest()
        self.first = max(first, oldest)
    }

    /// Returns the next earlier transaction, or `nil` at the end. Complexity: O(bytes of the log between a checkpoint and the transaction).
    /// If the object was deleted or created again, also O(bytes of the log), once.
    mutating func next() throws -> ObjectStep? {
        while end == nil {
            if isUnassigned {
                end = .creation
                break
            }
            guard let number = try latestChange() else { break }
            if number < first {
                end = number < oldest ? .retired : .range
                break
            }
            return try examine(number)
        }
        return nil
    }

    /// Returns the last transaction up to `graph` that may have changed the object. Returns `nil` at the end.
    private mutating func latestChange() throws -> TransactionNumber? {
        guard let place = graph.place(of: id) else {
            if graph.transaction >= first, let death = try latestDeath() { return death }
            end = first > oldest ? .range : try hasRetiredLife() ? .retired : .creation
            return nil
        }
        let (created, changed) = graph.provenance(of: place)
        let number = max(created, changed, graph.schemaTransaction)
        if number <= graph.transaction, number != .none { return number }
        throw CambiumError(
            .damaged,
            "Object \(NamedObject(id, in: graph)) names transaction \(number) as its last change, which is later than its moment "
                + "\(graph.transaction). Run 'cambium verify'.")
    }

    /// Returns whether retired transactions may have created and deleted the object, which no later transaction did.
    private func hasRetiredLife() throws -> Bool {
        let base = TransactionNumber(rawValue: oldest.rawValue - 1)
        return try oldest > AuditTrail.first && trail.graph(after: base).hasAssigned(id)
    }

    /// Reads a transaction, and moves to the moment before it.
    private mutating func examine(_ number: TransactionNumber) throws -> ObjectStep {
        let step = try trail.step(number)
        let (before, after) = (step.before, step.after)
        if graph.transaction != number { examined = [] }
        let change = after.change(of: id, since: before)
        let own = id
        graph = before
        guard change?.kind == .inserted else { return ObjectStep(step: step, id: own, change: change, source: nil) }
        guard let source = after.source(of: id) else {
            isUnassigned = !before.hasAssigned(id)
            return ObjectStep(step: step, id: own, change: change, source: nil)
        }
        // A clone may copy an object that the same transaction inserted. Otherwise, the source had its values before the transaction.
        if !before.contains(source), after.contains(source) {
            graph = after
            guard examined.insert(own).inserted else {
                throw CambiumError(
                    .damaged, "The copies of transaction \(number) are sources of each other. Run 'cambium verify'.")
            }
        }
        id = source
        return ObjectStep(step: step, id: own, change: change, source: source)
    }

    // MARK: Deletions

    /// Returns the last transaction up to `graph` that deleted the object. Returns `nil` if the object never existed before.
    private mutating func latestDeath() throws -> TransactionNumber? {
        let bound = graph.transaction
        for birth in try births(upTo: bound) where birth <= bound {
            // The transaction that created the object may have deleted it, too.
            if try trail.graph(after: birth).contains(id) { return try death(after: birth, upTo: bound) }
        }
        let base = TransactionNumber(rawValue: oldest.rawValue - 1)
        guard base < bound, oldest > AuditTrail.first, try trail.graph(after: base).contains(id) else { return nil }
        return try death(after: base, upTo: bound)
    }

    /// Returns the transaction that deleted an object. The object exists after `alive`, does not exist after `dead`, and is not created in
    /// between. Complexity: O(log transactions) graphs.
    private func death(after alive: TransactionNumber, upTo dead: TransactionNumber) throws -> TransactionNumber {
        var (alive, dead) = (alive.rawValue, dead.rawValue)
        while alive + 1 < dead {
            let middle = alive + (dead - alive) / 2
            if try trail.graph(after: TransactionNumber(rawValue: middle)).contains(id) { alive = middle } else { dead = middle }
        }
        return TransactionNumber(rawValue: dead)
    }

    /// Returns the transactions with an op that creates the object, newest first.
    private mutating func births(upTo last: TransactionNumber) throws -> [TransactionNumber] {
        if let births, births.id == id { return births.numbers }
        var numbers: [TransactionNumber] = []
        if oldest <= last {
            try TransactionLog(trail.volume).read(from: oldest) { entry in
                if try entry.creates(id) { numbers.append(entry.number) }
                return entry.number < last
            }
        }
        numbers.reverse()
        births = (id, numbers)
        return numbers
    }
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
