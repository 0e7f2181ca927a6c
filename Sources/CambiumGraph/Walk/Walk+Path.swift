public import CambiumModel

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
