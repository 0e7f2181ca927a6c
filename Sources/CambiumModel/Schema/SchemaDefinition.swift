public import CambiumJSON

/// A schema as it is written down, in JSON, in Swift or as a Core Data model, before its names are resolved and its rules checked.
///
///     let definition = SchemaDefinition {
///         EntityDefinition("Note", identity: ["id"]) {
///             AttributeDefinition("id", .uuid)
///             AttributeDefinition("title", .string, default: .string(""))
///             RelationshipDefinition("items", to: "Item", .toMany, inverse: "note", onDelete: .cascade)
///         }
///         EntityDefinition("Item") {
///             AttributeDefinition("name", .string, .optional)
///             RelationshipDefinition("note", to: "Note", inverse: "items")
///         }
///     }
///     let schema = try Schema(definition)
public struct SchemaDefinition: Sendable, Hashable {
    public var entities: [EntityDefinition]
    /// What the source has that a schema cannot carry, one sentence each.
    public var warnings: [String] = []
    /// The number that the next entity gets, where it is more than one above the greatest; nil else.
    package var nextNumber: Int?

    public init(entities: [EntityDefinition]) { self.entities = entities }

    public init(@DefinitionBuilder<EntityDefinition> _ entities: () -> [EntityDefinition]) { self.entities = entities() }
}

/// Lists definitions, one after the other.
@resultBuilder
public enum DefinitionBuilder<Definition> {
    public static func buildBlock(_ definitions: Definition...) -> [Definition] { definitions }
}

public struct EntityDefinition: Sendable, Hashable {
    public var name: String
    public var parent: String?
    public var isAbstract = false
    /// The attributes by which imports recognise an object; none for an entity whose imports always insert.
    public var identity: [String] = []
    public var attributes: [AttributeDefinition] = []
    public var relationships: [RelationshipDefinition] = []
    /// Sets of attributes whose values no two objects share.
    public var unique: [[String]] = []
    /// Sets of attributes by which objects are looked for or sorted.
    public var indexes: [[String]] = []
    public var userInfo: [String: String] = [:]
    /// The entity's name in an earlier version of the schema.
    public var formerName: String?
    /// The number that a store gave to the entity; nil before that.
    package var number: UInt16?
    /// Of a root entity: the number that the next property of its hierarchy gets, where it is more than one above the greatest; nil else.
    package var nextNumber: Int?

    public init(
        _ name: String, parent: String? = nil, identity: [String] = [],
        @DefinitionBuilder<any PropertyDefinition> properties: () -> [any PropertyDefinition] = { [] }
    ) {
        self.name = name
        self.parent = parent
        self.identity = identity
        for property in properties() {
            if let attribute = property as? AttributeDefinition { attributes.append(attribute) }
            if let relationship = property as? RelationshipDefinition { relationships.append(relationship) }
        }
    }
}

/// An attribute or a relationship.
public protocol PropertyDefinition: Sendable {
    var name: String { get }
}

public struct AttributeDefinition: PropertyDefinition, Hashable {
    public enum Presence: Sendable, Hashable { case mandatory, optional }

    public var name: String
    public var type: AttributeType
    public var presence: Presence
    /// Nil and null are the same: no default.
    public var defaultValue: JSONValue?
    /// Numbers and dates: the least and the greatest value.
    public var min: JSONValue?
    public var max: JSONValue?
    /// Text: in Unicode scalars. Data: in bytes.
    public var minLength: Int?
    public var maxLength: Int?
    /// In RE2 syntax; the whole text has to match.
    public var regex: String?
    /// The values that are allowed; nil for all.
    public var allowed: [JSONValue]?
    public var isTransient = false
    public var userInfo: [String: String] = [:]
    /// The attribute's name in an earlier version of the schema.
    public var formerName: String?
    package var number: UInt16?

    /// The same with this `userInfo`, for builders.
    public func with(userInfo: [String: String]) -> Self {
        var copy = self
        copy.userInfo = userInfo
        return copy
    }

    public init(
        _ name: String, _ type: AttributeType, _ presence: Presence = .mandatory, default defaultValue: JSONValue? = nil
    ) {
        self.name = name
        self.type = type
        self.presence = presence
        self.defaultValue = defaultValue
    }
}

public struct RelationshipDefinition: PropertyDefinition, Hashable {
    public enum Cardinality: Sendable, Hashable { case toOne, toMany, orderedToMany }

    public var name: String
    public var destination: String
    public var cardinality: Cardinality
    public var inverse: String?
    public var deleteRule: DeleteRule
    /// Fewest members; nil for none.
    public var minCount: Int?
    /// Most members; nil for any number, or one where the relationship is to-one.
    public var maxCount: Int?
    public var userInfo: [String: String] = [:]
    /// The relationship's name in an earlier version of the schema.
    public var formerName: String?
    package var number: UInt16?

    /// The same with this `userInfo`, for builders.
    public func with(userInfo: [String: String]) -> Self {
        var copy = self
        copy.userInfo = userInfo
        return copy
    }

    public init(
        _ name: String, to destination: String, _ cardinality: Cardinality = .toOne, inverse: String? = nil,
        onDelete deleteRule: DeleteRule = .nullify
    ) {
        self.name = name
        self.destination = destination
        self.cardinality = cardinality
        self.inverse = inverse
        self.deleteRule = deleteRule
    }
}
