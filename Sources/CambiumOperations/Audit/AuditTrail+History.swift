import CambiumGraph
internal import CambiumLog
public import CambiumModel

/// The changes that a history contains. All conditions must hold.
///
/// ```swift
/// var selection = HistorySelection(entity: "Item", actor: "jane")
/// selection.condition = "price > 10"
/// try trail.history(selection) { entry in
///     print(entry.transaction, entry.change)
///     return true
/// }
/// ```
public struct HistorySelection: Sendable {
    /// Only changes of this object. The history continues with the source of a clone.
    public var object: ObjectID?
    /// Only changes of objects of this entity and of its sub-entities.
    public var entity: String?
    /// Only changes of the attributes and relationships with these names; empty for all. Insertions and deletions of objects that have one
    /// of them are included.
    public var properties: [String] = []
    /// Only transactions of this actor.
    public var actor: String?
    /// Only the transaction with this request id.
    public var requestID: String?
    /// Only changes of objects that satisfy this condition before or after the transaction. The names are those of the schema at the end of
    /// the range. Before a migration renamed a property, the condition means the property with its former name.
    public var condition: String?
    /// The values of the parameters of `condition`.
    public var arguments: [String: Operand] = [:]
    /// The oldest transaction; `nil` for the first one.
    public var first: TransactionNumber?
    /// The newest transaction; `nil` for the newest one at the time of the call.
    public var last: TransactionNumber?

    /// Creates a selection. The other conditions can be set afterwards.
    public init(object: ObjectID? = nil, entity: String? = nil, actor: String? = nil) {
        (self.object, self.entity, self.actor) = (object, entity, actor)
    }

    /// Whether changes that concern no object are included: of the schema, and of labels.
    var includesStoreChanges: Bool { object == nil && entity == nil && properties.isEmpty && condition == nil }

    func contains(_ entry: TransactionLog.Entry) -> Bool {
        if let actor, !entry.metadata.isBy(actor) { return false }
        if let requestID, entry.metadata.requestID?.hasSameBytes(as: requestID) != true { return false }
        return true
    }
}

extension AuditTrail {
    /// Returns the changes of one object, newest first. The history crosses deletions, migrations and clones: after the transaction that
    /// cloned the object, it continues with the source.
    ///
    /// ```swift
    /// for entry in try trail.history(of: note, limit: 10) { print(entry.time, entry.author.actor ?? "-", entry.change) }
    /// ```
    ///
    /// Transactions are in the order of their numbers, never of their times. If a compaction has retired earlier changes of the object, the
    /// last entry is `.retired`. Returns an empty array if the object never existed. Throws `.corrupted` if the log is corrupt, and
    /// `.ioFailure` if it cannot be read. Complexity: for each change, O(bytes of the log between a checkpoint and the transaction).
    ///
    /// - Parameters:
    ///   - id: The object.
    ///   - limit: The maximum number of entries.
    public func history(of id: ObjectID, limit: Int = .max) throws -> [HistoryEntry] {
        var entries: [HistoryEntry] = []
        if limit <= 0 { return entries }
        try history(HistorySelection(object: id)) { entry in
            entries.append(entry)
            return entries.count < limit
        }
        return entries
    }

    /// Calls `body` with each selected change, newest first, until `body` returns `false`.
    ///
    /// The history of many objects compares the graphs before and after each transaction, from one checkpoint to the next. `body` receives
    /// the changes after the newest checkpoint before older transactions are read. If a compaction has retired transactions of the range,
    /// the last entry is `.retired`.
    ///
    /// Throws `.unknownName` or `.invalidInput` if the entity or the condition does not fit the schema. Throws `.notFound` if there is no
    /// transaction `selection.last`. Also throws as `history(of:limit:)` does, and the errors of `body`. Complexity: that of
    /// `history(of:limit:)` for an object, otherwise O(bytes of the log from the preceding checkpoint to the transactions that are passed
    /// to `body`).
    public func history(_ selection: HistorySelection, _ body: (HistoryEntry) throws -> Bool) throws {
        if let id = selection.object {
            _ = try objectHistory(id, selection, body)
        } else {
            var history = try StoreHistory(self, selection)
            try history.run(body)
        }
    }

