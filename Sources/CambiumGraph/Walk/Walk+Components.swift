public import CambiumModel

extension Walk {
    /// Returns the weakly connected components that the relationships of the walk form.
    ///
    /// Throws `.limitExceeded` if the tables at the ends of the relationships have 2^32 rows or more. Complexity: O(objects + links +
    /// components x log components), and 8 bytes for each object. The result keeps 4 of these bytes.
    public func components() throws(CambiumError) -> ConnectedComponents {
        var joining = try ComponentJoining(self)
        let links = Set(relationships.map(\.link)).sorted()
        for link in links { joining.join(graph.layout.links[link]) }
        return joining.components()
    }
}

/// Joins sets of objects (union-find, Tarjan). Each object points to itself, or to an object with a smaller number in the same component.
private struct ComponentJoining {
    private let graph: Graph
    private let scope: WalkScope
    /// For each table, the number of its first row. All rows of all tables are numbered consecutively.
    private var bases: [UInt32]
    private var parents: [UInt32]

    private static let rowCountMax = Int(UInt32.max)

    init(_ walk: Walk) throws(CambiumError) {
        graph = walk.graph
        scope = WalkScope(walk)
        bases = [UInt32](repeating: 0, count: graph.layout.tables.count)
        var count = 0
        for table in scope.tables {
            bases[table] = UInt32(truncatingIfNeeded: count)
            count += graph.reader.rowCountEnd(table)
            if count > Self.rowCountMax {
                throw CambiumError(
                    .limitExceeded, "The tables have more than \(Self.rowCountMax) rows. Use fewer relationships.")
            }
        }
        parents = Array(0..<UInt32(count))
    }

    // MARK: Joining

    /// Joins the components of the two objects of each link. Reads the link columns in the order of the rows.
    mutating func join(_ link: LinkLayout) {
        let tables = link.linkedTables
        let (firstBase, secondBase) = (bases[tables.first], bases[tables.second])
        graph.reader.forEachLink(link, graph.layout) { join(firstBase &+ $0, secondBase &+ $1) }
    }

    private mutating func join(_ first: UInt32, _ second: UInt32) {
        if Int(max(first, second)) >= parents.count { graph.refuse("a link leads to a row that does not exist") }
        let (left, right) = (root(first), root(second))
        if left < right { parents[Int(right)] = left } else { parents[Int(left)] = right }
    }

    /// Returns the representative of a component: the object to which the pointers of all its objects lead. Shortens the path of pointers
    /// that it follows.
    private mutating func root(_ start: UInt32) -> UInt32 {
        var object = start
        while true {
            let parent = parents[Int(object)]
            if parent == object { return object }
            let next = parents[Int(parent)]
            parents[Int(object)] = next
            object = next
        }
    }

    // MARK: Numbering

    /// Numbers the components by descending size.
    mutating func components() -> ConnectedComponents {
        var sizes: [UInt32: Int] = [:]
        for table in scope.tables {
            let base = bases[table]
            scope.forEachRow(of: table) { sizes[root(base + $0), default: 0] += 1 }
        }
        let ordered = sizes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        var numberOfRoot: [UInt32: UInt32] = [:]
        numberOfRoot.reserveCapacity(ordered.count)
        for (number, component) in ordered.enumerated() { numberOfRoot[component.key] = UInt32(number) }
        var numbers = [[UInt32]](repeating: [], count: bases.count)
        for table in scope.tables {
            let base = bases[table]
            var own = [UInt32](repeating: ConnectedComponents.noComponent, count: graph.reader.rowCountEnd(table))
            scope.forEachRow(of: table) { own[Int($0)] = numberOfRoot[root(base + $0)] ?? ConnectedComponents.noComponent }
            numbers[table] = own
        }
        return ConnectedComponents(graph, numbers: numbers, sizes: ordered.map(\.value))
    }
}
