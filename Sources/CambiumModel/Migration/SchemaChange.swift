/// One thing in which a new schema differs from the one that a store has. Docs/MIGRATION.md has the rules.
public struct SchemaChange: Sendable, Hashable {
    public enum Kind: String, Sendable, CaseIterable {
        case added, removed, renamed
        /// A property is declared by another entity of the hierarchy.
        case moved
        /// Something that is said of an entity or a property is another.
        case changed
        /// Another one of the same name takes the place of an entity or a property, because what it was cannot become what it is to be.
        case replaced
    }

    public let kind: Kind
    /// The entity, by its name in the new schema; what is removed, by its name in the old one.
    public let entity: String
    /// The attribute or relationship; nil where the change is one of the entity.
    public let property: String?
    /// What changed, as the key of a schema in JSON, such as `optional`; nil but where the kind is `changed`. `order` stands for the order
    /// of declaration.
    public let aspect: String?
    /// What was and what is to be: a name, or a value in JSON; nil for nothing.
    public let before: String?
    public let after: String?
    /// Why the change needs a migration by the user; nil where it is automatic.
    public let reason: String?
    /// The entity and the property by number, before and after; nil where there is none.
    package let old: Subject?
    package let new: Subject?

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
        reason: String? = nil, old: Subject?, new: Subject?
    ) {
        self.kind = kind
        self.entity = entity
        self.property = property
        self.aspect = aspect
        self.before = before
        self.after = after
        self.reason = reason
        self.old = old
        self.new = new
    }

    public var isAutomatic: Bool { reason == nil }

    /// `Note`, or `Note.title`.
    public var subject: String { property.map { "\(entity).\($0)" } ?? entity }
}
