/// The rows that a draft changed, with one bit for each row. There is a set for the attributes of each table, for each end of each link,
/// and for the edges of each link.
struct TouchedRows {
    private(set) var attributes: [RowSet]
    private(set) var ends: [RowSet]
    /// For each link with a table of edges, the edges that were made, removed or moved.
    private var edges: [RowSet]
    /// Whether a member was removed from an ordered list. If so, the member may have returned to the list, at another position.
    var hasRemovedMembers = false
    /// For each end of each link, the objects for which a row or a hook of an import stated the order of the members.
    private var statedOrders: [RowSet]
    let limits: HubLimits
    /// For each end, whether `changes` lists the changes of members at this end. Empty if no changes are listed.
    var listedEnds: [Bool] = []
    private var changes: [MemberChange] = []

    init(_ layout: GraphLayout, _ limits: HubLimits) {
        self.limits = limits
        attributes = [RowSet](repeating: RowSet(), count: layout.tables.count)
        ends = [RowSet](repeating: RowSet(), count: 2 * layout.links.count)
        edges = [RowSet](repeating: RowSet(), count: layout.links.count)
        statedOrders = [RowSet](repeating: RowSet(), count: 2 * layout.links.count)
    }

    @inline(__always) mutating func markAttributes(_ table: Int, _ row: UInt32) { attributes[table].insert(row) }
    @inline(__always) mutating func markEnd(_ link: Int, _ end: Int, _ row: UInt32) {
        ends[2 * link + end].insert(row)
        if !listedEnds.isEmpty { list(2 * link + end, row) }
    }
    @inline(__always) mutating func markEdge(_ link: Int, _ edge: UInt32) { edges[link].insert(edge) }

    @inline(never) private mutating func list(_ end: Int, _ row: UInt32) {
        if listedEnds[end] { changes.append(MemberChange(end: end, row: row)) }
    }

    /// Returns the listed changes since the last call.
    mutating func takeChanges() -> [MemberChange] {
        defer { changes.removeAll(keepingCapacity: true) }
        return changes
    }

    mutating func markStatedOrder(_ end: EndLayout, _ owner: UInt32) { statedOrders[2 * end.link + end.end].insert(owner) }
    func hasStatedOrder(_ end: EndLayout, _ owner: UInt32) -> Bool { statedOrders[2 * end.link + end.end].contains(owner) }

    /// Records a member that moved in an ordered list.
    mutating func markMember(_ end: EndLayout, _ member: UInt32) {
        switch end.layout {
        case .pair: break
        case .list(_, let childEnd): markEnd(end.link, childEnd, member)
        case .edges: markEdge(end.link, member)
        }
    }

    /// Calls `body` with the row of each member that was added, removed or moved in a list of the link.
    func forEachMember(_ end: EndLayout, _ body: (UInt32) -> Void) {
        switch end.layout {
        case .pair: break
        case .list(_, let childEnd): ends[2 * end.link + childEnd].forEach(body)
        case .edges: edges[end.link].forEach(body)
        }
    }
}

/// An object whose members changed, and the end of the link at which they changed.
package struct MemberChange: Hashable {
    /// The number of the end among the ends of all links.
    package let end: Int
    package let row: UInt32

    package init(end: Int, row: UInt32) { (self.end, self.row) = (end, row) }
}

/// A set of rows or of references to pages, one bit for each number between the first and the last row of the set.
package struct RowSet: Sendable {
    private var words: [UInt64] = []
    /// `words` omits this number of words at the beginning, because they contain no rows. So a set of a few rows close together takes
    /// little memory, even in a large table.
    private var firstWord = 0

    package init() {}

    /// Adds a row. Returns whether the row was not yet in the set.
    @inline(__always) @discardableResult
    package mutating func insert(_ row: UInt32) -> Bool {
        cover(Int(row >> 6))
        let word = Int(row >> 6) - firstWord
        let mask: UInt64 = 1 << UInt64(row & 63)
        defer { words[word] |= mask }
        return words[word] & mask == 0
    }

    @inline(__always) func contains(_ row: UInt32) -> Bool {
        let word = Int(row >> 6) - firstWord
        return word >= 0 && word < words.count && words[word] >> UInt64(row & 63) & 1 != 0
    }

    mutating func formUnion(_ other: RowSet) {
        if other.words.isEmpty { return }
        cover(other.firstWord)
        cover(other.firstWord + other.words.count - 1)
        for index in other.words.indices { words[other.firstWord - firstWord + index] |= other.words[index] }
    }

    /// Calls `body` with each row, in ascending order.
    func forEach(_ body: (UInt32) -> Void) {
        for (index, word) in words.enumerated() {
            var rest = word
            while rest != 0 {
                body(UInt32((firstWord + index) << 6 + rest.trailingZeroBitCount))
                rest &= rest - 1
            }
        }
    }

    /// Extends `words` so that it contains a word, if necessary. Complexity: amortized O(words between the first and the last row).
    @inline(__always) private mutating func cover(_ word: Int) {
        if word < firstWord || word >= firstWord + words.count { extend(to: word) }
    }

    @inline(never) private mutating func extend(to word: Int) {
        if words.isEmpty {
            (firstWord, words) = (word, [0])
        } else if word < firstWord {
            let count = min(firstWord, max(firstWord - word, words.count))
            words.insert(contentsOf: repeatElement(0, count: count), at: 0)
            firstWord -= count
        } else {
            words.append(contentsOf: repeatElement(0, count: max(word + 1 - firstWord - words.count, words.count)))
        }
    }
}
