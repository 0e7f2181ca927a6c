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
    /// nested. With depth 0 or less, nothing is included.
    public init(depth: Int) { self.depth = max(0, min(depth, Self.depthMax)) }

    /// Includes paths such as `items.tags`, from objects of an entity, in addition to all relationships down to a depth.
    ///
    /// Throws `.unknownName` for a name that is not a relationship, `.limitExceeded` for a path of more than 64 names.
    public init(_ paths: [String], from entity: Entity, _ schema: Schema, depth: Int = 0) throws(CambiumError) {
        self.init(depth: depth)
        for path in paths {
            var current = [entity]
            let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard names.count <= Self.depthMax else {
                throw CambiumError(
                    .limitExceeded,
                    "A path of relationships has at most \(Self.depthMax) names, but one path has \(names.count). Shorten the path.")
            }
            for name in names { current = try Self.destinations(of: name, current, schema) }
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

    /// Returns the entities to which the relationships with this name lead. The relationships belong to the given entities or to their
    /// sub-entities, which may have different relationships with one name.
    private static func destinations(of name: String, _ entities: [Entity], _ schema: Schema) throws(CambiumError) -> [Entity] {
        var found: [Entity] = []
        var known: Set<EntityNumber> = []
        for number in Set(entities.flatMap(\.family)).sorted() {
            guard let relationship = schema.entity(number)?.relationship(name), known.insert(relationship.destination).inserted,
                let next = schema.entity(relationship.destination)
            else { continue }
            found.append(next)
        }
        if found.isEmpty, let first = entities.first { _ = try first.requiredRelationship(name) }
        return found
    }

    private mutating func add(_ names: ArraySlice<String>) {
        guard let first = names.first else { return }
        children[first, default: IncludeTree()].add(names.dropFirst())
    }
}
