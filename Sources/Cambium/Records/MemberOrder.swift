/// The steps that put the members of an ordered relationship into another order.
enum MemberOrder {
    /// A member that is inserted at an index or moved to it.
    struct Step: Equatable {
        let member: ObjectID
        let index: Int
        let isNew: Bool
    }

    /// Returns as few moves as possible, and an insertion for each new member.
    ///
    /// - Parameters:
    ///   - present: The members in their current order. All of them are wanted.
    ///   - wanted: The members in the wanted order, without duplicates.
    ///
    /// Complexity: O(n log n), and O(n) for each step.
    static func steps(from present: [ObjectID], to wanted: [ObjectID]) -> [Step] {
        let stable = stable(present, wanted)
        let known = Set(present)
        var members = present
        var steps: [Step] = []
        var previous: ObjectID?
        for member in wanted {
            defer { previous = member }
            if stable.contains(member) { continue }
            if known.contains(member), let old = members.firstIndex(of: member) { members.remove(at: old) }
            let index = previous.flatMap { members.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
            members.insert(member, at: index)
            steps.append(Step(member: member, index: index, isNew: !known.contains(member)))
        }
        return steps
    }

    /// Returns the members of a longest common order, which need not move: a longest increasing subsequence of their wanted indexes.
    private static func stable(_ present: [ObjectID], _ wanted: [ObjectID]) -> Set<ObjectID> {
        let index = Dictionary(uniqueKeysWithValues: wanted.enumerated().map { ($1, $0) })
        let places = present.compactMap { index[$0] }
        // For each length, the sequence of this length whose last element is lowest: the index of that element. For each index, the index
        // of the previous element in its sequence.
        var ends: [Int] = []
        var before = [Int?](repeating: nil, count: places.count)
        for (position, place) in places.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if places[ends[middle]] < place { low = middle + 1 } else { high = middle }
            }
            before[position] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(position) } else { ends[low] = position }
        }
        var stable: Set<ObjectID> = []
        var position = ends.last
        while let found = position {
            stable.insert(wanted[places[found]])
            position = before[found]
        }
        return stable
    }
}
