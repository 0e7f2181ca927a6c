import CambiumModel

/// The moves that put the members of an ordered relationship into another order. Members of a longest ascending run stay in place.
struct EditOrder {
    /// A move of a member to an index. The index applies after the move.
    struct Move: Equatable {
        let id: ObjectID
        let index: Int
    }

    let moves: [Move]

    /// Finds the moves. Both arrays must contain the same members. Complexity: O(members x log members + moves x members).
    init(from current: [ObjectID], to wanted: [ObjectID]) {
        if current == wanted {
            moves = []
            return
        }
        let staying = Self.staying(current, wanted)
        var (list, moves) = (current, [Move]())
        for (place, id) in wanted.enumerated() where !staying.contains(id) {
            guard let from = list.firstIndex(of: id) else { continue }
            list.remove(at: from)
            let index = place == 0 ? 0 : (list.firstIndex(of: wanted[place - 1]) ?? list.count - 1) + 1
            list.insert(id, at: index)
            if index != from { moves.append(Move(id: id, index: index)) }
        }
        self.moves = moves
    }

    /// Returns the members of a longest run that has the same order in both arrays.
    ///
    /// Source: M. Fredman, "On computing the length of longest increasing subsequences", Discrete Mathematics 11, 1975.
    private static func staying(_ current: [ObjectID], _ wanted: [ObjectID]) -> Set<ObjectID> {
        let places = Dictionary(wanted.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let sequence = current.compactMap { places[$0] }
        // For each length, the index of the least last element of a run of this length. For each element, the index of the previous element
        // in its run.
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
