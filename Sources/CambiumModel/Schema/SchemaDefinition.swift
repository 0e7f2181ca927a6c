public import CambiumJSON

/// A schema as written in JSON, in Swift or as a Core Data model, before its names are resolved and its rules checked.
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
    /// The parts of the source that a schema cannot express, one sentence each.
    public var warnings: [String] = []
    /// The number of the next entity if it is more than one above the greatest number; otherwise `nil`.
    package var nextNumber: Int?

    public init(entities: [EntityDefinition]) { self.entities = entities }

    public init(@DefinitionBuilder<EntityDefinition> _ entities: () -> [EntityDefinition]) { self.entities = entities() }
}

/// Builds a list of definitions.
@resultBuilder
public enum DefinitionBuilder<Definition> {
    public static func buildBlock(_ definitions: Definition...) -> [Definition] { definitions }
}

public struct EntityDefinition: Sendable, Hashable {
    public var name: String
    public var parent: String?
    public var isAbstract = false
    /// The attributes by which imports recognize an object. If the list is empty, imports always insert.
    public var identity: [String] = []
    public var attributes: [AttributeDefinition] = []
    public var relationships: [RelationshipDefinition] = []
    /// Sets of attributes whose values no two objects share.
    public var unique: [[String]] = []
    /// Sets of attributes by which queries find or sort objects.
    public var indexes: [[String]] = []
    public var userInfo: [String: String] = [:]
    /// The entity's name in an earlier version of the schema.
    public var formerName: String?
    /// The number that a store assigned to the entity, or `nil` before that.
    package var number: UInt16?
    /// For a root entity, the number of the next property of its hierarchy if it is more than one above the greatest; otherwise `nil`.
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
    /// The default. `nil` and null both mean that there is no default.
    public var defaultValue: JSONValue?
    /// The least and the greatest value of numbers and dates.
    public var min: JSONValue?
    public var max: JSONValue?
    /// The bounds of the length: in Unicode scalars for text, in bytes for data.
    public var minLength: Int?
    public var maxLength: Int?
    /// A regular expression in RE2 syntax that must match the whole text.
    public var regex: String?
    /// The values that are allowed, or `nil` if all are.
    public var allowed: [JSONValue]?
    public var isTransient = false
    public var userInfo: [String: String] = [:]
    /// The attribute's name in an earlier version of the schema.
    public var formerName: String?
    package var number: UInt16?

    /// Returns a copy with another `userInfo`, for use in builders.
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
    /// The minimum number of members, or `nil` for no minimum.
    public var minCount: Int?
    /// The maximum number of members. `nil` stands for no limit, or for one member of a to-one relationship.
    public var maxCount: Int?
    public var userInfo: [String: String] = [:]
    /// The relationship's name in an earlier version of the schema.
    public var formerName: String?
    package var number: UInt16?

    /// Returns a copy with another `userInfo`, for use in builders.
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
