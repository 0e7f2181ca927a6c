public import CambiumGraph
public import CambiumModel

/// An object as an audit shows it: its id, and its name at the moment of the change.
///
/// ```swift
/// if let object = entry.object { print(object.name, object.id) }
/// ```
public struct NamedObject: Sendable, Hashable, CustomStringConvertible {
    public let id: ObjectID
    /// The entity and the serial, such as `Note/42`.
    public let name: String
    /// The name, followed by the identity of the object: `Issue/65 (CORE-17)`.
    package let title: String

    /// - Parameter other: Another graph, which may have the object if `graph` does not have it.
    init(_ id: ObjectID, in graph: Graph, or other: Graph? = nil) {
        self.id = id
        let known = graph.contains(id) ? graph : other ?? graph
        name = known.name(of: id) ?? "\(known.schema.entity(id.root)?.name ?? "?")/\(id.serial)"
        title = known.fullName(of: id) ?? name
    }

    public var description: String { name }
}

/// One change in a history: of a property, of an object, or of the store itself.
///
/// ```swift
/// for entry in try trail.history(of: note) {
///     guard case .attribute(let value) = entry.change else { continue }
///     print(entry.time, entry.author.actor ?? "-", value.name, value.before.text, value.after.text)
/// }
/// ```
public struct HistoryEntry: Sendable {
    /// The number of the transaction.
    public let transaction: TransactionNumber
    /// The time of the transaction.
    public let time: Timestamp
    /// The author of the transaction, with the message and the request id.
    public let author: Author
    /// The changed object; `nil` if the change does not concern an object.
    public let object: NamedObject?
    /// The change.
    public let change: Change

    /// The value of an attribute before and after a transaction.
    public struct ValueChange: Sendable, Equatable {
        /// The name of the attribute at the end of the history, or its last name if a migration has dropped it. ` (removed)`
        /// follows the last name if another property has it at the end.
        public let name: String
        /// The name at the time of the change; `nil` if it equals `name`.
        public let formerName: String?
        /// `.null` if the object or the attribute did not exist yet.
        public let before: Value
        /// `.null` if the object or the attribute no longer exists.
        public let after: Value
    }

    /// The members of a relationship that a transaction added or removed, or their new order.
    public struct MemberChange: Sendable, Equatable {
        /// The members of an ordered relationship before and after a transaction that only moved them.
        public struct Order: Sendable, Equatable {
            public let before: [NamedObject]
            public let after: [NamedObject]
        }

        /// The name of the relationship at the end of the history, or its last name if a migration has dropped it. ` (removed)`
        /// follows the last name if another property has it at the end.
        public let name: String
        /// The name at the time of the change; `nil` if it equals `name`.
        public let formerName: String?
        public let added: [NamedObject]
        public let removed: [NamedObject]
        /// The order before and after; `nil` if members were added or removed.
        public let moved: Order?
    }

    /// The attributes that have a value, and the relationships that have members, of an object that a transaction inserted or deleted.
    public struct Properties: Sendable, Equatable {
        public let values: [ValueChange]
        public let members: [MemberChange]
    }

    /// The kind of a change, with its values. Later versions may add kinds.
    public enum Change: Sendable {
        /// The object was inserted with these values.
        case inserted(Properties)
        /// The object was deleted. It had these values.
        case deleted(Properties)
        /// The object was made as a copy. The history continues with the source.
        case cloned(from: NamedObject, Properties)
        case attribute(ValueChange)
        case relationship(MemberChange)
        /// The object became a stub, of which only the identity is known, or a stub became a full object.
        case stub(isStub: Bool)
        /// A migration renamed the entity or a property of the object.
        case renamed(RenamedElement, from: String, to: String)
        /// A migration changed the schema.
        case schema(from: Schema, to: Schema)
        case label(LabelChange)
        /// A compaction retired this transaction and all earlier ones, so the history ends here.
        case retired
    }

    /// The element of a schema that a migration renamed.
    public enum RenamedElement: String, Sendable {
        case entity, attribute, relationship
    }

    init(_ entry: TransactionLog.Entry, _ object: NamedObject?, _ change: Change) {
        (transaction, time, author) = (entry.number, entry.time, entry.author)
        (self.object, self.change) = (object, change)
    }
}

