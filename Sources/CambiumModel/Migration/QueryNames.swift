/// The names of properties in the condition and the sort keys of a stored query.
struct QueryNames {
    /// The names, each with the entity of the objects that have the property.
    private(set) var all: [(name: String, holder: Entity)] = []
    private let schema: Schema
    private let source: Entity

    /// Collects the names in a stored query, which an entity of the schema declares. Omits names that the schema does not have.
    init(_ query: QueryDefinition, of source: Entity, in schema: Schema) {
        (self.schema, self.source) = (schema, source)
        guard let target = query.target.map({ schema.entity($0) }) ?? source else { return }
        // A query of a valid schema has no malformed text.
        if let text = query.condition, let condition = try? Condition(parsing: text) { collect(condition, target) }
        if let text = query.sort, let keys = try? SortKey.list(parsing: text) { for key in keys { collect(key.operand, target) } }
    }

    private mutating func collect(_ condition: Condition, _ entity: Entity) {
        switch condition.form {
        case .constant: break
        case .and(let parts), .or(let parts): for part in parts { collect(part, entity) }
        case .not(let part): collect(part, entity)
        case .comparison(let comparison): for operand in [comparison.left, comparison.right] { collect(operand, entity) }
        case .related(_, let path, let part): if let end = collect(path, entity) { collect(part, end) }
        }
    }

    private mutating func collect(_ operand: Operand, _ entity: Entity) {
        switch operand.form {
        case .path(let path): collect(path, entity)
        case .aggregate(let aggregate):
            if let end = collect(aggregate.path, entity), let value = aggregate.value { collect(value, end) }
        case .list(let elements): for element in elements { collect(element, entity) }
        case .parameter(let name): if let path = QueryDefinition.sourcePath(name) { collect(path, source) }
        case .literal: break
        }
    }

    /// Collects the names of a path. Returns the entity of the objects to which the path leads, or `nil` if the path leads to values.
    @discardableResult
    private mutating func collect(_ path: QueryPath, _ entity: Entity) -> Entity? {
        var end = entity
        for name in path.names where name != "_id" && name != "_entity" {
            all.append((name, end))
            guard let relationship = end.relationship(name), let target = schema.entity(relationship.destination) else { return nil }
            end = target
        }
        return end
    }
}
