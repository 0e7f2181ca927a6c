import CambiumModel

/// The rules by which objects of one entity are read from JSON objects.
///
/// ```swift
/// let product = ObjectMapping(attributes: ["name": "title.en"], relationships: ["shelf": "place.code"])
/// options.mapping = ImportMapping(entity: "Order", nested: ["Product": product])
/// ```
public struct ObjectMapping: Sendable, Hashable {
    /// The attributes by which objects are found; `nil` for the identity in the schema, empty if each row inserts a new object.
    package var identity: [String]?
    /// The text between the keys of a path.
    package var delimiter: String
    /// The text that marks a following delimiter as part of a key.
    package var escape: String
    /// The rules for attributes, by attribute name. An attribute that is not listed is read from the key with its name.
    package var attributes: [String: PropertyMapping]
    package var relationships: [String: PropertyMapping]
    /// The key that names the entity of an object.
    package var entityFrom: Discriminator?

    @usableFromInline package static let standardDelimiter = "."
    @usableFromInline package static let standardEscape = "\\"

    /// Creates the rules for one entity. An import checks the rules when it begins.
    ///
    /// - Parameters:
    ///   - identity: The attributes by which objects are found; `nil` for the identity in the schema, empty if each row inserts a new
    ///     object.
    ///   - delimiter: The text between the keys of a path.
    ///   - escape: The text that marks a following delimiter as part of a key.
    ///   - attributes: The rules for attributes, by name. An attribute that is not listed is read from the key with its name.
    ///   - relationships: The rules for relationships, by name.
    ///   - entityFrom: The key that names the entity of an object, or the path to that key.
    ///   - entityNames: For each text at this key, the entity that it names. A text that is not listed must be the name of an entity.
    public init(
        identity: [String]? = nil, delimiter: String = Self.standardDelimiter, escape: String = Self.standardEscape,
        attributes: [String: PropertyMapping] = [:], relationships: [String: PropertyMapping] = [:],
        entityFrom: String? = nil, entityNames: [String: String] = [:]
    ) {
        self.identity = identity
        self.delimiter = delimiter
        self.escape = escape
        self.attributes = attributes
        self.relationships = relationships
        self.entityFrom = entityFrom.map { Discriminator(key: $0, map: entityNames) }
    }

    /// Returns whether a rule reads a property from a key of the object itself, or from a path that begins with the key.
    func reads(_ key: String) -> Bool { paths.contains { $0.keys[0] == key || $0.literal == key } }

    /// Returns the names of an entity's properties by key. The properties of a key are read from that key, or from a path that begins with
    /// that key.
    func readers(in entity: Entity) -> [String: [String]] {
        var properties: [(name: String, rule: PropertyMapping?)] = []
        for attribute in entity.attributes where !attribute.isDerived { properties.append((attribute.name, attributes[attribute.name])) }
        for relationship in entity.relationships { properties.append((relationship.name, relationships[relationship.name])) }
        var readers: [String: [String]] = [:]
        for (name, rule) in properties {
            guard let rule else { continue }
            for key in keys(of: name, rule) { readers[key, default: []].append(name) }
        }
        for (name, rule) in properties where rule == nil && readers[name] == nil { readers[name] = [name] }
        return readers
    }

    private func keys(of name: String, _ rule: PropertyMapping) -> Set<String> {
        switch rule.source {
        case .name, .constant: [name]
        case .nothing, .path, .coalesce, .join: Set(paths([rule.source]).flatMap { [$0.keys[0], $0.literal] })
        }
    }

    /// The keys of the object itself from which rules read properties, or with which their paths begin.
    var firstKeys: [String] { paths.map { $0.keys[0] } }

    /// The paths from which rules read properties.
    private var paths: [PropertyPath] { paths(attributes.values.map(\.source) + relationships.values.map(\.source)) }

    private func paths(_ sources: [PropertyMapping.Source]) -> [PropertyPath] {
        sources.flatMap(\.paths).compactMap { PropertyPath($0, delimiter: delimiter, escape: escape) }
    }
}

/// A key that names the entity of an object.
package struct Discriminator: Sendable, Hashable {
    /// The key that an export writes to name the entity of an object if several entities are possible. An import uses this key as the
    /// discriminator if the mapping names no other key.
    static let exportedKey = "_entity"
    /// The key that names the entity, or the path to that key.
    package var key: String
    /// For each text at the key, the entity that it names. A text that is not listed must be the name of an entity.
    package var map: [String: String]

    package init(key: String, map: [String: String] = [:]) {
        self.key = key
        self.map = map
    }
}
