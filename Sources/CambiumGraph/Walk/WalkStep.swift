import CambiumModel

/// One end of a link, resolved for walking: the columns that lead from an owner to the objects at the other end.
struct WalkStep: Sendable {
    enum Shape: Sendable {
        /// A column of the owner contains the row of the target.
        case one(slot: Int)
        /// The owner has a list, whose members are the target objects themselves.
        case members(ListLayout)
        /// The owner has a list, whose members are edges. A column of each edge contains the row of the target.
        case edges(ListLayout, targetSlot: Int)
    }

    let ownerTable: Int
    let targetTable: Int
    let shape: Shape
    let end: EndLayout

    init(_ end: EndLayout) {
        self.end = end
        let side = end.end
        switch end.layout {
        case .pair(let tables, let slots):
            (ownerTable, targetTable, shape) = (tables[side], tables[1 - side], .one(slot: slots[side]))
        case .list(let list, let childEnd) where side == childEnd:
            (ownerTable, targetTable, shape) = (list.memberTable, list.ownerTable, .one(slot: list.ownerSlot))
        case .list(let list, _):
            (ownerTable, targetTable, shape) = (list.ownerTable, list.memberTable, .members(list))
        case .edges(_, let lists, _):
            (ownerTable, targetTable) = (lists[side].ownerTable, lists[1 - side].ownerTable)
            shape = .edges(lists[side], targetSlot: lists[1 - side].ownerSlot)
        }
    }

    /// Whether the step may lead to several objects.
    var isToMany: Bool { if case .one = shape { false } else { true } }

    /// Returns the number of objects that the step leads to. Complexity: O(1).
    func count(_ reader: Reader, of row: UInt32) -> Int {
        switch shape {
        case .one: 1
        case .members(let list), .edges(let list, _): reader.memberCount(list, owner: row)
        }
    }
}

/// The steps that a walk may take, grouped by the table of the objects at which they begin.
struct WalkSteps: Sendable {
    private let steps: [WalkStep]
    private let ranges: [Range<Int>]
    private let links: CollectedLinks

    /// - Parameter ends: The ends to follow. Duplicates count once.
    init(_ ends: [EndLayout], _ graph: Graph) {
        var known: Set<Int> = []
        var found: [WalkStep] = []
        for end in ends where known.insert(2 * end.link + end.end).inserted { found.append(WalkStep(end)) }
        found.sort { $0.ownerTable < $1.ownerTable }
        var ranges = [Range<Int>](repeating: 0..<0, count: graph.layout.tables.count)
        for (index, step) in found.enumerated() {
            let range = ranges[step.ownerTable]
            ranges[step.ownerTable] = (range.isEmpty ? index : range.lowerBound)..<index + 1
        }
        self.ranges = ranges
        steps = found
        links = CollectedLinks(found, graph.reader)
    }

    /// Returns an array of links for each step that has one; empty if walks have followed only few links so far.
    func arrays(_ graph: Graph) -> [LinkArray?] { links.current(steps, graph.reader, graph.layout) }

    /// Adds to the number of links that walks have followed from row to row.
    func track(followedCount count: Int) { links.track(followedCount: count) }

    /// Returns the indexes of the steps that begin at objects of a table.
    @inline(__always) func range(_ table: UInt32) -> Range<Int> { ranges[Int(table)] }
    @inline(__always) subscript(_ place: Int) -> WalkStep { steps[place] }

    /// Returns the end of the first run in `range`. A run consists of consecutive places in one table.
    @inline(__always) static func runEnd(_ places: [ObjectPlace], _ range: Range<Int>) -> Int {
        var end = range.lowerBound + 1
        while end < range.upperBound, places[end].table == places[range.lowerBound].table { end += 1 }
        return end
    }
}
