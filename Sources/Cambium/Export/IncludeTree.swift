public import CambiumModel

/// Which relationships of an object are written as objects in place of ids, and which of those objects' in turn.
public struct IncludeTree: Sendable, Hashable {
    /// How deeply objects may nest, which is as deep as an import takes them.
    public static let depthMax = RowPlanner.depthMax

    private var children: [String: IncludeTree] = [:]
    /// How many levels of all relationships are included.
    private var depth = 0

    /// Nothing is included.
    public init() {}

    /// All relationships, down to a depth: 1 nests the objects that the first one leads to. Nothing where it is 0 or less.
    public init(depth: Int) { self.depth = max(0, min(depth, Self.depthMax)) }

    /// Paths such as `items.tags`, from objects of an entity, beside all relationships down to a depth.
    ///
    /// Throws `.unknownName` for a name that is no relationship, `.limitExceeded` for a path of more than 64 of them.
    public init(_ paths: [String], from entity: Entity, _ schema: Schema, depth: Int = 0) throws(CambiumError) {
        self.init(depth: depth)
        for path in paths {
            var current = entity
            let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard names.count <= Self.depthMax else {
                throw CambiumError(
                    .limitExceeded, "A path of relationships has at most \(Self.depthMax) names, and one has \(names.count).")
            }
            for name in names {
                let relationship = try Self.relationship(name, current, schema)
                guard let next = schema.entity(relationship.destination) else { break }
                current = next
            }
            add(names[...])
        }
    }

    /// What is included of the objects that a relationship leads to; nil where they are not.
    func child(_ name: String) -> IncludeTree? {
        guard depth > 0 else { return children.isEmpty ? nil : children[name] }
        var child = children[name] ?? IncludeTree()
        child.depth = max(child.depth, depth - 1)
        return child
    }

    /// Whether a path names the relationship.
    func names(_ name: String) -> Bool { children[name] != nil }

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
