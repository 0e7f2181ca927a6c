/// Reads a column row by row. The leaf is looked up once for each group, because consecutive rows are usually in the same group.
struct LeafCache {
    private var group = UInt32.max
    private var leaf: UnsafeMutableRawPointer?

    @inline(__always)
    private mutating func leaf(_ row: UInt32, _ rows: Rows, _ slot: Int) -> UnsafeMutableRawPointer {
        if row &>> PageLayout.rowShift == group, let leaf { return leaf }
        let found = rows.leaf(rows.group(row), slot)
        group = row &>> PageLayout.rowShift
        leaf = found
        return found
    }

    @inline(__always)
    mutating func link(_ row: UInt32, _ rows: Rows, _ slot: Int) -> UInt32 {
        LinkLeaf(leaf(row, rows, slot))[row]
    }

    /// Returns a value of a column of fixed width, or `nil` if the value is null.
    @inline(__always)
    mutating func fixed<T: BitwiseCopyable>(_ row: UInt32, _ rows: Rows, _ slot: Int, as type: T.Type) -> T? {
        let leaf = leaf(row, rows, slot)
        guard FixedLeaf(leaf).isPresent(row) else { return nil }
        return FixedLeaf(leaf).value(row, as: T.self)
    }
}

/// The members of an unordered list, in the order of the chain that links them.
struct ChainRows: Sequence, IteratorProtocol {
    private var rows: Rows
    private var nextSlot: Int
    private var nextRow: UInt32
    private var cache = LeafCache()
    /// The number of rows that may still follow. If a chain has more rows than its table, it has a cycle.
    private var restCount: Int

    @inline(__always) init(_ rows: Rows, from first: UInt32, next slot: Int) {
        self.rows = rows
        nextRow = first
        nextSlot = slot
        restCount = rows.rowCountEnd
    }

    /// Continues with another chain of the same column, and keeps the cached leaf.
    @inline(__always) mutating func restart(_ rows: Rows, from first: UInt32, next slot: Int) {
        self.rows = rows
        nextRow = first
        nextSlot = slot
        restCount = rows.rowCountEnd
    }

    @inline(__always)
    mutating func next() -> UInt32? {
        let row = nextRow
        if row == noRow { return nil }
        restCount &-= 1
        if restCount < 0 { rows.chunks.refuse("a list has a cycle") }
        nextRow = cache.link(row, rows, nextSlot)
        return row
    }
}

/// The members of a list, as rows of the members' table. An ordered list returns its members in their order, and an unordered list in the
/// order of the chain that links them.
struct ListRows: Sequence, IteratorProtocol {
    private let rows: Rows
    private var chain: ChainRows
    private var nextRow = noRow
    private let tree: (left: Int, right: Int, up: Int)?
    /// The number of steps that the walk may still take. In a valid tree, a walk takes few steps for each node. More steps mean a cycle.
    private var restCount: Int

    init(_ reader: Reader, _ list: ListLayout, owner: UInt32) {
        rows = reader.rows(list.memberTable)
        restCount = 4 * rows.rowCountEnd
        let owners = reader.rows(list.ownerTable)
        switch list.shape {
        case .chain(let first, _, _, _, let next):
            chain = ChainRows(rows, from: owners.link(owner, first), next: next)
            tree = nil
        case .tree(let root, let left, let right, let up, _):
            chain = ChainRows(rows, from: noRow, next: 0)
            tree = (left, right, up)
            nextRow = owners.link(owner, root)
            descend()
        }
    }

    /// Begins at a member of an ordered list. The sequence returns this member first. The sequence is empty if `member` is `nil`.
    init(_ reader: Reader, _ list: ListLayout, from member: UInt32?) {
        rows = reader.rows(list.memberTable)
        restCount = 4 * rows.rowCountEnd
        chain = ChainRows(rows, from: noRow, next: 0)
        guard case .tree(_, let left, let right, let up, _) = list.shape else {
            tree = nil
            return
        }
        tree = (left, right, up)
        nextRow = member ?? noRow
    }

    @inline(__always)
    mutating func next() -> UInt32? {
        if tree == nil { return chain.next() }
        let row = nextRow
        if row == noRow { return nil }
        advance(from: row)
        return row
    }

    private mutating func descend() {
        guard let tree, nextRow != noRow else { return }
        while true {
            let left = rows.link(nextRow, tree.left)
            if left == noRow { return }
            nextRow = left
            step()
        }
    }

    private mutating func step() {
        restCount &-= 1
        if restCount < 0 { rows.chunks.refuse("an ordered list has a cycle") }
    }

    private mutating func advance(from row: UInt32) {
        guard let tree else { return }
        step()
        let right = rows.link(row, tree.right)
        if right != noRow {
            nextRow = right
            return descend()
        }
        var child = row
        var parent = rows.link(row, tree.up)
        while parent != noRow, rows.link(parent, tree.right) == child {
            child = parent
            parent = rows.link(parent, tree.up)
            step()
        }
        nextRow = parent
    }
}

extension Reader {
    @inline(__always) func memberCount(_ list: ListLayout, owner: UInt32) -> Int {
        let owners = rows(list.ownerTable)
        switch list.shape {
        case .chain(_, _, let count, _, _):
            return Int(owners.link(owner, count))
        case .tree(let root, _, _, _, let size):
            let node = owners.link(owner, root)
            return node == noRow ? 0 : Int(rows(list.memberTable).link(node, size))
        }
    }

    /// Returns the member at an index of an ordered list, or `nil` if there is no such member. Complexity: O(log n) expected.
    func member(_ list: ListLayout, owner: UInt32, at index: Int) -> UInt32? {
        guard case .tree(let root, let left, let right, _, let size) = list.shape else { return nil }
        let members = rows(list.memberTable)
        var node = rows(list.ownerTable).link(owner, root)
        var index = index
        var restCount = members.rowCountEnd
        while node != noRow {
            restCount &-= 1
            if restCount < 0 { chunks.refuse("an ordered list has a cycle") }
            let leftNode = members.link(node, left)
            let leftCount = leftNode == noRow ? 0 : Int(members.link(leftNode, size))
            if index == leftCount { return node }
            if index < leftCount {
                node = leftNode
            } else {
                index -= leftCount + 1
                node = members.link(node, right)
            }
        }
        return nil
    }

    /// Returns the objects to which an ordered end leads, beginning at an index. Complexity: O(log n + objects returned) expected.
    func members(_ end: EndLayout, owner: UInt32, from index: Int) -> [UInt32] {
        guard let list = end.orderedList else { return [] }
        let members = ListRows(self, list, from: member(list, owner: owner, at: index))
        guard case .edges(let table, let lists, _) = end.layout else { return Array(members) }
        let edges = rows(table)
        return members.map { edges.link($0, lists[1 - end.end].ownerSlot) }
    }

    /// Returns the index of a member in its ordered list. Complexity: O(log n) expected.
    func index(_ list: ListLayout, of member: UInt32) -> Int {
        guard case .tree(_, let left, let right, let up, let size) = list.shape else { return 0 }
        let members = rows(list.memberTable)
        func count(_ node: UInt32) -> Int { node == noRow ? 0 : Int(members.link(node, size)) }
        var index = count(members.link(member, left))
        var node = member
        var restCount = members.rowCountEnd
        while true {
            restCount &-= 1
            if restCount < 0 { chunks.refuse("an ordered list has a cycle") }
            let parent = members.link(node, up)
            if parent == noRow { return index }
            if members.link(parent, right) == node { index += count(members.link(parent, left)) + 1 }
            node = parent
        }
    }
}
