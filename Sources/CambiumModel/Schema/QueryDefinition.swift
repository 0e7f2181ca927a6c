/// A query that is stored in a schema under a name.
///
/// ```swift
/// QueryDefinition("expensive", where: "price > $min", sort: "-price", limit: 10)
/// QueryDefinition("rivals", of: "Team", where: "city == $source.city and self != $source")
/// ```
///
/// `$source` represents an object of the entity that declares the query. Docs/Use/QUERIES.md has the rules, and `Graph.query(_:named:_:)`
/// returns the query.
public struct QueryDefinition: PropertyDefinition, Hashable {
    package var name: String
    /// The entity whose objects the query finds, or `nil` for the entity that declares the query.
    package var target: String?
    package var condition: String?
    package var sort: String?
    package var limit: Int?

    /// Creates a definition. `Schema.init` checks the definition.
    ///
    /// - Parameters:
    ///   - target: The entity whose objects the query finds. `nil` means the entity that declares the query.
    ///   - condition: A condition such as `price > $min`. If there is no condition, the query finds all objects.
    ///   - sort: Keys such as `-price,name`.
    ///   - limit: The maximum number of objects; `nil` for no maximum.
    public init(_ name: String, of target: String? = nil, where condition: String? = nil, sort: String? = nil, limit: Int? = nil) {
        self.name = name
        self.target = target
        self.condition = condition
        self.sort = sort
        self.limit = limit
    }
}

/// A query that an entity declares or inherits.
package struct StoredQuery: Sendable {
    package let definition: QueryDefinition
    /// The entity that declares the query. `$source` refers to an object of this entity.
    package let entity: EntityNumber
    package var name: String { definition.name }
}

extension QueryDefinition {
    /// The name of the parameter that represents an object of the entity that declares the query.
    package static let sourceName = "source"

    /// Returns the mistake in the name of a query, or `nil` if the name is valid.
    package static func mistake(inName name: String) -> String? { SchemaResolver.mistake(inName: name, "query") }

    /// Returns the path that a parameter has after `source`, such as `["city"]` for `source.city`. Returns `nil` for all other parameters.
    package static func sourcePath(_ parameter: String) -> QueryPath? {
        let names = parameter.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return names.first == sourceName ? QueryPath(Array(names.dropFirst())) : nil
    }
}
