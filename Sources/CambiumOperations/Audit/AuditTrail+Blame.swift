import CambiumGraph
public import CambiumModel

/// The transaction that last set a property of an object.
///
/// ```swift
/// for row in try trail.blame(of: note) { print(row.property, row.author?.actor ?? "-", row.source?.name ?? "") }
/// ```
public struct BlameRow: Sendable {
    /// The value of a property.
    public enum Content: Sendable, Equatable {
        case value(Value)
        /// The target of a to-one relationship; `nil` if there is none.
        case target(NamedObject?)
        /// The members of a to-many relationship, in order if it is ordered, otherwise ascending.
        case members([NamedObject])
    }

    /// The name of the attribute or relationship.
    public let property: String
    /// The value at the moment of the question.
    public let content: Content
    /// The transaction that last set the property; `nil` if it was retired.
    public let transaction: TransactionNumber?
    /// The time of the transaction; `nil` if it was retired.
    public let time: Timestamp?
    /// The author of the transaction; `nil` if it was retired.
    public let author: Author?
    /// The object in which the transaction set the property, if the value came with a clone.
    public let source: NamedObject?
    /// Whether the transaction is ignored, but no earlier one set the property.
    public let isIgnored: Bool
}

extension AuditTrail {
    /// Returns, for each attribute and relationship of an object, the transaction that last set it. The value of a copy is followed to the
    /// source of the clone.
    ///
    /// ```swift
    /// let rows = try trail.blame(of: note) { $0.author.actor == "formatter" }
    /// for row in rows { print(row.property, row.transaction ?? .none) }
    /// ```
    ///
    /// A transaction sets a property if the value after it differs from the value before it. A property that never changed since the object
    /// was inserted is set by the insertion. A derived attribute is set by the transaction that changed its members.
    ///
    /// Ignored transactions are passed over: the property is attributed to the transaction that set it before, as `git blame --ignore-rev`
    /// does. If no earlier transaction set it, the row names the ignored one, and `isIgnored` is true.
    ///
    /// Throws `.notFound` if the object or the moment does not exist. Also throws as `history(of:limit:)` does. Complexity: that of the
    /// part of the history up to the oldest transaction in the result.
    ///
    /// - Parameters:
    ///   - id: The object.
    ///   - point: The moment whose values are attributed.
    ///   - isIgnored: Returns whether a transaction is ignored.
    public func blame(
        of id: ObjectID, at point: Point = .latest, ignoring isIgnored: (TransactionLog.Entry) -> Bool = { _ in false }
    ) throws -> [BlameRow] {
        let graph = try graph(at: point)
        guard let entity = graph.entity(of: id) else { throw graph.schema.missingObject(id) }
        var search = BlameSearch(graph, id, entity)
        var line = try ObjectLifeline(self, id, from: graph, downTo: Self.first, readsOps: true)
        while !search.isDone, let found = try line.next() {
            search.track(found, line, isIgnored: isIgnored(found.step.entry))
        }
        return search.rows()
    }
}

/// The properties of an object, and the transactions that were found to have set them.
private struct BlameSearch {
    private struct Origin {
        let entry: TransactionLog.Entry
        let source: NamedObject?
        var isIgnored = false
    }

    private let graph: Graph
    private let id: ObjectID
    private let entity: Entity
    private var pending: Set<PropertyNumber>
    private var origins: [PropertyNumber: Origin] = [:]
    /// For each property, the newest ignored transaction that set it.
    private var ignored: [PropertyNumber: Origin] = [:]
    /// The source whose history is being read; `nil` for the object itself.
    private var source: NamedObject?

    init(_ graph: Graph, _ id: ObjectID, _ entity: Entity) {
        (self.graph, self.id, self.entity) = (graph, id, entity)
        pending = Set(entity.attributes.map(\.number) + entity.relationships.map(\.number))
    }

    var isDone: Bool { pending.isEmpty }

    /// - Parameter line: the walk, which is at the moment before the transaction.
    mutating func track(_ found: ObjectStep, _ line: ObjectLifeline, isIgnored: Bool) {
        let entry = found.step.entry
        for property in setProperties(found, line) {
            if isIgnored {
                if ignored[property] == nil { ignored[property] = Origin(entry: entry, source: source, isIgnored: true) }
            } else {
                origins[property] = Origin(entry: entry, source: source)
                pending.remove(property)
            }
        }
        if let next = found.source { source = NamedObject(next, in: found.step.before, or: found.step.after) }
    }

    /// Returns the pending properties that a transaction set.
    private func setProperties(_ found: ObjectStep, _ line: ObjectLifeline) -> Set<PropertyNumber> {
        guard let change = found.change else { return introduced(found) }
        switch change.kind {
        case .deleted: return []
        case .inserted:
            // An insertion cannot have set a property that a later migration added.
            let entity = found.step.after.entity(of: found.id)
            let existing = pending.filter { entity?.hasProperty($0) ?? false }
            return found.source == nil ? existing : existing.filter { !isCopied($0, found, line) }
        case .changed:
            let difference = ObjectDifference(change, after: found.step.after)
            let numbers = difference.attributes.map(\.number) + difference.relationships.map(\.number)
            return pending.intersection(numbers).union(introduced(found))
        }
    }

    /// Returns the pending properties that the entity of the object did not have before: a migration added them, or the transaction deleted
    /// the object and created it with another entity.
    private func introduced(_ found: ObjectStep) -> Set<PropertyNumber> {
        guard let before = found.step.before.entity(of: found.id), let after = found.step.after.entity(of: found.id) else { return [] }
        return pending.filter { after.hasProperty($0) && !before.hasProperty($0) }
    }

    /// Returns whether a copy has the value of its source. Members that the same transaction copied count as their sources.
    private func isCopied(_ property: PropertyNumber, _ found: ObjectStep, _ line: ObjectLifeline) -> Bool {
        guard let source = found.source, let old = line.graph.entity(of: source) else { return false }
        let after = found.step.after
        if let attribute = old.attribute(property) {
            guard let own = after.entity(of: found.id)?.attribute(property) else { return false }
            return line.graph.value(of: attribute, of: source) == after.value(of: own, of: found.id)
        }
        guard let relationship = old.relationship(property), let own = after.entity(of: found.id)?.relationship(property) else {
            return false
        }
        let members = (after.members(own, of: found.id) ?? []).map { member -> ObjectID in
            guard let place = after.place(of: member), after.provenance(of: place).created == found.step.entry.number else { return member }
            return after.source(of: member) ?? member
        }
        let originals = line.graph.members(relationship, of: source) ?? []
        return own.isOrdered ? members == originals : members.sorted() == originals.sorted()
    }

    /// Returns a row for each attribute and relationship, in the order of the schema.
    func rows() -> [BlameRow] {
        entity.attributes.map { row($0.name, $0.number, .value(graph.value(of: $0, of: id) ?? .null)) }
            + entity.relationships.map { relationship in
                let members = (graph.members(relationship, of: id) ?? []).map { NamedObject($0, in: graph) }
                return row(relationship.name, relationship.number, relationship.isToMany ? .members(members) : .target(members.first))
            }
    }

    private func row(_ name: String, _ number: PropertyNumber, _ content: BlameRow.Content) -> BlameRow {
        let origin = origins[number] ?? ignored[number]
        return BlameRow(
            property: name, content: content, transaction: origin?.entry.number, time: origin?.entry.time, author: origin?.entry.author,
            source: origin?.source, isIgnored: origin?.isIgnored ?? false)
    }
}

extension Entity {
    fileprivate func hasProperty(_ number: PropertyNumber) -> Bool { attribute(number) != nil || relationship(number) != nil }
}
