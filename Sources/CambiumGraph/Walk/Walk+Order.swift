public import CambiumModel

extension Walk {
    /// Returns all objects of the entities at both ends of the relationships, in an order in which each link leads to a later object.
    ///
    /// A walk along all relationships returns all objects of the graph.
    ///
    /// If no path of links connects two objects, their relative order has no meaning. Throws `.cyclic` if links form a cycle; the
    /// underlying error is a `LinkCycle` with the objects of the cycle. Complexity: O(objects + links), and 12 bytes for each object.
    public func topologicalOrder() throws(CambiumError) -> [ObjectID] {
        var ordering = TopologicalOrdering(self)
        ordering.run()
        guard let cycle = ordering.cycle(backwardSteps) else { return ordering.places.map(graph.id(of:)) }
        let ids = cycle.map(graph.id(of:))
        let names = ids.prefix(Self.namedCountMax).compactMap(graph.name(of:)).joined(separator: " -> ")
        let rest = ids.count > Self.namedCountMax ? " and \(ids.count - Self.namedCountMax) more" : ""
        throw CambiumError(
            .cyclic, "The objects have no topological order, because links form a cycle: \(names)\(rest). Remove one of these links.",
            underlying: LinkCycle(objects: ids))
    }

    /// The maximum number of objects of a cycle that the error message names.
    private static let namedCountMax = 10
}

/// Kahn's algorithm: an object is added to the order after all objects that have a link to it.
private struct TopologicalOrdering {
    private let reader: Reader
    private let steps: WalkSteps
    private let scope: WalkScope
    /// For each table and row, the number of links that lead to the object from objects that are not in the order yet.
    private var linkCounts: [[UInt32]]
    /// The places of the objects that are in the order so far.
    private(set) var places: [ObjectPlace] = []
    private var objectCount = 0

    init(_ walk: Walk) {
        (reader, steps, scope) = (walk.graph.reader, walk.steps, WalkScope(walk))
        linkCounts = [[UInt32]](repeating: [], count: walk.graph.layout.tables.count)
        for table in scope.tables { linkCounts[table] = [UInt32](repeating: 0, count: reader.rowCountEnd(table)) }
    }

    mutating func run() {
        countLinks()
        for table in scope.tables {
            scope.forEachRow(of: table) { row in
                objectCount += 1
                if linkCounts[table][Int(row)] == 0 { places.append(ObjectPlace(table: table, row: row)) }
            }
        }
        var start = 0
        while start < places.count {
            let end = WalkSteps.runEnd(places, start..<places.count)
            for step in steps.range(places[start].table) { remove(steps[step], from: start..<end) }
            start = end
        }
    }

    private mutating func countLinks() {
        for table in scope.tables {
            for index in steps.range(UInt32(table)) {
                let step = steps[index]
                var cursor = StepCursor(step, reader)
                scope.forEachRow(of: table) { row in
                    _ = cursor.forEach(of: row) { target in
                        linkCounts[step.targetTable][Int(target)] += 1
                        return true
                    }
                }
            }
        }
    }

    /// Subtracts from `linkCounts` the links that begin at the given objects, which were added to the order.
    private mutating func remove(_ step: WalkStep, from owners: Range<Int>) {
        var cursor = StepCursor(step, reader)
        let table = step.targetTable
        for index in owners {
            _ = cursor.forEach(of: places[index].row) { target in
                linkCounts[table][Int(target)] -= 1
                if linkCounts[table][Int(target)] == 0 { places.append(ObjectPlace(table: table, row: target)) }
                return true
            }
        }
    }

    // MARK: Cycles

    /// Returns the objects of a cycle, or `nil` if all objects are in the order.
    ///
    /// Each object that is not in the order has a link from another object that is not in the order. So following links backwards from one
    /// of these objects must reach some object twice.
    func cycle(_ backward: WalkSteps) -> [ObjectPlace]? {
        guard places.count < objectCount, var place = firstRest() else { return nil }
        var indexes: [ObjectPlace: Int] = [:]
        var path: [ObjectPlace] = []
        while true {
            if let index = indexes[place] { return path[index...].reversed() }
            indexes[place] = path.count
            path.append(place)
            guard let next = restBefore(place, backward) else { return nil }
            place = next
        }
    }

    private func isRest(_ place: ObjectPlace) -> Bool { linkCounts[Int(place.table)][Int(place.row)] > 0 }

    private func firstRest() -> ObjectPlace? {
        for table in linkCounts.indices {
            if let row = linkCounts[table].firstIndex(where: { $0 > 0 }) { return ObjectPlace(table: table, row: UInt32(row)) }
        }
        return nil
    }

    /// Returns an object that is not in the order and that has a link to the given object.
    private func restBefore(_ place: ObjectPlace, _ backward: WalkSteps) -> ObjectPlace? {
        var found: ObjectPlace?
        for index in backward.range(place.table) {
            var cursor = StepCursor(backward[index], reader)
            let isComplete = cursor.forEach(of: place.row) { row in
                let candidate = ObjectPlace(table: backward[index].targetTable, row: row)
                if isRest(candidate) { found = candidate }
                return found == nil
            }
            if !isComplete { return found }
        }
        return nil
    }
}
