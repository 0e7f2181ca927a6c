import CambiumModel

/// The targets of all links of one step, in an array in the order of the owners.
///
/// The members of a list are linked from row to row, so a walk through the list waits for memory once for each member. In the array, the
/// targets of an owner are adjacent.
final class LinkArray: Sendable {
    /// For each row of the owners, the index of the row's first target. The last element is the number of all targets.
    private let starts: [UInt32]
    private let targets: [UInt32]

    /// The maximum number of elements, of 4 bytes each. A step with more owners and links has no array.
    static let elementCountMax = 16 << 20

    /// Reads all links in the order in which they are stored. Ends the process if pages that have not been proven valid contain a link to a
    /// row that does not exist. Complexity: O(rows of the table that stores the links).
    init(_ step: WalkStep, _ reader: Reader, _ layout: GraphLayout) {
        let ownerRowEnd = reader.rowCountEnd(step.ownerTable)
        let targetRowEnd = reader.rowCountEnd(step.targetTable)
        // First, the element at index owner + 2 counts the targets of an owner. The sums turn the element at owner + 1 into the index of
        // the owner's first target. Each target that is stored increases this element, so at the end it is the index of the next owner's
        // first target.
        var starts = [UInt32](repeating: 0, count: ownerRowEnd + 2)
        reader.forEachLink(of: step, layout) { owner, target in
            if Int(owner) >= ownerRowEnd || Int(target) >= targetRowEnd {
                reader.chunks.refuse("a link leads to a row that does not exist")
            }
            starts[Int(owner) &+ 2] &+= 1
        }
        for index in 2..<starts.count { starts[index] &+= starts[index - 1] }
        targets = [UInt32](unsafeUninitializedCapacity: Int(starts[ownerRowEnd + 1])) { buffer, count in
            reader.forEachLink(of: step, layout) { owner, target in
                let place = Int(owner) &+ 1
                // The first pass has counted these links, but another process may have changed the file since then.
                if place >= starts.count || Int(starts[place]) >= buffer.count { reader.chunks.refuse("the links have changed") }
                buffer[Int(starts[place])] = target
                starts[place] &+= 1
            }
            count = buffer.count
        }
        starts.removeLast()
        self.starts = starts
    }

    /// The maximum number of elements in both arrays of a step, or `nil` if the step needs no array, because it leads to one object.
    static func elementCount(_ step: WalkStep, _ reader: Reader) -> Int? {
        switch step.shape {
        case .one: nil
        case .members(let list), .edges(let list, _): reader.rowCountEnd(step.ownerTable) + reader.rowCountEnd(list.memberTable)
        }
    }

    /// Returns the number of targets of a row. Complexity: O(1).
    @inline(__always) func count(of row: UInt32) -> Int { Int(starts[Int(row) &+ 1]) &- Int(starts[Int(row)]) }

    /// Calls `body` with each target of a row, until `body` returns `false`. Returns whether `body` always returned `true`.
    @inline(__always) func forEach(of row: UInt32, _ body: (UInt32) -> Bool) -> Bool {
        for index in Int(starts[Int(row)])..<Int(starts[Int(row) &+ 1]) where !body(targets[index]) { return false }
        return true
    }
}

extension Reader {
    /// An upper bound of the number of rows in a table.
    func rowCountEnd(_ table: Int) -> Int { groupCount(table) << PageLayout.fanOutShift }

    /// Calls `body` with the rows at both ends of each link, in the order in which the links are stored. The row at end 0 comes first,
    /// except in a list of objects, in which the member comes first.
    @inline(__always) func forEachLink(_ link: LinkLayout, _ layout: GraphLayout, _ body: (UInt32, UInt32) -> Void) {
        let (table, slots) = link.columns
        let rows = rows(table)
        var (first, second) = (LeafCache(), LeafCache())
        forEachRow(of: layout.tables[table]) { row in
            let end = second.link(row, rows, slots.1)
            if end == noRow { return }
            body(slots.0.map { first.link(row, rows, $0) } ?? row, end)
        }
    }

    /// Calls `body` with the owner and the target of each link of a step to many objects.
    @inline(__always) fileprivate func forEachLink(of step: WalkStep, _ layout: GraphLayout, _ body: (UInt32, UInt32) -> Void) {
        let isReversed = if case .edges = step.shape { step.end.end == 1 } else { true }
        forEachLink(step.end.layout, layout) { first, second in isReversed ? body(second, first) : body(first, second) }
    }
}

extension LinkLayout {
    /// The table whose rows store the links, and its columns with the rows at both ends. The first column is `nil` if the row itself is at
    /// that end.
    fileprivate var columns: (table: Int, slots: (Int?, Int)) {
        switch self {
        case .pair(let tables, let slots): (tables[0], (nil, slots[0]))
        case .list(let list, _): (list.memberTable, (nil, list.ownerSlot))
        case .edges(let table, let lists, _): (table, (lists[0].ownerSlot, lists[1].ownerSlot))
        }
    }

    /// The tables of the two rows that `forEachLink` passes to its closure.
    var linkedTables: (first: Int, second: Int) {
        switch self {
        case .pair(let tables, _): (tables[0], tables[1])
        case .list(let list, _): (list.memberTable, list.ownerTable)
        case .edges(_, let lists, _): (lists[0].ownerTable, lists[1].ownerTable)
        }
    }
}
