extension IndexRange {
    // MARK: Objects

    /// Calls `body` with each object in the order of the index until `body` returns `false`. Objects with equal values come in the order of
    /// their ids, or in the reverse order.
    ///
    /// - Parameter isReversed: Whether the order is reversed.
    /// - Parameter offset: The number of objects to skip. Skipped objects are not visited, unless keys of the index may be cut to the
    ///   maximum length.
    ///
    /// Complexity: O(log objects + objects visited).
    package func forEach(isReversed: Bool = false, offset: Int = 0, _ body: (ObjectPlace) -> Bool) {
        var walk = IndexWalk(self, isReversed: isReversed, offset: offset)
        walk.run(body)
    }

    /// Calls `body` with the entries at some positions of the index until `body` returns `false`. `body` receives the leaf of the entry,
    /// the index of the entry in this leaf, and the row.
    @inline(__always) private func forEachEntry(
        _ places: Range<Int>, isReversed: Bool, _ body: (_ leaf: OrderedLeaf, _ place: Int, _ row: UInt32) -> Bool
    ) {
        let rows = index.graph.reader.rows(index.layout.table)
        let isProven = index.graph.isProven
        index.reader.forEachLeaf(places, isReversed: isReversed) { leaf, part in
            for number in 0..<part.count {
                let place = isReversed ? part.upperBound - 1 - number : part.lowerBound + number
                let row = leaf.row(place)
                if !isProven { rows.requireLive(row) }
                if !body(leaf, place, row) { return false }
            }
            return true
        }
    }

    /// The first object of the range in the order of the index; `nil` if the range is empty.
    package var first: ObjectPlace? { object(isReversed: false) }
    /// The last object of the range in the order of the index; `nil` if the range is empty.
    package var last: ObjectPlace? { object(isReversed: true) }

    private func object(isReversed: Bool) -> ObjectPlace? {
        var found: ObjectPlace?
        forEach(isReversed: isReversed) { place in
            found = place
            return false
        }
        return found
    }

    /// Walks through a range. An index cuts long keys to a maximum length. The walk sorts objects with the same cut key by their whole
    /// values.
    private struct IndexWalk {
        private let range: IndexRange
        private let isReversed: Bool
        private var offset: Int
        private let rows: Rows
        private let table: Int
        private let isProven: Bool
        /// Whether all keys are short enough not to be cut. If so, the order of the entries is the order of the values.
        private let hasShortKeys: Bool
        /// The rows whose key in the index is `runKey`. The index may have cut this key to the maximum length.
        private var run: [UInt32] = []
        private var runKey: [UInt8] = []

        init(_ range: IndexRange, isReversed: Bool, offset: Int) {
            self.range = range
            self.isReversed = isReversed
            self.offset = max(0, offset)
            let graph = range.index.graph
            table = range.index.layout.table
            rows = graph.reader.rows(table)
            isProven = graph.isProven
            hasShortKeys = range.index.layout.hasShortKeys
        }

        mutating func run(_ body: (ObjectPlace) -> Bool) {
            var places = range.outer
            // If the index cuts no keys to its maximum length, its entries are already in the final order. So the skipped objects need not
            // be read or sorted.
            if hasShortKeys {
                let skipped = min(offset, places.count)
                places = isReversed ? places.lowerBound..<places.upperBound - skipped : places.lowerBound + skipped..<places.upperBound
                offset = 0
            }
            let table = table
            if hasShortKeys {
                return range.forEachEntry(places, isReversed: isReversed) { _, _, row in body(ObjectPlace(table: table, row: row)) }
            }
            var isWanted = true
            range.index.reader.forEachLeaf(places, isReversed: isReversed) { leaf, part in
                isWanted = visit(leaf, part, body)
                return isWanted
            }
            if isWanted { _ = endRun(body) }
        }

        private mutating func visit(_ leaf: OrderedLeaf, _ part: Range<Int>, _ body: (ObjectPlace) -> Bool) -> Bool {
            for number in 0..<part.count {
                let place = isReversed ? part.upperBound - 1 - number : part.lowerBound + number
                let (start, byteCount) = leaf.entry(place)
                let row = OrderedNode.row(leaf.page + start + byteCount)
                if !leaf.isCut(place) {
                    guard endRun(body), give(row, body) else { return false }
                    continue
                }
                let key = leaf.key(place)
                if key != runKey {
                    guard endRun(body) else { return false }
                    runKey = key
                }
                run.append(row)
            }
            return true
        }

        /// Passes the objects of the current run (objects with the same cut key) to `body`, in the order of their whole keys. Omits the
        /// objects that are not in the range.
        ///
        /// The run is sorted in parts of growing length, because whole keys may be long. So the number of keys in memory depends on the
        /// number of objects that `body` accepts, and not on the length of the run. Each part reads the whole keys of the run again.
        private mutating func endRun(_ body: (ObjectPlace) -> Bool) -> Bool {
            if run.isEmpty { return true }
            let ended = run
            (run, runKey) = ([], [])
            var count = Self.firstPartCount
            var last: WholeEntry?
            while true {
                let part = part(of: ended, after: last, count)
                for entry in part {
                    guard give(entry.row, body) else { return false }
                }
                if part.count < count { return true }
                (count, last) = (count * Self.partGrowth, part.last)
            }
        }

        /// An object with its whole key.
        private struct WholeEntry {
            let key: [UInt8]
            let row: UInt32
        }

        /// The number of objects in the first part of a run.
        private static let firstPartCount = 128
        /// The length of a part, divided by the length of the part before it.
        private static let partGrowth = 8

        /// Returns the first objects of a run that follow `last` and are in the range, in order, and at most `count` objects.
        private func part(of ended: [UInt32], after last: WholeEntry?, _ count: Int) -> [WholeEntry] {
            var found: [WholeEntry] = []
            for row in ended {
                let entry = WholeEntry(key: range.wholeKey(row), row: row)
                if let last, !precedes(last, entry) { continue }
                if range.lower?.isAfter(entry.key) ?? false || !(range.upper?.isAfter(entry.key) ?? true) { continue }
                found.append(entry)
                if found.count == 2 * count {
                    found.sort(by: precedes)
                    found.removeLast(count)
                }
            }
            found.sort(by: precedes)
            return Array(found.prefix(count))
        }

        private func precedes(_ left: WholeEntry, _ right: WholeEntry) -> Bool {
            let (first, second) = isReversed ? (right, left) : (left, right)
            // All keys of a run begin with the same cut key.
            let (rest, otherRest) = (first.key.dropFirst(OrderedNode.keyByteCountMax), second.key.dropFirst(OrderedNode.keyByteCountMax))
            return rest == otherRest ? rows.serial(first.row) < rows.serial(second.row) : rest.lexicographicallyPrecedes(otherRest)
        }

        private mutating func give(_ row: UInt32, _ body: (ObjectPlace) -> Bool) -> Bool {
            if !isProven { rows.requireLive(row) }
            if offset > 0 {
                offset -= 1
                return true
            }
            return body(ObjectPlace(table: table, row: row))
        }
    }
}