    /// Returns the graph after the last transaction of a selection.
    ///
    /// - Parameter newest: the newest transaction.
    func end(of selection: HistorySelection, _ newest: TransactionNumber) throws -> Graph {
        if let last = selection.last, last > newest { throw Self.missing(last, newest) }
        return try graph(after: selection.last ?? newest)
    }

    /// Calls `body` with the changes of an object, and returns the objects and the ranges of transactions that the history covers.
    func objectHistory(
        _ id: ObjectID, _ selection: HistorySelection, _ body: (HistoryEntry) throws -> Bool
    ) throws -> [LineageSegment] {
        let newest = try newest()
        let graph = try end(of: selection, newest)
        let rows = HistoryRows(latest: graph.schema, properties: selection.properties)
        var filter = try HistoryFilter(selection, latest: graph)
        // A condition is evaluated in the graphs before and after a transaction.
        let readsOps = selection.condition == nil && selection.entity == nil
        var line = try ObjectLifeline(self, id, from: graph, downTo: selection.first ?? Self.first, readsOps: readsOps)
        var segments = [LineageSegment(id: id, last: graph.transaction)]
        while let found = try line.next() {
            if found.source != nil {
                segments[segments.count - 1].first = found.step.entry.number
                segments.append(LineageSegment(id: line.id, last: line.position))
            }
            guard selection.contains(found.step.entry), filter.includes(found.id, found.step) else { continue }
            for entry in rows.rows(found.change, of: found.id, found.step, source: found.source) {
                if try !body(entry) { return segments }
            }
        }
        if line.end == .retired, let entry = try retiredEntry() { _ = try body(entry) }
        return segments
    }

    /// Returns the object that last had an identity before it was deleted, or before its identity changed; `nil` if no object had it.
    /// Complexity: O(bytes of the log from the preceding checkpoint to that transaction).
    package func formerObject(
        _ entity: Entity, identity values: [Value], through last: TransactionNumber? = nil
    ) throws -> ObjectID? {
        var selection = HistorySelection(entity: entity.name)
        selection.last = last
        return try StoreHistory(self, selection).formerObject(entity, identity: values)
    }

    /// Returns the earlier schemas of the store, newest first. Complexity: O(bytes of the log).
    package func formerSchemas() throws -> [Schema] {
        let oldest = try oldest()
        var schemas: [Schema] = []
        if oldest > Self.first { schemas.append(try graph(after: TransactionNumber(rawValue: oldest.rawValue - 1)).schema) }
        let end = try newest()
        if oldest > end { return schemas }
        try TransactionLog(volume).read(from: oldest) { entry in
            struct NotSchema: Error {}
            do {
                try entry.forEachOp { op in
                    // A schema is always the first op of its transaction.
                    guard case .schema(let catalog) = op else { throw NotSchema() }
                    schemas.append(try Schema(catalog: catalog))
                }
            } catch is NotSchema {}  // The transaction does not change the schema, or changes objects after it.
            return entry.number < end
        }
        return schemas.reversed()
    }

    /// Returns the entry for the retired part of the log; `nil` if nothing was retired.
    func retiredEntry() throws -> HistoryEntry? {
        let oldest = try oldest()
        guard oldest > Self.first, let entry = try TransactionLog(volume).entry(TransactionNumber(rawValue: oldest.rawValue - 1)) else {
            return nil
        }
        return HistoryEntry(entry, nil, .retired)
    }
}

/// The transactions of a history that belong to one object.
struct LineageSegment {
    let id: ObjectID
    var first = AuditTrail.first
    let last: TransactionNumber
}

/// Decides which objects of a transaction belong to a history.
struct HistoryFilter {
    private let selection: HistorySelection
    private let condition: Condition?
    /// The schema whose names the selection has, and the transaction that set it.
    private let named: (schema: Schema, transaction: TransactionNumber)
    /// The filters of the last two graphs, because the graph after one transaction is the graph before the next.
    private var filters: [(number: TransactionNumber, byEntity: [EntityNumber: ObjectFilter?])] = []

