public import CambiumModel

/// Which relationships of an object are written as objects in place of ids, and which of those objects' in turn.
public struct IncludeTree: Sendable, Hashable {
    private(set) var children: [String: IncludeTree] = [:]

    /// Nothing is included.
    public init() {}

    /// Paths such as `items.tags`, from objects of an entity. Throws `.unknownName` for a name that is no relationship.
    public init(_ paths: [String], from entity: Entity, _ schema: Schema) throws(CambiumError) {
        for path in paths {
            var current = entity
            let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            for name in names {
                let relationship = try Self.relationship(name, current, schema)
                guard let next = schema.entity(relationship.destination) else { break }
                current = next
            }
            add(names[...])
        }
    }

    /// Of the entity, or of one below it.
    private static func relationship(_ name: String, _ entity: Entity, _ schema: Schema) throws(CambiumError) -> Relationship {
        for number in entity.family {
            if let found = schema.entity(number)?.relationship(name) { return found }
        }
        return try entity.requiredRelationship(name)
    }

    private mutating func add(_ names: ArraySlice<String>) {
        guard let first = names.first else { return }
        children[first, default: IncludeTree()].add(names.dropFirst())
    }
}
