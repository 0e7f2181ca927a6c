public import CambiumModel

/// Walks from object to object along relationships of one graph. The columns of the relationships are looked up only once.
///
/// The walk follows each relationship in its own direction. To walk against the direction, name the inverse relationship.
///
/// ```swift
/// let follows = try graph.walk(along: ["follows"])
/// for object in try follows.objects(from: [jane], within: 2) { print(object.distance, object.id) }
/// let path = try follows.path(from: jane, to: john)
/// ```
///
/// Cycles, links of an object to itself, and objects without the relationship are allowed. A walk never changes anything.
///
/// If a program asks a `Walk` many questions, the `Walk` collects its links in arrays, which make the next questions faster. The arrays
/// take 4 bytes for each object and each link, and at most 64 MiB for each direction of a relationship. The arrays are freed with the last
/// copy of the `Walk`.
public struct Walk: Sendable {
    let graph: Graph
    /// The relationships without duplicates: in the order of the names, and for each name in the order of the entities.
    let relationships: [Relationship]
    let isOverAll: Bool
    let steps: WalkSteps
    /// The steps that follow the relationships backwards.
    let backwardSteps: WalkSteps
    /// The maximum number of places in the hash table of a walk. A walk that reaches more places uses bits instead. Tests set a small
    /// number.
    var hashedCountMax = PlaceMarks.hashedCountMax

    init(_ graph: Graph, _ names: [String]?) throws(CambiumError) {
        self.graph = graph
        isOverAll = names == nil
        relationships = try Self.relationships(graph.schema, names)
        let layout = graph.layout
        let ends = relationships.flatMap(layout.walkedEnds)
        steps = WalkSteps(ends, graph)
        backwardSteps = WalkSteps(ends.map(layout.opposite), graph)
    }

    private static func relationships(_ schema: Schema, _ names: [String]?) throws(CambiumError) -> [Relationship] {
        var found: [Relationship] = []
        guard let names else {
            for entity in schema.entities { found += entity.relationships.filter { $0.entity == entity.number } }
            return found
        }
        for name in names {
            let count = found.count
            for entity in schema.entities {
                if let relationship = entity.relationship(name), relationship.entity == entity.number { found.append(relationship) }
            }
            if found.count == count {
                let all = schema.entities.flatMap(\.relationships)
                let known = Set(all.map(\.name)).sorted().joined(separator: ", ")
                let newName = schema.entities.lazy.compactMap { $0.newName(ofRelationship: name) }.first
                let remedy = newName ?? "The relationships are: \(known)."
                throw CambiumError(.unknownName, "No entity has a relationship '\(name.excerpt)'. \(remedy)")
            }
        }
        return found
    }

    /// The entities whose objects a step may reach, in the order of their numbers.
    package var reachedEntities: [Entity] {
        let numbers = Set(relationships.compactMap { graph.schema.entity($0.destination) }.flatMap(\.family))
        return numbers.sorted().compactMap { graph.schema.entity($0) }
    }

    func front(_ steps: WalkSteps, from starts: [ObjectPlace], keepsParents: Bool = false) -> WalkFront {
        WalkFront(graph, steps, from: starts, hashedCountMax: hashedCountMax, keepsParents: keepsParents)
    }
}

extension Graph {
    /// Resolves relationships for walks through this graph.
    ///
    /// Throws `.unknownName` if a name belongs to no relationship of any entity. Complexity: O(entities x names).
    ///
    /// - Parameter names: The names of the relationships; `nil` for all relationships of all entities. A name selects all relationships
    ///   that have this name, whatever their entities are.
    public func walk(along names: [String]? = nil) throws(CambiumError) -> Walk { try Walk(self, names) }
}