    /// Throws `.unknownName` if the schema does not have the entity, and `.invalidInput` if the condition does not fit it.
    ///
    /// - Parameter latest: the graph after the last transaction of the history.
    init(_ selection: HistorySelection, latest: Graph) throws {
        self.selection = selection
        named = (latest.schema, latest.schemaTransaction)
        if let entity = selection.entity { _ = try latest.schema.required(entity) }
        condition = try selection.condition.map { try Condition(parsing: $0) }
        if let condition = selection.condition {
            _ = try latest.filter(condition, selection.arguments, among: Self.entities(selection, latest.schema))
        }
    }

    private static func entities(_ selection: HistorySelection, _ schema: Schema) -> [Entity] {
        guard let family = selection.entity.map({ schema.entity($0)?.family ?? [] }) else { return schema.entities }
        return schema.entities.filter { family.contains($0.number) }
    }

    /// Whether the history has changes of the object in a transaction.
    mutating func includes(_ id: ObjectID, _ step: TransactionStep) -> Bool {
        if selection.entity != nil, !hasEntity(id, step) { return false }
        return selection.condition == nil || holds(id, step.after) || holds(id, step.before)
    }

    private func hasEntity(_ id: ObjectID, _ step: TransactionStep) -> Bool {
        guard let name = selection.entity else { return true }
        return step.isObject(id, of: name, named.schema.entity(name)?.number)
    }

    private mutating func holds(_ id: ObjectID, _ graph: Graph) -> Bool {
        guard let place = graph.place(of: id) else { return false }
        return filter(graph, graph.entity(of: place))?.holds(place) ?? false
    }

    /// Returns the filter for the objects of an entity in a graph; `nil` if the condition does not fit the schema of that moment.
    private mutating func filter(_ graph: Graph, _ entity: Entity) -> ObjectFilter? {
        let known = filters.firstIndex { $0.number == graph.transaction }
        if let known, let filter = filters[known].byEntity[entity.number] { return filter }
        // Before a migration, the schema may lack a property of the condition. Then no object satisfied it.
        let filter = condition.flatMap { condition in
            let isNamed = graph.schemaTransaction == named.transaction
            let own = isNamed ? condition : condition.renamed(for: entity, in: graph.schema, from: named.schema)
            return try? ObjectFilter(graph, own, selection.arguments, among: [entity])
        }
        if let known {
            filters[known].byEntity[entity.number] = .some(filter)
        } else {
            if filters.count == 2 { filters.removeFirst() }
            filters.append((graph.transaction, [entity.number: filter]))
        }
        return filter
    }
}

/// Finds the changes of many objects: of an entity, an actor, a request or a condition.
///
/// The part of the log between two checkpoints is read forwards, because that is how a graph is replayed. The parts are read from the
/// newest to the oldest, and the changes of each part are passed on in reverse order.
struct StoreHistory {
    private let trail: AuditTrail
    private let selection: HistorySelection
    private let rows: HistoryRows
    private var filter: HistoryFilter
    private var first: TransactionNumber
    private let last: TransactionNumber
    private var oldest: TransactionNumber

    init(_ trail: AuditTrail, _ selection: HistorySelection) throws {
        let end = try trail.end(of: selection, trail.newest())
        (self.trail, self.selection) = (trail, selection)
        rows = HistoryRows(latest: end.schema, properties: selection.properties)
        filter = try HistoryFilter(selection, latest: end)
        oldest = try trail.oldest()
        first = max(oldest, selection.first ?? AuditTrail.first)
        last = end.transaction
    }

    mutating func run(_ body: (HistoryEntry) throws -> Bool) throws {
        for part in try parts() {
            if part.upperBound < first { break }
            for entries in try self.retainedEntries(in: part).reversed() {
                for entry in entries where try !body(entry) { return }
            }
        }
        let reachesRetired = oldest > AuditTrail.first && selection.first ?? AuditTrail.first < oldest
        if reachesRetired, let entry = try trail.retiredEntry() { _ = try body(entry) }
    }

