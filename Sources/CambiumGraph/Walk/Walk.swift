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

extension Walk {
    /// Returns the objects on one of the shortest paths between two objects, including both, or `nil` if there is no path. The path from an
    /// object to itself is the object.
    ///
    /// The search walks from both ends. In each step, the search continues at the end where fewer links must be followed. Throws
    /// `.notFound` if one of the objects does not exist. Complexity: O(objects reached + links followed).
    ///
    /// - Parameter distance: The maximum number of links in the path; `nil` for no limit.
    public func path(from start: ObjectID, to end: ObjectID, within distance: Int? = nil) throws(CambiumError) -> [ObjectID]? {
        try path(from: start, to: end, within: distance, where: nil)
    }

    /// Returns the objects on one of the shortest paths. All objects between the two ends must pass a filter.
    package func path(
        from start: ObjectID, to end: ObjectID, within distance: Int?, where filter: ((ObjectPlace) -> Bool)?
    ) throws(CambiumError) -> [ObjectID]? {
        let (first, last) = (try graph.required(start), try graph.required(end))
        if first == last { return [start] }
        var search = PathSearch(self, from: first, to: last)
        let path = search.run(within: distance ?? .max, filter ?? { _ in true })
        steps.track(followedCount: search.forward.followedCount)
        backwardSteps.track(followedCount: search.backward.followedCount)
        return path?.map(graph.id(of:))
    }
}

/// Searches for a shortest path by two walks, one from each end.
///
/// If the two walks have taken n and m steps and have no object in common, every path has more than n + m links. If the next step of one
/// walk reaches an object of the other walk, this object is on a shortest path.
private struct PathSearch {
    private(set) var forward: WalkFront
    private(set) var backward: WalkFront
    private let start: ObjectPlace
    private let end: ObjectPlace

    init(_ walk: Walk, from start: ObjectPlace, to end: ObjectPlace) {
        (self.start, self.end) = (start, end)
        forward = walk.front(walk.steps, from: [start], keepsParents: true)
        backward = walk.front(walk.backwardSteps, from: [end], keepsParents: true)
    }

    mutating func run(within distanceMax: Int, _ filter: (ObjectPlace) -> Bool) -> [ObjectPlace]? {
        var forwardCount = forward.linkCount()
        var backwardCount = backward.linkCount()
        while forwardCount > 0, backwardCount > 0, forward.distance + backward.distance < distanceMax {
            if forwardCount <= backwardCount {
                if !Self.advance(&forward, until: backward.marks, end, filter) { return Self.path(forward, backward, isForward: true) }
                forwardCount = forward.linkCount()
            } else {
                if !Self.advance(&backward, until: forward.marks, start, filter) { return Self.path(forward, backward, isForward: false) }
                backwardCount = backward.linkCount()
            }
        }
        return nil
    }

    /// Takes one step of a walk. Returns `false` if the step reached an object that the other walk has also reached.
    ///
    /// - Parameters:
    ///   - others: The places (positions of objects) that the other walk reached. The filter may refuse some of these places.
    ///   - goal: The place at which the other walk began. This place need not pass the filter.
    private static func advance(
        _ front: inout WalkFront, until others: PlaceMarks, _ goal: ObjectPlace, _ filter: (ObjectPlace) -> Bool
    ) -> Bool {
        front.advance { place in
            guard place == goal || filter(place) else { return .drop }
            return others.contains(place) ? .stop : .keep
        }
    }

    /// Returns the path through the object at which the two walks met: the last object of the walk that stopped.
    private static func path(_ forward: WalkFront, _ backward: WalkFront, isForward: Bool) -> [ObjectPlace]? {
        let (last, other) = isForward ? (forward, backward) : (backward, forward)
        guard let meeting = last.places.last, let index = other.places.firstIndex(of: meeting) else { return nil }
        let own = last.path(to: last.places.count - 1)
        let rest = other.path(to: index)
        let (beginning, ending) = isForward ? (own, rest) : (rest, own)
        return beginning + ending.dropLast().reversed()
    }
}
