import CambiumBytes

/// The objects that a live query keeps, in order.
///
/// The entries are in chunks, so that a change in a long result moves few entries.
struct LiveEntries {
    /// The entries in ascending order, divided into chunks that are not empty.
    private var chunks: [[LiveEntry]] = []
    /// The number of entries of each chunk.
    private var counts: [Int] = []
    private(set) var count = 0
    /// The entry of each serial. Empty if the entries are in the order of their serials, because then a binary search in `chunks` finds an
    /// entry.
    private var bySerial: [UInt64: LiveEntry] = [:]
    private let isInOrderOfSerials: Bool

    /// The number of entries of a new chunk. A chunk that has grown to more than twice this number is divided.
    private static let chunkCount = 256
    /// If there is more than one change for each 16 entries, one pass merges all entries with the changes. The pass is then faster than
    /// making each change separately.
    private static let mergedShare = 16

    /// - Parameter sorted: The entries in ascending order.
    init(_ sorted: [LiveEntry], isInOrderOfSerials: Bool) {
        self.isInOrderOfSerials = isInOrderOfSerials
        fill(sorted)
        if isInOrderOfSerials { return }
        bySerial = Dictionary(sorted.map { ($0.serial, $0) }) { first, _ in first }
    }

    private mutating func fill(_ sorted: [LiveEntry]) {
        chunks = stride(from: 0, to: sorted.count, by: Self.chunkCount).map { Array(sorted[$0..<min($0 + Self.chunkCount, sorted.count)]) }
        counts = chunks.map(\.count)
        count = sorted.count
    }

    // MARK: Reading

    var last: LiveEntry? { chunks.last?.last }

    /// The entries of a range of indexes. Complexity: O(entries up to the end of the range).
    subscript(range: Range<Int>) -> [LiveEntry] {
        var found: [LiveEntry] = []
        found.reserveCapacity(max(0, min(range.upperBound, count) - range.lowerBound))
        var start = 0
        for chunk in chunks where start < range.upperBound {
            let (low, high) = (max(range.lowerBound - start, 0), min(range.upperBound - start, chunk.count))
            if low < high { found += chunk[low..<high] }
            start += chunk.count
        }
        return found
    }

    /// Returns the entry of an object. Complexity: O(log entries).
    func entry(_ serial: UInt64) -> LiveEntry? {
        if !isInOrderOfSerials { return bySerial[serial] }
        let wanted = LiveEntry(sort: SortEntry(key: [], serial: serial, row: 0), section: [])
        let (chunk, index) = place(of: wanted)
        return chunk < chunks.count && chunks[chunk][index] == wanted ? chunks[chunk][index] : nil
    }

    /// Returns the index of an entry, or the index at which it would be inserted. Complexity: O(log entries + chunks).
    func index(of entry: LiveEntry) -> Int {
        let (chunk, index) = place(of: entry)
        return counts[..<chunk].reduce(index, +)
    }

    /// Returns the position of the first entry that is not less than an entry. If every entry is less, `chunk` is the number of chunks.
    private func place(of entry: LiveEntry) -> (chunk: Int, index: Int) {
        let chunk = chunks.indices.prefixEnd { chunks[$0].last.map { $0 < entry } ?? false }
        return (chunk, chunk < chunks.count ? chunks[chunk].indices.prefixEnd { chunks[chunk][$0] < entry } : 0)
    }

    // MARK: Changing

    /// Removes the entries in `removed`, and inserts the entries in `added`. Both arrays must be in ascending order. Complexity: O(changes
    /// x (log entries + chunks)), and at most O(entries + changes).
    mutating func replace(_ removed: [LiveEntry], by added: [LiveEntry]) {
        if !isInOrderOfSerials {
            for entry in removed { bySerial[entry.serial] = nil }
            for entry in added { bySerial[entry.serial] = entry }
        }
        if (removed.count + added.count) * Self.mergedShare > count {
            fill(merged(removed, added))
        } else {
            for entry in removed { remove(entry) }
            for entry in added { insert(entry) }
        }
    }

    private mutating func remove(_ entry: LiveEntry) {
        let (chunk, index) = place(of: entry)
        chunks[chunk].remove(at: index)
        counts[chunk] -= 1
        count -= 1
        if counts[chunk] > 0 { return }
        chunks.remove(at: chunk)
        counts.remove(at: chunk)
    }

    private mutating func insert(_ entry: LiveEntry) {
        var (chunk, index) = place(of: entry)
        count += 1
        if chunk == chunks.count {
            // The position is beyond the last chunk, so the entry becomes the last entry of the last chunk.
            if chunks.isEmpty { return fill([entry]) }
            (chunk, index) = (chunk - 1, counts[chunk - 1])
        }
        chunks[chunk].insert(entry, at: index)
        counts[chunk] += 1
        if counts[chunk] <= 2 * Self.chunkCount { return }
        let second = Array(chunks[chunk][Self.chunkCount...])
        chunks[chunk].removeSubrange(Self.chunkCount...)
        chunks.insert(second, at: chunk + 1)
        counts[chunk] = Self.chunkCount
        counts.insert(second.count, at: chunk + 1)
    }

    private func merged(_ removed: [LiveEntry], _ added: [LiveEntry]) -> [LiveEntry] {
        var merged: [LiveEntry] = []
        merged.reserveCapacity(count + added.count - removed.count)
        var (removed, added) = (removed[...], added[...])
        for entry in chunks.joined() {
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

    /// Removes all entries except the first `kept` entries. Complexity: O(entries).
    mutating func truncate(to kept: Int) {
        for entry in self[kept..<count] { bySerial[entry.serial] = nil }
        fill(self[0..<kept])
    }
}