/// Makes the rows of a history from the difference of one object.
package struct HistoryRows {
    /// The schema at the end of the history, whose names the rows have.
    let latest: Schema
    /// The names of the properties to show; empty for all properties.
    let properties: [String]

    /// Returns the rows for a transaction and an object. Returns no rows if the transaction changed only properties that are not shown, or
    /// if it inserted or deleted an object that has none of the properties to show.
    ///
    /// - Parameter source: The object from which a clone made the object in this transaction.
    func rows(_ change: ObjectChange?, of id: ObjectID, _ step: TransactionStep, source: ObjectID? = nil) -> [HistoryEntry] {
        let object = NamedObject(id, in: step.after, or: step.before)
        func row(_ change: HistoryEntry.Change) -> HistoryEntry { HistoryEntry(step.entry, object, change) }
        guard let change else { return renamings(of: id, step).map(row) }
        if change.kind != .changed, !hasShownProperty(change.entity) { return [] }
        let difference = ObjectDifference(change, after: step.after)
        let values = difference.attributes.compactMap { value($0, id.root) }
        let members = difference.relationships.compactMap { self.members($0, id.root, step) }
        switch change.kind {
        case .inserted:
            let properties = HistoryEntry.Properties(values: values, members: members)
            guard let source else { return [row(.inserted(properties))] }
            return [row(.cloned(from: NamedObject(source, in: step.before, or: step.after), properties))]
        case .deleted:
            return [row(.deleted(HistoryEntry.Properties(values: values, members: members)))]
        case .changed:
            var changes = renamings(of: id, step)
            if change.changesStub, properties.isEmpty {
                changes.append(.stub(isStub: step.after.place(of: id).map(step.after.isStub) ?? false))
            }
            changes += values.map { .attribute($0) } + members.map { .relationship($0) }
            return changes.map(row)
        }
    }

    private func value(_ value: ObjectDifference.AttributeDifference, _ root: EntityNumber) -> HistoryEntry.ValueChange? {
        let name = latest.attribute(value.number, ofRoot: root)?.name ?? nameOfRemoved(value.name, root)
        guard isShown(name, value.name, root) else { return nil }
        return HistoryEntry.ValueChange(
            name: name, formerName: name == value.name ? nil : value.name, before: value.before, after: value.after)
    }

    private func members(_ members: MemberDifference, _ root: EntityNumber, _ step: TransactionStep) -> HistoryEntry.MemberChange? {
        let name = latest.relationship(members.number, ofRoot: root)?.name ?? nameOfRemoved(members.name, root)
        guard isShown(name, members.name, root) else { return nil }
        func named(_ ids: [ObjectID]) -> [NamedObject] { ids.map { NamedObject($0, in: step.after, or: step.before) } }
        return HistoryEntry.MemberChange(
            name: name, formerName: name == members.name ? nil : members.name, added: named(members.added),
            removed: named(members.removed), moved: members.moved.map { .init(before: named($0.before), after: named($0.after)) })
    }

    /// Returns a name for a property that a migration has removed. If another property has its name now, the rows must differ.
    private func nameOfRemoved(_ name: String, _ root: EntityNumber) -> String { hasProperty(name, root) ? name + Self.removed : name }

    /// The end of the name of a removed property whose name another property has.
    package static let removed = " (removed)"

    /// Returns whether a property is shown. A wanted name means the property that has it now. If no property has the name now, it means
    /// each property that had it at the time of the change.
    private func isShown(_ name: String, _ formerName: String, _ root: EntityNumber) -> Bool {
        if properties.isEmpty || properties.contains(name) { return true }
        return properties.contains(formerName) && !hasProperty(formerName, root)
    }

    /// Returns whether one of the properties of an entity is shown. The entity may be that of an earlier moment.
    private func hasShownProperty(_ entity: Entity) -> Bool {
        let root = entity.root
        if properties.isEmpty { return true }
        return entity.attributes.contains { attribute in
            let name = latest.attribute(attribute.number, ofRoot: root)?.name
            return isShown(name ?? nameOfRemoved(attribute.name, root), attribute.name, root)
        }
            || entity.relationships.contains { relationship in
                let name = latest.relationship(relationship.number, ofRoot: root)?.name
                return isShown(name ?? nameOfRemoved(relationship.name, root), relationship.name, root)
            }
    }

    private func hasProperty(_ name: String, _ root: EntityNumber) -> Bool {
        latest.entities.contains { $0.root == root && ($0.attribute(name) != nil || $0.relationship(name) != nil) }
    }

    private func renamings(of id: ObjectID, _ step: TransactionStep) -> [HistoryEntry.Change] {
        guard step.changesSchema, let old = step.before.entity(of: id), let new = step.after.entity(of: id) else { return [] }
        var changes: [HistoryEntry.Change] = []
        if old.name != new.name, properties.isEmpty { changes.append(.renamed(.entity, from: old.name, to: new.name)) }
        for attribute in new.attributes {
            guard let former = old.attribute(attribute.number), former.name != attribute.name else { continue }
            let name = latest.attribute(attribute.number, ofRoot: id.root)?.name ?? nameOfRemoved(attribute.name, id.root)
            if isShown(name, former.name, id.root) { changes.append(.renamed(.attribute, from: former.name, to: attribute.name)) }
        }
        for relationship in new.relationships {
            guard let former = old.relationship(relationship.number), former.name != relationship.name else { continue }
            let name = latest.relationship(relationship.number, ofRoot: id.root)?.name ?? nameOfRemoved(relationship.name, id.root)
            if isShown(name, former.name, id.root) { changes.append(.renamed(.relationship, from: former.name, to: relationship.name)) }
        }
        return changes
    }
}

extension TransactionStep {
    /// Whether the transaction changed the schema. Complexity: O(1).
    package var changesSchema: Bool { after.schemaTransaction == entry.number }

    /// Returns the object from which a clone made an object in this transaction. Returns `nil` for a copy that an undo or a revert brought
    /// back: its id was assigned before, and its own history continues before its deletion. Also returns `nil` for a copy that a migration
    /// gave a new id.
    package func clonedSource(of id: ObjectID) -> ObjectID? { changesSchema || before.hasAssigned(id) ? nil : after.source(of: id) }

    /// Whether an object is of an entity, or of one of its sub-entities, before or after the transaction. An entity that a migration
    /// renamed is known by its number, and an entity that a migration replaced by its name.
    package func isObject(_ id: ObjectID, of name: String, _ number: EntityNumber?) -> Bool {
        [after, before].contains { graph in
            guard let own = graph.entity(of: id) else { return false }
            return [number.flatMap { graph.schema.entity($0) }, graph.schema.entity(name)].contains {
                $0?.family.contains(own.number) ?? false
            }
        }
    }
}
