/// The entries that only one of two sorted lists contains. Each entry has its index in its list.
struct LiveDifference {
    struct Item {
        let index: Int
        let entry: LiveEntry
    }

    private(set) var removed: [Item] = []
    private(set) var added: [Item] = []

    /// Compares two lists. Complexity: O(entries).
    init(_ old: [LiveEntry], _ new: [LiveEntry]) {
        var (left, right) = (0, 0)
        while left < old.count || right < new.count {
            if left < old.count, right < new.count, old[left] == new[right] {
                left += 1
                right += 1
            } else if right == new.count || left < old.count && old[left] < new[right] {
                removed.append(Item(index: left, entry: old[left]))
                left += 1
            } else {
                added.append(Item(index: right, entry: new[right]))
                right += 1
            }
        }
    }

    /// Computes the difference that replacing entries of `list` will make. The caller must replace the entries afterwards. The indexes of
    /// removed entries belong to the list before the replacement, and the indexes of added entries to the list after it. Both arrays must
    /// be in ascending order. Complexity: O(changes x (log entries + chunks)).
    init(replacing removed: [LiveEntry], by added: [LiveEntry], in list: LiveEntries) {
        self.removed = removed.map { Item(index: list.index(of: $0), entry: $0) }
        var goneCount = 0
        for (position, entry) in added.enumerated() {
            while goneCount < removed.count, removed[goneCount] < entry { goneCount += 1 }
            self.added.append(Item(index: list.index(of: entry) - goneCount + position, entry: entry))
        }
    }

    var isEmpty: Bool { removed.isEmpty && added.isEmpty }

    /// An object that is in both lists, at different positions in the order.
    struct Move {
        let from: Int
        let to: Int
        let serial: UInt64
    }

    /// Returns the objects that are in only one of the lists, and the objects that have moved. An object whose sort key changed has not
    /// moved if it is between the same entries and in the same section as before.
    func resolved() -> (deleted: [Item], inserted: [Item], moved: [Move]) {
        let places = Dictionary(removed.enumerated().map { ($1.entry.serial, $0) }) { first, _ in first }
        var inserted: [Item] = []
        var moved: [Move] = []
        var matched: Set<Int> = []
        var lastKept = -1
        for (position, item) in added.enumerated() {
            guard let place = places[item.entry.serial] else {
                inserted.append(item)
                continue
            }
            matched.insert(place)
            let old = removed[place]
            // The left side is the number of unchanged entries before the object in the old list. The right side is the number in the new
            // list. If both are equal, the object is still between the same two unchanged entries.
            let isBetweenSame = old.index - place == item.index - position
            if isBetweenSame, place > lastKept, old.entry.section == item.entry.section {
                lastKept = place
            } else {
                moved.append(Move(from: old.index, to: item.index, serial: item.entry.serial))
            }
        }
        return (removed.enumerated().filter { !matched.contains($0.offset) }.map(\.element), inserted, moved)
    }
}
