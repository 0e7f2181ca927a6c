/// Which entities of a definition stand above and below which, by their places in it. Complexity to make one: O(entities).
struct SchemaTree {
    let parents: [Int?]
    /// For each entity the one at the top of its line.
    let roots: [Int]
    /// Each entity before those below it, and those below it directly after it.
    let order: [Int]
    /// For each entity the range of `order` with it and all below it.
    let subtrees: [Range<Int>]
    /// For each entity how many stand above it.
    let depths: [Int]

    /// - Parameter parents: without rings.
    init(parents: [Int?]) {
        self.parents = parents
        var children = [[Int]](repeating: [], count: parents.count)
        for (place, parent) in parents.enumerated() { if let parent { children[parent].append(place) } }
        var roots = Array(parents.indices)
        var depths = [Int](repeating: 0, count: parents.count)
        var order: [Int] = []
        var pending = Array(parents.indices.filter { parents[$0] == nil }.reversed())
        while let place = pending.popLast() {
            order.append(place)
            if let parent = parents[place] { (roots[place], depths[place]) = (roots[parent], depths[parent] + 1) }
            pending += children[place].reversed()
        }
        var counts = [Int](repeating: 1, count: parents.count)
        for place in order.reversed() { if let parent = parents[place] { counts[parent] += counts[place] } }
        var subtrees = [Range<Int>](repeating: 0..<0, count: parents.count)
        for (position, place) in order.enumerated() { subtrees[place] = position..<position + counts[place] }
        (self.roots, self.depths, self.order, self.subtrees) = (roots, depths, order, subtrees)
    }

    /// The entities above one, the nearest first. Complexity: O(depth).
    func ancestors(of place: Int) -> [Int] {
        var found: [Int] = []
        var next = parents[place]
        while let parent = next {
            found.append(parent)
            next = parents[parent]
        }
        return found
    }

    /// An entity and those below it.
    func family(of place: Int) -> ArraySlice<Int> { order[subtrees[place]] }
}
