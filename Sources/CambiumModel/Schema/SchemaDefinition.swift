/// A schema as it is written in JSON, in Swift or as a Core Data model. Its names are not resolved and its rules are not checked yet.
///
/// ```swift
/// let definition = SchemaDefinition {
///     EntityDefinition("Note", identity: ["id"]) {
///         AttributeDefinition("id", .uuid)
///         AttributeDefinition("title", .string, default: "", maxLength: 200)
///         RelationshipDefinition("items", to: "Item", .toMany, inverse: "note", onDelete: .cascade)
///     }
///     EntityDefinition("Item") {
///         AttributeDefinition("name", .string, .optional)
///         RelationshipDefinition("note", to: "Note", inverse: "items")
///     }
/// }
/// let schema = try Schema(definition)
/// ```
public struct SchemaDefinition: Sendable, Hashable {
    package var entities: [EntityDefinition]
    /// One sentence for each part that a schema cannot express. Only Core Data models have such parts.
    public var warnings: [String] = []
    /// The number for the next new entity if it is more than one above the greatest number in use; otherwise `nil`.
    package var nextNumber: Int?

    /// Creates a definition from an array of entities. `Schema.init` checks the definition.
    package init(entities: [EntityDefinition]) { self.entities = entities }

    /// Creates a definition from a list of entities. `Schema.init` checks the definition.
    public init(@DefinitionBuilder<EntityDefinition> _ entities: () -> [EntityDefinition]) { self.entities = entities() }
}

/// Builds a list of definitions, such as the entities of a schema or the properties of a record.
///
/// ```swift
/// let schema = try Schema {
///     EntityDefinition("Shelf") { AttributeDefinition("code", .string) }
///     EntityDefinition("Product") { AttributeDefinition("sku", .string) }
/// }
/// ```
@resultBuilder
public enum DefinitionBuilder<Definition> {
    public static func buildExpression(_ definition: Definition) -> Definition { definition }
    public static func buildBlock(_ definitions: Definition...) -> [Definition] { definitions }
}

/// An entity of a schema definition.
///
/// ```swift
/// EntityDefinition("Person", parent: "Party", identity: ["id"], indexes: [["name[c]", "-born"]]) {
///     AttributeDefinition("name", .string)
/// }
/// ```
public struct EntityDefinition: Sendable, Hashable {
    /// Whether a store can contain objects of the entity itself, or only of its sub-entities.
    public enum Kind: Sendable, Hashable { case concrete, abstract }

    package var name: String
    package var parent: String?
    package var isAbstract = false
    /// The attributes by which imports recognize an object. If the list is empty, an import inserts a new object for each row.
    package var identity: [String] = []
    package var attributes: [AttributeDefinition] = []
    package var relationships: [RelationshipDefinition] = []
    package var queries: [QueryDefinition] = []
    /// Sets of attributes and to-one relationships. No two objects have the same values and targets in a whole set.
    package var unique: [[String]] = []
    /// Sets of attributes by which queries find or sort objects.
    package var indexes: [[String]] = []
    package var userInfo: [String: String] = [:]
    /// The entity's name in an earlier version of the schema.
    package var formerName: String?
    /// The number that a store assigned to the entity, or `nil` if no store has assigned a number yet.
    package var number: UInt16?
    /// For a root entity, the number for the next new property of its hierarchy. `nil` if it is one above the greatest number in use.
    package var nextNumber: Int?

    /// Creates a definition. `Schema.init` checks the definition.
    ///
    /// - Parameters:
    ///   - parent: The entity whose properties this entity inherits.
    ///   - identity: The attributes and to-one relationships by which imports recognize an object, such as `["project", "number"]`. Without
    ///     an identity, an import inserts a new object for each row.
    ///   - unique: Sets of attributes and to-one relationships, such as `[["project", "number"]]`. No two objects have the same values and
    ///     targets in a whole set. The order of the attributes is the order of the set's index, so sets that differ only in the order are
    ///     two sets.
    ///   - indexes: Sets of attributes in their order of significance, such as `["name[c]", "-born"]`. `-` means descending, and `[c]`
    ///     means that the case of letters is ignored.
    ///   - renamedFrom: The entity's name in the schema that a migration replaces.
    public init(
        _ name: String, _ kind: Kind = .concrete, parent: String? = nil, identity: [String] = [], unique: [[String]] = [],
        indexes: [[String]] = [], userInfo: [String: String] = [:], renamedFrom: String? = nil,
        @DefinitionBuilder<any PropertyDefinition> properties: () -> [any PropertyDefinition] = { [] }
    ) {
        self.name = name
        isAbstract = kind == .abstract
        self.parent = parent
        self.identity = identity
        self.unique = unique
        self.indexes = indexes
        self.userInfo = userInfo
        formerName = renamedFrom
        for property in properties() {
            if let attribute = property as? AttributeDefinition { attributes.append(attribute) }
            if let relationship = property as? RelationshipDefinition { relationships.append(relationship) }
            if let query = property as? QueryDefinition { queries.append(query) }
        }
    }
}

/// A definition that an entity's definition can contain: `AttributeDefinition`, `RelationshipDefinition` or `QueryDefinition`.
///
/// ```swift
/// let created: any PropertyDefinition = AttributeDefinition("created", .date)
/// let definition = SchemaDefinition {
///     EntityDefinition("Order") { created }
///     EntityDefinition("Customer") { created }
/// }
/// ```
public protocol PropertyDefinition: Sendable {}

extension SchemaDefinition {
    /// The maximum total of entities, properties, unique sets, indexes and queries in a schema. Inherited parts count again for each entity
    /// that inherits them.
    static let inheritedCountMax = 1 << 22

    /// Checks, before the whole definition of the schema is resolved, that its entities do not inherit too much.
    ///
    /// - Parameter parents: For each entity, the index of its parent. The parents must not form a cycle.
    package func checkInheritance(parents: [Int?]) throws(CambiumError) { try checkInheritance(SchemaTree(parents: parents)) }

    /// Checks that the entities do not inherit too much. Each entity has a list of everything that it inherits, so many levels with many
    /// properties would need too much memory.
    func checkInheritance(_ tree: SchemaTree) throws(CambiumError) {
        var ownCounts = entities.map {
            $0.attributes.count + $0.relationships.count + $0.unique.count + $0.indexes.count + $0.queries.count + 1
        }
        var sum = 0
        for place in tree.order {
            if let parent = tree.parents[place] { ownCounts[place] += ownCounts[parent] }
            sum += ownCounts[place]
            guard sum <= Self.inheritedCountMax else {
                throw CambiumError(
                    .limitExceeded,
                    "The schema has more than \(Self.inheritedCountMax) entities, properties, unique sets, indexes and queries, "
                        + "including those that each entity inherits. "
                        + "Use fewer levels of parents, or declare fewer properties in the upper levels.")
            }
        }
    }
}
