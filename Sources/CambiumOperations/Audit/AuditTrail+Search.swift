internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
public import CambiumModel

/// The first transaction after which a condition holds.
///
/// ```swift
/// if let found = try trail.firstTransaction(where: "price > 10", entity: "Item") {
///     print(found.step.entry.number, found.step.entry.author.actor ?? "-", found.objects)
/// }
/// ```
public struct FirstMatch: Sendable {
    /// The way in which the transaction was found.
    public enum Method: String, Sendable {
        /// Each transaction was examined.
        case scan
        /// The moments were bisected, on the assumption that the condition continues to hold.
        case bisection
    }

    /// The transaction, with the graphs before and after it.
    public let step: TransactionStep
    /// The first objects that satisfy the condition after the transaction, by entity and then by ascending id. At most 10.
    public let objects: [NamedObject]
    public let method: Method
    /// Whether an object already satisfied the condition before the transaction, which is then the first one of the range.
    public let isHeldBefore: Bool

    static let objectCountMax = 10
}

extension AuditTrail {
    /// Returns the first transaction of a range after which an object satisfies a condition; `nil` if there is no such transaction. If an
    /// object already satisfies it before the range, and after the first transaction, the first transaction is returned.
    ///
    /// The names in the condition are those of the schema at the end of the range. Before a migration renamed a property, the condition
    /// means the property with its former name.
    ///
    /// A scan examines only the objects that a transaction may have made satisfy the condition. If the condition depends only on the
    /// attributes of an object, the scan replays many transactions together, as long as no object changes twice. Bisection reads about 20
    /// moments of a million transactions. It finds the first transaction only if the condition never ceases to hold, which no form of a
    /// condition guarantees, because objects can change and be deleted. Otherwise, it finds one of the transactions after which the
    /// condition begins to hold.
    ///
    /// Throws `.invalidInput` with the position if the condition does not fit the schema at the beginning or at the end of the range.
    /// Throws `.expired` if the range begins with retired transactions. Also throws as `TransactionCursor.next()` does. Complexity: O(bytes
    /// of the log + candidates) for a scan.
    ///
    /// - Parameters:
    ///   - condition: The text of the condition.
    ///   - arguments: The values of the parameters of the condition.
    ///   - entity: The entity whose objects are examined, with its sub-entities; `nil` for each entity that the condition fits.
    ///   - first: The first transaction of the range; `nil` for the oldest one that was not retired.
    ///   - last: The last transaction of the range; `nil` for the newest one.
    ///   - method: The way in which the transaction is found.
    public func firstTransaction(
        where condition: String, _ arguments: [String: Operand] = [:], entity: String? = nil, from first: TransactionNumber? = nil,
        through last: TransactionNumber? = nil, by method: FirstMatch.Method = .scan
    ) throws -> FirstMatch? {
        let start = try first ?? oldest()
        let cursor = try transactions(from: start, through: last)
        let before = try graph(after: cursor.position)
        let end = try last ?? newest()
        if start > end { return nil }
        let after = try graph(after: end)
        let search = ConditionSearch(condition: condition, arguments: arguments, entity: entity, named: after.schema)
        try search.check(before, or: after)
        return switch method {
        case .scan: try search.scan(self, after: cursor.position, through: end)
        case .bisection: try search.bisect(self, after: cursor.position, through: end)
        }
    }
}

/// A search for the first moment at which an object satisfies a condition.
private struct ConditionSearch {
    let condition: String
    let arguments: [String: Operand]
    let entity: String?
    /// The schema whose names the condition and `entity` have.
    let named: Schema

    /// Throws if the condition fits neither of two moments.
    func check(_ start: Graph, or end: Graph) throws {
        if !queries(start).isEmpty || !queries(end).isEmpty { return }
        if let entity { try end.check(query(end.schema.required(entity), end.schema)) }
        _ = try end.filter(condition, arguments, among: end.schema.entities)
    }

    private func query(_ entity: Entity, _ schema: Schema) throws -> Query {
        var query = try Query(entity.name, where: condition, arguments)
        // A condition with other names has no text, so errors state no position.
        if let own = query.condition?.renamed(for: entity, in: schema, from: named), own != query.condition { query.condition = own }
        query.limit = FirstMatch.objectCountMax
        return query
    }

    /// Returns a query for each hierarchy of entities that the condition fits in a graph.
    private func queries(_ graph: Graph) -> [Query] {
        let schema = graph.schema
        let entities =
            entity.map { name in
                [named.entity(name).flatMap { schema.entity($0.number) } ?? schema.entity(name)].compactMap(\.self)
            } ?? schema.entities
        var covered: Set<EntityNumber> = []
        var queries: [Query] = []
        for entity in entities where !covered.contains(entity.number) {
            // A condition that does not fit an entity selects none of its objects. `check` reports a condition that fits no entity.
            guard let query = try? query(entity, schema), (try? graph.check(query)) != nil else { continue }
            queries.append(query)
            covered.formUnion(entity.family)
        }
        return queries
    }

