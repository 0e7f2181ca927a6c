/// The objects that a live query keeps, in order.
struct LiveEntries {
    private(set) var sorted: [LiveEntry] = []
    /// The entries by their serials. Empty if the serials alone determine the order.
    private var bySerial: [UInt64: LiveEntry] = [:]
    private let isInOrderOfSerials: Bool

    /// The number of changes up to which entries are inserted and removed one by one.
    private static let singleCountMax = 8

    init(_ sorted: [LiveEntry], isInOrderOfSerials: Bool) {
        self.sorted = sorted
        self.isInOrderOfSerials = isInOrderOfSerials
        if isInOrderOfSerials { return }
        bySerial = Dictionary(sorted.map { ($0.serial, $0) }) { first, _ in first }
    }

    var count: Int { sorted.count }

    /// Returns the entry of an object. Complexity: O(log entries).
    func entry(_ serial: UInt64) -> LiveEntry? {
        if !isInOrderOfSerials { return bySerial[serial] }
        let wanted = LiveEntry(sort: SortEntry(key: [], serial: serial, row: 0), section: [])
        let index = index(of: wanted)
        return index < sorted.count && sorted[index] == wanted ? sorted[index] : nil
    }

    /// Returns the index of an entry, or the index at which it would be inserted. Complexity: O(log entries).
    func index(of entry: LiveEntry) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] < entry { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Removes and inserts entries, both of which ascend. Complexity: O(entries) for few changes, otherwise O(entries + changes).
    mutating func replace(_ removed: [LiveEntry], by added: [LiveEntry]) {
        if !isInOrderOfSerials {
            for entry in removed { bySerial[entry.serial] = nil }
            for entry in added { bySerial[entry.serial] = entry }
        }
        if removed.count + added.count <= Self.singleCountMax {
            for entry in removed { sorted.remove(at: index(of: entry)) }
            for entry in added { sorted.insert(entry, at: index(of: entry)) }
        } else {
            sorted = merged(removed, added)
        }
    }

    private func merged(_ removed: [LiveEntry], _ added: [LiveEntry]) -> [LiveEntry] {
        var merged: [LiveEntry] = []
        merged.reserveCapacity(sorted.count + added.count - removed.count)
        var (removed, added) = (removed[...], added[...])
        for entry in sorted {
            if removed.first == entry {
                removed.removeFirst()
                continue
            }
            while let next = added.first, next < entry {
                merged.append(next)
                added.removeFirst()
            }
            merged.append(entry)
        }
        return merged + added
    }

    /// Removes the entries from an index on.
    mutating func truncate(to count: Int) {
        for entry in sorted[count...] { bySerial[entry.serial] = nil }
        sorted.removeSubrange(count...)
    }
}