    /// Returns the ranges of transactions between the checkpoints, newest first.
    private func parts() throws -> [ClosedRange<TransactionNumber>] {
        if first > last { return [] }
        var (parts, end): ([ClosedRange<TransactionNumber>], TransactionNumber) = ([], last)
        for checkpoint in try CheckpointRecord.list(trail.volume) where checkpoint < end && checkpoint >= first {
            parts.append(checkpoint.next...end)
            end = checkpoint
        }
        return parts + [first...end]
    }

    /// Does the same as `entries(in:)`. If a compaction has retired transactions of the range in the meantime, omits them.
    private mutating func retainedEntries(in range: ClosedRange<TransactionNumber>) throws -> [[HistoryEntry]] {
        while true {
            if range.upperBound < first { return [] }
            do {
                return try entries(in: max(range.lowerBound, first)...range.upperBound)
            } catch let error as CambiumError where error.code == .notFound || error.code == .expired {
                let known = oldest
                oldest = try trail.oldest()
                if oldest == known { throw error }
                first = max(first, oldest)
            }
        }
    }

    /// Returns the entries of each transaction of a range that has any, in the order of the log.
    private mutating func entries(in range: ClosedRange<TransactionNumber>) throws -> [[HistoryEntry]] {
        var found: [[HistoryEntry]] = []
        for run in try wantedRuns(in: range) {
            var cursor = try trail.transactions(from: run.lowerBound, through: run.upperBound)
            while let step = try cursor.next() {
                let entries = entries(of: step)
                if !entries.isEmpty { found.append(entries) }
            }
        }
        return found
    }

    /// Returns the object that last had an identity and then lost it.
    func formerObject(_ entity: Entity, identity values: [Value]) throws -> ObjectID? {
        for part in try parts() {
            var found: ObjectID?
            var cursor = try trail.transactions(from: part.lowerBound, through: part.upperBound)
            while let step = try cursor.next() {
                // The identity of an object may end with a change of another object, its owner.
                guard let former = step.before.schema.entity(entity.number),
                    let id = step.before.find(former, identity: values), step.after.identityValues(of: id) != values
                else { continue }
                found = id
            }
            if let found { return found }
        }
        return nil
    }

    /// The number of unwanted transactions that a replay includes rather than begin again at a checkpoint.
    private static let gapCountMax: UInt64 = 256

    /// Returns the ranges that contain the transactions of the actor and of the request. Only the envelopes are read.
    private func wantedRuns(in range: ClosedRange<TransactionNumber>) throws -> [ClosedRange<TransactionNumber>] {
        if selection.actor == nil, selection.requestID == nil { return [range] }
        var runs: [ClosedRange<TransactionNumber>] = []
        try TransactionLog(trail.volume).read(from: range.lowerBound) { entry in
            if entry.number > range.upperBound { return false }
            if selection.contains(entry) {
                if let run = runs.last, entry.number.rawValue - run.upperBound.rawValue <= Self.gapCountMax {
                    runs[runs.count - 1] = run.lowerBound...entry.number
                } else {
                    runs.append(entry.number...entry.number)
                }
            }
            return entry.number < range.upperBound
        }
        return runs
    }

    private mutating func entries(of step: TransactionStep) -> [HistoryEntry] {
        guard selection.contains(step.entry) else { return [] }
        let changes = step.changes
        var entries: [HistoryEntry] = []
        if selection.includesStoreChanges {
            if step.changesSchema {
                entries.append(HistoryEntry(step.entry, nil, .schema(from: step.before.schema, to: step.after.schema)))
            }
            entries += changes.labels.map { HistoryEntry(step.entry, nil, .label($0)) }
        }
        for change in changes where filter.includes(change.id, step) {
            let source = change.kind == .inserted ? step.clonedSource(of: change.id) : nil
            entries += rows.rows(change, of: change.id, step, source: source)
        }
        return entries
    }
}
