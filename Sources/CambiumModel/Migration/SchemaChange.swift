/// One difference between a new schema and the schema of a store. Docs/Use/MIGRATION.md has the rules.
///
/// ```swift
/// for entry in try store.previewMigration(to: definition).entries {
///     print(entry.change.kind, entry.change.entity, entry.change.property ?? "", entry.change.reason ?? "automatic")
/// }
/// ```
public struct SchemaChange: Sendable, Hashable {
    /// The kind of a difference between two schemas.
    public enum Kind: String, Sendable, CaseIterable {
        case added, removed, renamed
        /// In the new schema, another entity of the hierarchy declares the property.
        case moved
        /// An aspect of an entity or a property changed.
        case changed
        /// A new entity or property replaces the old one. Values are not converted automatically.
        case replaced
    }

    /// The kind of the difference.
    public let kind: Kind
    /// The name of the entity in the new schema. For a removal, the name in the old schema.
    public let entity: String
    /// The attribute or relationship, or `nil` if the change concerns the entity.
    public let property: String?
    /// The changed aspect: a key in the JSON form of a schema, such as `optional`, or `queries/NAME` for a stored query. `order` means that
    /// an entity or its properties are declared in another order. The aspect is `nil` unless `kind` is `.changed`.
    public let aspect: String?
    /// The state in the old schema: a name, or a value in JSON. It is `nil` if the change has no such name or value.
    public let before: String?
    /// The state in the new schema: a name, or a value in JSON. It is `nil` if the change has no such name or value.
    public let after: String?
    /// The reason why a migration with a closure is required, or `nil` if the change is automatic.
    public let reason: String?
    /// The numbers of the entity and the property in the old schema. `nil` if the changed entity or property is new.
    package let old: Subject?
    /// The numbers of the entity and the property in the new schema. `nil` if the changed entity or property was removed.
    package let new: Subject?

    /// The parts of a schema whose order of declaration differs. Empty unless `aspect` is `order`.
    package let reordered: [Declarations]

    /// The declarations that have an order.
    package enum Declarations: Sendable, Hashable {
        /// The entities of the schema, of which the entity of the change is the first one that moved.
        case entities
        case attributes, relationships
    }

    package struct Subject: Sendable, Hashable {
        package let entity: EntityNumber
        package let property: PropertyNumber?

        init(_ entity: UInt16?, _ property: UInt16? = nil) {
            self.entity = EntityNumber(rawValue: entity ?? 0)
            self.property = property.map { PropertyNumber(rawValue: $0) }
        }
    }

    init(
        _ kind: Kind, _ entity: String, _ property: String? = nil, aspect: String? = nil, before: String? = nil, after: String? = nil,
        reason: String? = nil, reordered: [Declarations] = [], old: Subject?, new: Subject?
    ) {
        self.kind = kind
        self.entity = entity
        self.property = property
        self.aspect = aspect
        self.before = before
        self.after = after
        self.reason = reason
        self.reordered = reordered
        self.old = old
        self.new = new
    }

    package var isAutomatic: Bool { reason == nil }

    /// The name of the changed entity or property: `Note`, or `Note.title`.
    package var subject: String { property.map { "\(entity).\($0)" } ?? entity }
}
