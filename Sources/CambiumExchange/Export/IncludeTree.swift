public import CambiumModel

/// The relationships whose objects an export nests instead of writing their ids. If the tree has `items` with the child `tags`, each nested
/// object of `items` contains its `tags` as nested objects.
///
/// ```swift
/// let note = try store.schema.required("Note")
/// var options = ExportOptions()
/// options.include = try IncludeTree(["items.tags"], from: note, store.schema)
/// try store.graph.export(note, options) { print(String(decoding: $0, as: UTF8.self), terminator: "") }
/// ```
public struct IncludeTree: Sendable, Hashable {
    /// The maximum nesting depth of objects. Imports have the same limit.
    package static let depthMax = RowPlanner.depthMax

    private var children: [String: IncludeTree] = [:]
    /// The number of levels on which all relationships are included.
    private var depth = 0

    /// Creates a tree that includes nothing.
    package init() {}

    /// Includes all relationships down to a depth. With depth 1, only the objects at the end of an exported object's relationships are
    /// nested. With 0 or less, nothing is included.
    public init(depth: Int) { self.depth = max(0, min(depth, Self.depthMax)) }

    /// Includes paths such as `items.tags`, from objects of an entity, in addition to all relationships down to a depth.
    ///
    /// Throws `.unknownName` for a name that is not a relationship, `.limitExceeded` for a path of more than 64 names.
    public init(_ paths: [String], from entity: Entity, _ schema: Schema, depth: Int = 0) throws(CambiumError) {
        self.init(depth: depth)
        for path in paths {
            var current = entity
            let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard names.count <= Self.depthMax else {
                throw CambiumError(
                    .limitExceeded,
                    "A path of relationships has at most \(Self.depthMax) names, but one path has \(names.count). Shorten the path.")
            }
            for name in names {
                let relationship = try Self.relationship(name, current, schema)
                guard let next = schema.entity(relationship.destination) else { break }
                current = next
            }
            add(names[...])
        }
    }

    /// Returns the tree for the objects to which the relationship `name` leads; `nil` if these objects are not included.
    func child(_ name: String) -> IncludeTree? {
        guard depth > 0 else { return children.isEmpty ? nil : children[name] }
        var child = children[name] ?? IncludeTree()
        child.depth = max(child.depth, depth - 1)
        return child
    }

    /// Returns whether an included path begins with the relationship. A relationship that is included only because of the depth does not
    /// count.
    func names(_ name: String) -> Bool { children[name] != nil }

    /// Returns a relationship of the entity or of a sub-entity.
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
