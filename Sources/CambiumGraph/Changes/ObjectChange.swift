import CambiumBytes
public import CambiumModel

/// The difference between one object at two moments, or the changes of an edit to one object. The base of the edit is the earlier moment,
/// and the edit itself is the later one.
///
/// ```swift
/// for object in graph.changes(since: older) where object.kind == .inserted { print(object.entity.name, object.id) }
/// ```
public struct ObjectChange: Sendable {
    /// The way in which an object differs between the two moments.
    public enum Kind: String, Sendable {
        case inserted, deleted, changed
    }

    private let before: Graph
    private let after: Graph
    /// The events of the object, at least one. An event about the object itself comes first.
    private let events: ArraySlice<ChangeEvent>
    /// The changes of an edit, which has no events; `nil` for a difference between two graphs.
    private let edited: Edited?

    /// The changes that an edit makes to one object.
    package final class Edited: Sendable {
        let id: ObjectID
        let entity: Entity
        let kind: Kind
        let attributes: [AttributeChange]
        let relationships: [RelationshipChange]

        package init(
            _ id: ObjectID, _ entity: Entity, _ kind: Kind, _ attributes: [AttributeChange], _ relationships: [RelationshipChange]
        ) {
            (self.id, self.entity, self.kind) = (id, entity, kind)
            (self.attributes, self.relationships) = (attributes, relationships)
        }
    }

    init(before: Graph, after: Graph, events: ArraySlice<ChangeEvent>) {
        self.before = before
        self.after = after
        self.events = events
        edited = nil
    }

    package init(_ edited: Edited, base: Graph) {
        (before, after, events) = (base, base, [])
        self.edited = edited
    }

    private var first: ChangeEvent { events[events.startIndex] }

    public var id: ObjectID { edited?.id ?? ObjectID(root: first.root, serial: first.serial) }

    /// Whether the object exists only at the later moment, only at the earlier moment, or at both.
    public var kind: Kind {
        if let edited { return edited.kind }
        switch first.kind {
        case .inserted: return .inserted
        case .deleted: return .deleted
        case .stub, .attribute, .removed, .added, .moved: return .changed
        }
    }

    /// The concrete entity of the object at the later moment, or at the earlier moment if the object was deleted.
    public var entity: Entity {
        if let edited { return edited.entity }
        guard let entity = (kind == .deleted ? before : after).entity(of: id) else {
            preconditionFailure("An object that changed must be in one of the two graphs.")
        }
        return entity
    }

    /// Whether the object is a stub at only one of the two moments. A stub is an object of which only the identity is known.
    package var changesStub: Bool { edited == nil && kind == .changed && first.kind == .stub }

    /// The attributes that differ, in the order of the schema. For an inserted or deleted object, the attributes with a value.
    ///
    /// Complexity: O(attributes of the entity x log changes of the object + bytes of the values).
    public var attributes: [AttributeChange] {
        if let edited { return edited.attributes }
        let (old, new) = (before.entity(of: id), after.entity(of: id))
        let known = new?.attributes ?? []
        let dropped = (old?.attributes ?? []).filter { new?.attribute($0.number) == nil }
        return (known + dropped).compactMap { attribute in
            if kind == .changed, !events(of: attribute.number).contains(where: { $0.kind == .attribute }) { return nil }
            let was = old?.attribute(attribute.number).flatMap { before.value(of: $0, of: id) } ?? .null
            let now = new?.attribute(attribute.number).flatMap { after.value(of: $0, of: id) } ?? .null
            return kind != .changed && was == .null && now == .null ? nil : AttributeChange(attribute: attribute, before: was, after: now)
        }
    }

    /// The relationships that differ, in the order of the schema. For an inserted or deleted object, the relationships with members.
    ///
    /// Complexity: O(relationships of the entity x log changes of the object + members that were added or removed).
    public var relationships: [RelationshipChange] {
        if let edited { return edited.relationships }
        let (old, new) = (before.entity(of: id), after.entity(of: id))
        let known = new?.relationships ?? []
        let dropped = (old?.relationships ?? []).filter { new?.relationship($0.number) == nil }
        return (known + dropped).compactMap { relationship in
            let links = RelationshipChange.Links(relationship, old?.relationship(relationship.number), id, before, after)
            return kind == .changed ? RelationshipChange(links, events(of: relationship.number)) : RelationshipChange(links)
        }
    }

    /// Returns the events of a property. All events are sorted, so the events of one property are adjacent. Complexity: O(log events).
    private func events(of property: PropertyNumber) -> ArraySlice<ChangeEvent> {
        let start = events.indices.prefixEnd { events[$0].property < property.rawValue }
        return events[start..<events.indices.prefixEnd { events[$0].property <= property.rawValue }]
    }
}

/// The value of an attribute at two moments.
///
/// ```swift
/// for object in store.graph.changes(since: earlier) {
///     for change in object.attributes { print("\(change.attribute.name): \(change.before.text) -> \(change.after.text)") }
/// }
/// ```
public struct AttributeChange: Sendable {
    /// The attribute in the later schema, or in the earlier schema if a migration has dropped the attribute.
    public let attribute: Attribute
    /// `.null` if the object or the attribute did not exist yet.
    public let before: Value
    /// `.null` if the object or the attribute no longer exists.
    public let after: Value

    package init(attribute: Attribute, before: Value, after: Value) {
        self.attribute = attribute
        self.before = before
        self.after = after
    }
}
