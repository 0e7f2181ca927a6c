/// A schema with all names resolved and all rules checked. Graphs, drafts and imports work with this form.
///
/// ```swift
/// let schema = try Schema {
///     EntityDefinition("Note", identity: ["id"]) { AttributeDefinition("id", .int64) }
/// }
/// let store = try Store.open(at: "notes", creating: schema)
/// print(store.schema.entities.map(\.name))
/// ```
///
/// `Schema.init(_:)` makes a schema from a `SchemaDefinition`, which can come from JSON, Swift or a Core Data model.
public final class Schema: Sendable {
    /// The entities in declaration order.
    public let entities: [Entity]
    /// The links. Each link consists of a relationship and its inverse. If the schema names no inverse, the second end of the link has no
    /// property.
    package let links: [Link]
    /// The definition of the schema, with the assigned numbers.
    package let definition: SchemaDefinition

    private let byName: [String: Entity]
    private let byNumber: NumberTable<Entity>
    /// For each root entity, the attributes of its hierarchy.
    private let attributes: [EntityNumber: NumberTable<Attribute>]
    /// For each root entity, the relationships of its hierarchy.
    private let relationships: [EntityNumber: NumberTable<Relationship>]

    package init(entities: [Entity], links: [Link], definition: SchemaDefinition) {
        self.entities = entities
        self.links = links
        roots = entities.filter { $0.parent == nil }
        self.definition = definition
        byName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
        byNumber = NumberTable(entities.map { ($0.number.rawValue, $0) })
        let attributes = entities.flatMap { entity in entity.attributes.filter { $0.entity == entity.number } }
        self.attributes = Dictionary(grouping: attributes, by: \.root).mapValues { NumberTable($0.map { ($0.number.rawValue, $0) }) }
        let declared = entities.flatMap { entity in entity.relationships.filter { $0.entity == entity.number } }
        relationships = Dictionary(grouping: declared, by: \.root).mapValues { NumberTable($0.map { ($0.number.rawValue, $0) }) }
    }

    /// Returns the entity with the given name, or `nil` if there is no such entity.
    package func entity(_ name: String) -> Entity? { byName[CanonicalText.ordered(name)] }
    package func entity(_ number: EntityNumber) -> Entity? { byNumber[number.rawValue] }
    /// Returns the attribute with the given number in the hierarchy of a root entity. Complexity: O(1).
    package func attribute(_ number: PropertyNumber, ofRoot root: EntityNumber) -> Attribute? { attributes[root]?[number.rawValue] }
    /// Returns the relationship with the given number in the hierarchy of a root entity. Complexity: O(1).
    package func relationship(_ number: PropertyNumber, ofRoot root: EntityNumber) -> Relationship? {
        relationships[root]?[number.rawValue]
    }
    /// The root entities in declaration order. Each of them has one table in the graph.
    package let roots: [Entity]
}

extension Schema {
    /// Returns an id in its readable form, such as `Note/42`, with the name of the object's concrete entity.
    package func text(of id: ObjectID, entity: Entity) -> String { "\(entity.name)/\(id.serial)" }

    /// Parses an id such as `Note/42`. Returns `nil` if the text is not an id, or names an entity that the schema does not have.
    package func id(_ text: some StringProtocol) -> (id: ObjectID, entity: Entity)? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let entity = entity(String(parts[0])), let serial = UInt64(parts[1]), serial > 0,
            serial <= ObjectID.serialMax, parts[1].utf8.first != UInt8(ascii: "+")
        else { return nil }
        return (ObjectID(root: entity.root, serial: serial), entity)
    }
}

/// Entities, attributes and relationships are equal if they have the same number and name in the same hierarchy. For example, an entity in
/// the schema of a program equals the corresponding entity in the schema of a store that the program created.
protocol SchemaElement: AnyObject, Hashable {
    associatedtype Number: Hashable

    var number: Number { get }
    var root: EntityNumber { get }
    var name: String { get }
}

extension SchemaElement {
    public static func == (left: Self, right: Self) -> Bool {
        left === right || (left.number == right.number && left.root == right.root && left.name == right.name)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

extension Entity: Hashable, SchemaElement {}
extension Attribute: Hashable, SchemaElement {}
extension Relationship: Hashable, SchemaElement {}
