import CambiumModel

/// Computes the steps that put the members of an ordered relationship into another order. The members of a longest subsequence that is
/// already in that order stay in place.
package enum MemberOrder {
    /// A member that is inserted at an index, or moved to an index. `index` is the position of the member directly after the step.
    package struct Step: Equatable {
        package let member: ObjectID
        package let index: Int
        package let isNew: Bool
    }

    /// Returns the steps: as few moves as possible, and one insertion for each new member.
    ///
    /// - Parameters:
    ///   - present: The members in their current order. Each of them is also in `wanted`.
    ///   - wanted: The members in the wanted order, without duplicates.
    ///
    /// Complexity: O(n log n).
    package static func steps(from present: [ObjectID], to wanted: [ObjectID]) -> [Step] {
        if present == wanted { return [] }
        let staying = staying(present, wanted)
        let places = Dictionary(present.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        var steps: [Step] = []
        // `passed` is the number of members of `present` up to the last member of `staying` that the loop has reached. `waiting` is the
        // number of these passed members that must still be moved.
        var (passed, waiting) = (0, 0)
        var moved: Set<ObjectID> = []
        for (position, member) in wanted.enumerated() {
            let place = places[member]
            if let place, staying.contains(member) {
                waiting += present[passed..<place].count { !moved.contains($0) }
                passed = place + 1
                continue
            }
            if let place {
                if place < passed { waiting -= 1 }
                moved.insert(member)
            }
            // The index follows the `position` members that precede `member` in `wanted`, and the `waiting` members, which are moved in
            // later steps.
            steps.append(Step(member: member, index: position + waiting, isNew: place == nil))
        }
        return steps
    }

    /// Returns the members of a longest subsequence that has the same order in both arrays.
    ///
    /// Source: M. Fredman, "On computing the length of longest increasing subsequences", Discrete Mathematics 11, 1975.
    private static func staying(_ current: [ObjectID], _ wanted: [ObjectID]) -> Set<ObjectID> {
        let places = Dictionary(wanted.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let sequence = current.compactMap { places[$0] }
        // `ends` has, for each length, the index of the smallest last element of an increasing subsequence of this length. `previous` has,
        // for each element, the index of the preceding element in its subsequence.
        var (ends, previous) = ([Int](), [Int](repeating: -1, count: sequence.count))
        for (index, place) in sequence.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if sequence[ends[middle]] < place { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[index] = ends[low - 1] }
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var (run, index) = (Set<ObjectID>(), ends.last ?? -1)
        while index >= 0 {
            run.insert(wanted[sequence[index]])
            index = previous[index]
        }
        return run
    }
}
