/// A range of objects that are consecutive in an ordered index.
///
/// The keys in an index are cut to a maximum length. If the value at an edge of the range is longer, the objects near this edge are
/// compared by their whole values.
package struct IndexRange: Sendable {
    /// The beginning or the end of a range.
    struct Edge: Sendable {
        /// The whole key of the edge, even if it is longer than a key of the index.
        let key: [UInt8]
        /// Whether the edge follows all objects whose keys begin with `key`. Otherwise, the edge precedes these objects.
        let isAfter: Bool

        init(_ key: [UInt8], isAfter: Bool) {
            self.key = key
            self.isAfter = isAfter
        }

        var isCut: Bool { key.count > OrderedNode.keyByteCountMax }

        /// Returns whether this end of the range follows an object. `whole` is the object's whole key, which may be longer than the cut key
        /// in the index.
        func isAfter(_ whole: [UInt8]) -> Bool {
            if whole.starts(with: key) { return isAfter }
            return whole.lexicographicallyPrecedes(key)
        }
    }

    let index: OrderedIndex
    /// The positions in the index of all objects that may be in the range.
    let outer: Range<Int>
    let lower: Edge?
    let upper: Edge?
    /// The positions in the index of the objects with the same cut key as `lower`. A key is cut if it is too long for the index. Empty if
    /// the key of `lower` is not cut. The whole values of these objects decide whether the objects are in the range.
    private let lowerEdge: Range<Int>
    /// The positions in the index of the objects with the same cut key as `upper`. A key is cut if it is too long for the index. Empty if
    /// the key of `upper` is not cut.
    private let upperEdge: Range<Int>

    init(_ index: OrderedIndex, _ outer: Range<Int>) {
        self.index = index
        self.outer = outer
        (lower, upper, lowerEdge, upperEdge) = (nil, nil, 0..<0, 0..<0)
    }

    init(_ index: OrderedIndex, _ lower: Edge?, _ upper: Edge?) {
        self.index = index
        self.lower = lower
        self.upper = upper
        let first = lower.map { Self.places(of: $0, index) } ?? 0..<0
        let last = upper.map { Self.places(of: $0, index) } ?? index.count..<index.count
        outer = first.lowerBound..<max(first.lowerBound, last.upperBound)
        lowerEdge = lower?.isCut == true ? first.clamped(to: outer) : 0..<0
        upperEdge = upper?.isCut == true ? last.clamped(to: outer) : 0..<0
    }

    /// Returns the positions in the index of the objects with the same cut key as an edge (an end of a range). If the key of the edge is
    /// not cut, returns an empty range at the position of the edge.
    private static func places(of edge: Edge, _ index: OrderedIndex) -> Range<Int> {
        if !edge.isCut {
            let place = edge.isAfter ? place(after: edge.key, index) : index.reader.rank(of: edge.key)
            return place..<place
        }
        let bytes = Array(edge.key.prefix(OrderedNode.keyByteCountMax))
        let start = index.reader.rank(of: bytes)
        return start..<max(start, place(after: bytes, index))
    }

    /// Returns the position in the index after all entries that begin with the given bytes.
    private static func place(after bytes: [UInt8], _ index: OrderedIndex) -> Int {
        var padded = bytes + [UInt8](repeating: 0, count: OrderedNode.slackByteCount)
        return padded.withUnsafeMutableBytes { padded in padded.baseAddress.map { index.place(after: $0, bytes.count) } ?? index.count }
    }

    /// The number of objects in the range. Complexity: O(1), or O(objects near the edges) if the key of an edge is cut.
    package var count: Int {
        outer.count - (lowerEdge.isEmpty && upperEdge.isEmpty ? 0 : missing(lowerEdge) + missing(upperEdge, notIn: lowerEdge))
    }

    private func missing(_ places: Range<Int>, notIn others: Range<Int> = 0..<0) -> Int {
        var count = 0
        var place = places.lowerBound
        index.reader.forEachRow(places) { row in
            if !others.contains(place), !has(row) { count += 1 }
            place += 1
        }
        return count
    }

    /// Compares the whole key of an object near an edge with the edges. Returns whether the object belongs to the range.
    private func has(_ row: UInt32) -> Bool {
        let whole = wholeKey(row)
        return !(lower?.isAfter(whole) ?? false) && (upper?.isAfter(whole) ?? true)
    }

    func wholeKey(_ row: UInt32) -> [UInt8] {
        index.layout.wholeKey(row, index.graph.reader.rows(index.layout.table))
    }
}

extension OrderedIndexLayout {
    /// Whether the types of the attributes ensure that no key is cut to the maximum length.
    var hasShortKeys: Bool {
        var byteCount = 0
        for component in components {
            switch component.kind {
            case .fixed(let width): byteCount += 1 + width
            case .string where component.type == .decimal: byteCount += 32
            default: return false
            }
        }
        return byteCount < OrderedNode.keyByteCountMax
    }
}