    func scan(_ trail: AuditTrail, after first: TransactionNumber, through last: TransactionNumber) throws -> FirstMatch? {
        var position = first
        // Each pass ends with the transaction that changes the schema, because the condition may then have another meaning.
        while position < last {
            let graph = try trail.graph(after: position)
            let results = try queries(graph).map { try LiveResult($0, in: graph) }
            let found: TransactionNumber?
            if results.contains(where: { !$0.ids.isEmpty }) {
                position = position.next
                found = position
            } else if results.allSatisfy(\.dependsOnlyOnAttributes) {
                found = try scanBatches(trail, &position, through: last, graph)
            } else {
                found = try scanSteps(trail, &position, through: last, results)
            }
            guard let found else { return nil }
            let step = try trail.step(found)
            let ids = try objects(in: step.after)
            if !ids.isEmpty { return try match(step, ids, .scan) }
        }
        return nil
    }

    /// Examines the transactions after `position` one by one. Returns the first one after which an object satisfies the condition, or which
    /// changes the schema. Returns `nil` at the end.
    private func scanSteps(
        _ trail: AuditTrail, _ position: inout TransactionNumber, through last: TransactionNumber, _ results: [LiveResult]
    ) throws -> TransactionNumber? {
        var results = results
        let keys = Set(results.flatMap(\.keys))
        var cursor = TransactionCursor(trail, after: position, through: last)
        while let step = try cursor.next() {
            position = cursor.position
            if step.changesSchema { return position }
            let touched = TouchedObjects(step.changes)
            guard touched.keys.contains(where: keys.contains) else { continue }
            for index in results.indices { _ = try results[index].advance([touched], to: step.after) }
            if results.contains(where: { !$0.ids.isEmpty }) { return position }
        }
        return nil
    }

    /// Does the same as `scanSteps` for a condition that depends only on the attributes of an object. Replays transactions together as long
    /// as none of them names an object that another one names: then the object has the same values after the last of them.
    private func scanBatches(
        _ trail: AuditTrail, _ position: inout TransactionNumber, through last: TransactionNumber, _ start: Graph
    ) throws -> TransactionNumber? {
        let entities = Set(try queries(start).flatMap { try start.schema.required($0.entity).family })
        var candidates: [(id: ObjectID, transaction: TransactionNumber)] = []
        var (named, found, reached): (Set<ObjectID>, TransactionNumber?, TransactionNumber) = ([], nil, position)
        defer { position = reached }
        var view = try trail.view(after: position)
        try trail.reportingRetired(after: position) {
            try view.advance(LogReader(trail.volume), notingObjectsThrough: last, endsBatch: { $0.contains(where: named.contains) }) {
                number, objects, changesSchema in
                reached = number
                if changesSchema { found = number }
                switch objects {
                case .named(let ids):
                    for id in ids {
                        candidates.append((id, number))
                        named.insert(id)
                    }
                case .changes(let changes): for change in changes where change.kind != .deleted { candidates.append((change.id, number)) }
                }
            } published: { graph in
                if found != nil { return false }
                found = try first(of: candidates, in: graph, entities)
                if let found { reached = found }
                candidates.removeAll(keepingCapacity: true)
                named.removeAll(keepingCapacity: true)
                return found == nil
            }
        }
        return found
    }

    /// Returns the transaction of the first candidate that satisfies the condition.
    private func first(
        of candidates: [(id: ObjectID, transaction: TransactionNumber)], in graph: Graph, _ entities: Set<EntityNumber>
    ) throws -> TransactionNumber? {
        if entities.isEmpty { return nil }
        let condition = try Condition(parsing: condition)
        var filters: [EntityNumber: ObjectFilter] = [:]
        for (id, transaction) in candidates {
            guard let place = graph.place(of: id) else { continue }
            let entity = graph.entity(of: place)
            if !entities.contains(entity.number) { continue }
            let filter =
                try filters[entity.number]
                ?? ObjectFilter(
                    graph, condition.renamed(for: entity, in: graph.schema, from: named), arguments, among: [entity])
            filters[entity.number] = filter
            if filter.holds(place) { return transaction }
        }
        return nil
    }

    func bisect(_ trail: AuditTrail, after first: TransactionNumber, through last: TransactionNumber) throws -> FirstMatch? {
        if try objects(in: trail.graph(after: last)).isEmpty { return nil }
        let number = try (min(first.next.rawValue, last.rawValue)..<last.rawValue).prefixEnd { number in
            try objects(in: trail.graph(after: TransactionNumber(rawValue: number))).isEmpty
        }
        let step = try trail.step(TransactionNumber(rawValue: number))
        return try match(step, objects(in: step.after), .bisection)
    }

    private func objects(in graph: Graph) throws -> [ObjectID] { try queries(graph).flatMap { try graph.find($0) } }

    private func match(_ step: TransactionStep, _ ids: [ObjectID], _ method: FirstMatch.Method) throws -> FirstMatch {
        let names = ids.prefix(FirstMatch.objectCountMax).map { NamedObject($0, in: step.after) }
        return FirstMatch(step: step, objects: Array(names), method: method, isHeldBefore: try !objects(in: step.before).isEmpty)
    }
}
