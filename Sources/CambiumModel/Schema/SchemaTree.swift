/// The hierarchies of the entities of a definition. An entity is represented by its index in the definition. Creating a tree takes
/// O(entities).
struct SchemaTree {
    let parents: [Int?]
    /// For each entity, its topmost ancestor.
    let roots: [Int]
    /// The entities in preorder: each entity precedes its descendants, which follow it directly.
    let order: [Int]
    /// For each entity, the range of `order` with the entity and all its descendants.
    let subtrees: [Range<Int>]
    /// For each entity, the number of its ancestors.
    let depths: [Int]

    /// - Parameter parents: For each entity, the index of its parent. The parents must not form a cycle.
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

    /// Returns the ancestors of an entity, the nearest first. Complexity: O(depth).
    func ancestors(of place: Int) -> [Int] {
        var found: [Int] = []
        var next = parents[place]
        while let parent = next {
            found.append(parent)
            next = parents[parent]
        }
        return found
    }

    /// Returns an entity and its descendants.
    func family(of place: Int) -> ArraySlice<Int> { order[subtrees[place]] }
}
