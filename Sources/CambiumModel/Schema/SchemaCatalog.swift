internal import CambiumJSON

/// A schema as the log stores it: in JSON, with the assigned numbers.
package struct SchemaCatalog: Sendable, Equatable {
    package let json: [UInt8]

    package init(json: [UInt8]) { self.json = json }

    init(_ definition: SchemaDefinition) { json = Array(definition.catalogJSON.text.utf8) }

    func definition() throws(CambiumError) -> SchemaDefinition {
        do {
            return try SchemaDefinition(json: JSONValue(parsing: json), acceptsNumbers: true)
        } catch {
            throw CambiumError(
                .corrupted,
                "The schema in the log cannot be read. Restore the store from a backup, or save all intact data with 'cambium repair'. "
                    + "The cause: \(error)",
                underlying: error)
        }
    }
}

extension Schema {
    /// A schema without entities.
    package static let empty = Schema(entities: [], links: [], definition: SchemaDefinition(entities: []))

    /// Resolves every name of a definition and checks every rule.
    ///
    /// Throws one `.invalidInput` with all mistakes, each with its JSON pointer. Throws `.limitExceeded` if the definition is larger than a
    /// schema can be. Complexity: O(bytes of the definition + properties that its entities inherit).
    public convenience init(_ definition: SchemaDefinition) throws(CambiumError) {
        try self.init(resolving: definition.numbered(), .compileAll)
    }

    /// Creates a schema from definitions of entities. Throws as `init(_:)` does.
    ///
    /// ```swift
    /// let schema = try Schema { EntityDefinition("Note") { AttributeDefinition("title", .string) } }
    /// ```
    public convenience init(@DefinitionBuilder<EntityDefinition> _ entities: () -> [EntityDefinition]) throws(CambiumError) {
        try self.init(SchemaDefinition(entities: entities()))
    }

    /// Reads a schema from the log. Throws `.corrupted` if the catalog is not a schema. Regular expressions are compiled at their first
    /// use.
    package convenience init(catalog: SchemaCatalog) throws(CambiumError) {
        let definition = try catalog.definition()
        do {
            try self.init(resolving: definition, .compileAtFirstUse)
        } catch {
            throw CambiumError(
                .corrupted,
                "The schema in the log cannot be used. Restore the store from a backup, or save all intact data with 'cambium repair'. "
                    + "The cause: \(error.message)",
                details: error.details, underlying: error)
        }
    }

    convenience init(resolving definition: SchemaDefinition, _ expressions: SchemaResolver.Expressions) throws(CambiumError) {
        var resolver = SchemaResolver(definition, expressions)
        let (entities, links) = try resolver.resolve()
        self.init(entities: entities, links: links, definition: definition)
        guard expressions == .compileAll else { return }
        var check = StoredQueryCheck(self)
        try check.check()
    }

    /// The form in which the log stores the schema.
    package var catalog: SchemaCatalog { SchemaCatalog(definition) }
}

extension SchemaDefinition {
    /// Returns the definition with numbers in declaration order: one for each entity, and one for each property within its hierarchy.
    func numbered() throws(CambiumError) -> SchemaDefinition {
        var numbered = self
        numbered.nextNumber = nil
        var next: [String: UInt16] = [:]
        let propertyCount = entities.reduce(0) { $0 + $1.attributes.count + $1.relationships.count }
        guard entities.count < 65_000, propertyCount < 65_000 else {
            let message =
                "The schema has \(entities.count) entities, and \(propertyCount) attributes and relationships. "
                + "Fewer than 65,000 of each are allowed. Remove some of them."
            throw CambiumError(.limitExceeded, message)
        }
        let roots = rootNames()
        for index in entities.indices {
            numbered.entities[index].number = UInt16(index + 1)
            numbered.entities[index].nextNumber = nil
            let root = roots[entities[index].name] ?? entities[index].name
            for place in entities[index].attributes.indices {
                next[root, default: 0] += 1
                numbered.entities[index].attributes[place].number = next[root]
            }
            for place in entities[index].relationships.indices {
                next[root, default: 0] += 1
                numbered.entities[index].relationships[place].number = next[root]
            }
        }
        return numbered
    }

    /// Returns the root of each entity: the top of its chain of parents. If the chain ends in a cycle, the root is the entity itself.
    func rootNames() -> [String: String] {
        let parents = Dictionary(entities.map { ($0.name, $0.parent) }, uniquingKeysWith: { first, _ in first })
        var roots: [String: String] = [:]
        for entity in entities {
            var path: [String] = []
            var top = entity.name
            while roots[top] == nil, path.count <= entities.count, let parent = parents[top] ?? nil {
                path.append(top)
                top = parent
            }
            let isRing = path.count > entities.count
            for name in path + [top] { roots[name] = isRing ? name : roots[top] ?? top }
        }
        return roots
    }
}
