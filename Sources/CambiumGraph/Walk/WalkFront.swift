/// A breadth-first walk in progress: the places (positions of objects) that it has reached, by distance.
struct WalkFront {
    /// The decision of the caller about a place that the walk reaches for the first time.
    enum Verdict {
        case keep
        /// The walk omits the place, and does not continue from it.
        case drop
        /// The walk keeps the place and ends.
        case stop
    }

    private let reader: Reader
    private let steps: WalkSteps
    /// An array of links for each step that has one, or an empty list.
    private let arrays: [LinkArray?]
    /// The number of links of to-many relationships that this walk has followed from row to row, without arrays.
    private(set) var followedCount = 0
    /// The places in the order in which the walk reached them, and so by ascending distance.
    private(set) var places: [ObjectPlace] = []
    /// For each distance, the number of places at this distance or a smaller one.
    private(set) var levelEnds: [Int]
    /// For each place, the index of the place from which the walk reached it. Empty if the caller needs no paths.
    private(set) var parents: [UInt32] = []
    private(set) var marks: PlaceMarks
    private let keepsParents: Bool

    static let noParent = UInt32.max
    /// The number of places for which a walk allocates memory before it begins.
    private static let firstCapacity = 64

    init(_ graph: Graph, _ steps: WalkSteps, from starts: [ObjectPlace], hashedCountMax: Int, keepsParents: Bool = false) {
        reader = graph.reader
        self.steps = steps
        arrays = steps.arrays(graph)
        self.keepsParents = keepsParents
        marks = PlaceMarks(reader, tableCount: graph.layout.tables.count, hashedCountMax: hashedCountMax)
        places.reserveCapacity(max(starts.count, Self.firstCapacity))
        for start in starts where marks.insert(start) { places.append(start) }
        if keepsParents { parents = [UInt32](repeating: Self.noParent, count: places.count) }
        levelEnds = [places.count]
    }

    /// The indexes of the places with the greatest distance, from which the walk continues.
    var frontier: Range<Int> { (levelEnds.count > 1 ? levelEnds[levelEnds.count - 2] : 0)..<places.count }

    /// The number of steps from the start to the frontier.
    var distance: Int { levelEnds.count - 1 }

    /// Takes one step from each place of the frontier. Returns `false` if `verdict` ended the walk.
    ///
    /// - Parameter verdict: Decides about each place that is reached for the first time.
    @inline(__always) mutating func advance(_ verdict: (ObjectPlace) -> Verdict) -> Bool {
        var rest = frontier
        while !rest.isEmpty {
            let end = WalkSteps.runEnd(places, rest)
            for step in steps.range(places[rest.lowerBound].table) {
                if !follow(step, from: rest.lowerBound..<end, verdict) { return false }
            }
            rest = end..<rest.upperBound
        }
        levelEnds.append(places.count)
        return true
    }

    @inline(__always)
    private mutating func follow(_ number: Int, from owners: Range<Int>, _ verdict: (ObjectPlace) -> Verdict) -> Bool {
        let (step, array) = (steps[number], array(number))
        var cursor = StepCursor(step, reader, array)
        let table = step.targetTable
        var count = 0
        defer { if array == nil, step.isToMany { followedCount &+= count } }
        for index in owners {
            let isComplete = cursor.forEach(of: places[index].row) { row in
                count &+= 1
                let place = ObjectPlace(table: table, row: row)
                guard marks.insert(place) else { return true }
                let found = verdict(place)
                if found == .drop { return true }
                places.append(place)
                if keepsParents { parents.append(UInt32(truncatingIfNeeded: index)) }
                return found == .keep
            }
            if !isComplete { return false }
        }
        return true
    }

    /// Returns the number of links that the next step follows. Complexity: O(places of the frontier).
    func linkCount() -> Int {
        var count = 0
        for index in frontier {
            let place = places[index]
            for step in steps.range(place.table) {
                count += array(step)?.count(of: place.row) ?? steps[step].count(reader, of: place.row)
            }
        }
        return count
    }

    @inline(__always) private func array(_ step: Int) -> LinkArray? { arrays.isEmpty ? nil : arrays[step] }

    /// Returns the places on the way from a start of the walk to the place at an index.
    func path(to index: Int) -> [ObjectPlace] {
        var path: [ObjectPlace] = []
        var next = UInt32(index)
        while next != Self.noParent {
            path.append(places[Int(next)])
            next = parents[Int(next)]
        }
        return path.reversed()
    }
}
