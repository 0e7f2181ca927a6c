public import CambiumModel

/// An object that a walk reached.
///
/// ```swift
/// let follows = try graph.walk(along: ["follows"])
/// for object in try follows.objects(from: [jane], within: 2) { print(object.distance, object.id) }
/// ```
public struct WalkedObject: Sendable, Hashable {
    /// The object.
    public let id: ObjectID
    /// The minimum number of links from a start to the object; 0 for a start.
    public let distance: Int
    /// The place of the object in the graph of the walk.
    public let place: ObjectPlace
}

/// The objects that a walk reached, by ascending distance. The order of objects of the same distance has no meaning.
///
/// ```swift
/// let reached = try graph.walk(along: ["follows"]).objects(from: [jane])
/// print(reached.count, reached.ids(at: 1))
/// ```
public struct WalkedObjects: Sequence, Sendable {
    private let graph: Graph
    private let places: [ObjectPlace]
    /// For each distance, the number of objects at this distance or a smaller one.
    private let levelEnds: [Int]

    init(_ graph: Graph, _ front: WalkFront) {
        self.graph = graph
        places = front.places
        // A walk without a limit ends with a step that reaches nothing. Such a step does not count as a distance.
        var ends = front.levelEnds
        while ends.count > 1, ends[ends.count - 1] == ends[ends.count - 2] { ends.removeLast() }
        levelEnds = ends
    }

    /// The number of objects, including the starts.
    public var count: Int { places.count }

    /// The greatest distance of an object; 0 if there are no objects.
    package var distanceMax: Int { levelEnds.count - 1 }

    /// Returns the ids, ascending, of the objects at this distance. Complexity: O(n log n) for n objects.
    public func ids(at distance: Int) -> [ObjectID] {
        guard levelEnds.indices.contains(distance) else { return [] }
        return places[(distance == 0 ? 0 : levelEnds[distance - 1])..<levelEnds[distance]].map(graph.id(of:)).sorted()
    }

    /// Returns an iterator that begins with the starts. Complexity: O(1).
    public func makeIterator() -> Iterator { Iterator(self) }

    /// Returns the objects one by one. The type is public, because a loop through `some IteratorProtocol` takes many times as long.
    public struct Iterator: IteratorProtocol {
        private let objects: WalkedObjects
        private var index = 0
        private var distance = 0

        init(_ objects: WalkedObjects) { self.objects = objects }

        /// Returns the next object, or `nil` at the end. Complexity: O(1).
        public mutating func next() -> WalkedObject? {
            guard index < objects.places.count else { return nil }
            while objects.levelEnds[distance] <= index { distance += 1 }
            let place = objects.places[index]
            index += 1
            return WalkedObject(id: objects.graph.id(of: place), distance: distance, place: place)
        }
    }
}

extension Walk {
    /// Returns the objects that can be reached from one or more objects, including these objects, in breadth-first order.
    ///
    /// Throws `.notFound` if one of the objects does not exist. If `starts` is empty, the result is empty. Complexity: O(objects reached +
    /// links followed). Takes memory for the objects reached. If the walk reaches many objects, also takes a bit for each object of the
    /// tables that it reaches.
    ///
    /// - Parameters:
    ///   - starts: The objects with which the walk begins.
    ///   - distance: The maximum number of links from a start to an object; `nil` for no limit. With 0 or less, only the starts are
    ///     returned.
    public func objects(from starts: [ObjectID], within distance: Int? = nil) throws(CambiumError) -> WalkedObjects {
        try objects(from: starts, within: distance, where: nil)
    }

    /// Returns the objects that can be reached on paths on which every object after the start passes a filter.
    ///
    /// - Parameter filter: Returns `false` for an object that is omitted and from which the walk does not continue. The starts need not
    ///   pass the filter. The walk calls the filter once for each other object.
    package func objects(
        from starts: [ObjectID], within distance: Int?, where filter: ((ObjectPlace) -> Bool)?
    ) throws(CambiumError) -> WalkedObjects {
        var found: [ObjectPlace] = []
        for start in starts { found.append(try graph.required(start)) }
        var front = front(steps, from: found)
        let distanceMax = distance ?? .max
        while front.distance < distanceMax, !front.frontier.isEmpty {
            if let filter {
                _ = front.advance { filter($0) ? .keep : .drop }
            } else {
                _ = front.advance { _ in .keep }
            }
        }
        steps.track(followedCount: front.followedCount)
        return WalkedObjects(graph, front)
    }
}
