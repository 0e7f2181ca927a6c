/// An entity, resolved from a schema. Its lists include inherited properties, in declaration order. The properties of the parent come
/// first.
///
/// ```swift
/// let note = try store.schema.required("Note")
/// print(note.name, note.identity.map(\.name), note.relationships.map(\.name))
/// ```
public final class Entity: Sendable {
    package let number: EntityNumber
    /// The name in the schema.
    public let name: String
    /// The root entity of the hierarchy. The table of the root entity contains the objects of this entity. An entity without a parent is
    /// its own root.
    package let root: EntityNumber
    package let parent: EntityNumber?
    /// Whether only the sub-entities have objects.
    package let isAbstract: Bool
    /// The entity itself and all its descendants.
    package let family: Set<EntityNumber>
    /// The attributes that the entity declares or inherits.
    public let attributes: [Attribute]
    /// The relationships that the entity declares or inherits.
    public let relationships: [Relationship]
    /// The attributes and to-one relationships by which imports recognize an object. If the list is empty, an import inserts a new object
    /// for each row.
    public let identity: [IdentityComponent]
    /// The values that state an identity, in the order of `identity`.
    package let identityValues: [IdentityValue]
    /// The type of the identity attribute, if the identity consists of exactly one attribute; otherwise `nil`.
    package let identityType: AttributeType?
    /// Sets of properties. No two objects have the same values of all properties in a set. The identity is one of the sets.
    package let uniqueSets: [UniqueSet]
    /// The indexes that the entity declares or inherits. The indexes of the parent come first.
    package let indexes: [EntityIndex]
    /// The stored queries that the entity declares or inherits. The queries of the parent come first.
    package let queries: [StoredQuery]
    /// The texts that the schema attaches to the entity.
    public let userInfo: [String: String]
    package let schemaName: SchemaName
    /// The name before the schema renamed the entity; `nil` if the schema states no such name.
    package let formerName: String?

    private let attributesByName: [String: Attribute]
    private let relationshipsByName: [String: Relationship]
    private let attributesByNumber: NumberTable<Attribute>
    private let relationshipsByNumber: NumberTable<Relationship>

    package init(
        number: EntityNumber, name: String, formerName: String?, root: EntityNumber, parent: EntityNumber?, isAbstract: Bool,
        family: Set<EntityNumber>, attributes: [Attribute], relationships: [Relationship],
        identity: [IdentityComponent], identityValues: [IdentityValue], uniqueSets: [UniqueSet], indexes: [EntityIndex] = [],
        queries: [StoredQuery] = [], userInfo: [String: String]
    ) {
        self.number = number
        self.name = name
        self.root = root
        self.parent = parent
        self.isAbstract = isAbstract
        self.family = family
        self.attributes = attributes
        self.relationships = relationships
        self.identity = identity
        self.identityValues = identityValues
        identityType = identity.count == 1 ? identity[0].attribute?.type : nil
        self.uniqueSets = uniqueSets
        self.indexes = indexes
        self.queries = queries
        self.userInfo = userInfo
        self.formerName = formerName
        schemaName = SchemaName(name, formerName: formerName)
        attributesByName = Dictionary(uniqueKeysWithValues: attributes.map { ($0.name, $0) })
        relationshipsByName = Dictionary(uniqueKeysWithValues: relationships.map { ($0.name, $0) })
        attributesByNumber = NumberTable(attributes.map { ($0.number.rawValue, $0) })
        relationshipsByNumber = NumberTable(relationships.map { ($0.number.rawValue, $0) })
    }

    /// Returns the attribute that the entity declares or inherits under the given name, or `nil` if there is no such attribute.
    package func attribute(_ name: String) -> Attribute? { attributesByName[CanonicalText.ordered(name)] }
    /// Returns the relationship that the entity declares or inherits under the given name, or `nil` if there is no such relationship.
    package func relationship(_ name: String) -> Relationship? { relationshipsByName[CanonicalText.ordered(name)] }
    /// Returns the stored query with the given name, or `nil` if there is no such query. Complexity: O(queries).
    package func query(_ name: String) -> StoredQuery? {
        let name = CanonicalText.ordered(name)
        return queries.first { $0.name == name }
    }
    package func attribute(_ number: PropertyNumber) -> Attribute? { attributesByNumber[number.rawValue] }
    package func relationship(_ number: PropertyNumber) -> Relationship? { relationshipsByNumber[number.rawValue] }

    /// Returns the names of the properties in a unique set of the entity, in the order of the set.
    package func names(of set: UniqueSet) -> [String] { set.properties.map { attribute($0)?.name ?? relationship($0)?.name ?? "" } }

    /// Returns whether a unique set of the entity contains a to-one relationship.
    package func hasRelationship(in set: UniqueSet) -> Bool { set.properties.contains { relationship($0) != nil } }
}

/// A set of attributes and to-one relationships. No two objects of the entity and its sub-entities have the same values and targets in the
/// whole set. A null and a missing target are never duplicates.
package struct UniqueSet: Sendable, Hashable {
    /// The entity that declares the set.
    package let entity: EntityNumber
    package let properties: [PropertyNumber]
    package let isIdentity: Bool

    package init(entity: EntityNumber, properties: [PropertyNumber], isIdentity: Bool) {
        self.entity = entity
        self.properties = properties
        self.isIdentity = isIdentity
    }
}
