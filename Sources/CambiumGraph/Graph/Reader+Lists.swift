/// Goes through the members of an unordered list, as linked.
struct ChainRows: Sequence, IteratorProtocol {
    private let rows: Rows
    private let nextSlot: Int
    private var nextRow: UInt32
    private var leafGroup = UInt32.max
    private var leaf: UnsafeMutableRawPointer?

    @inline(__always) init(_ rows: Rows, from first: UInt32, next slot: Int) {
        self.rows = rows
        nextRow = first
        nextSlot = slot
    }

    @inline(__always)
    mutating func next() -> UInt32? {
        let row = nextRow
        if row == noRow { return nil }
        // Neighbours of a chain mostly lie in one group: its leaf is looked up once.
        if row &>> PageLayout.rowShift != leafGroup {
            leafGroup = row &>> PageLayout.rowShift
            leaf = rows.leaf(rows.group(row), nextSlot)
        }
        guard let leaf else { return nil }
        nextRow = leaf.load(fromByteOffset: PageLayout.linkValuesOffset &+ 4 &* Int(row & PageLayout.rowMask), as: UInt32.self)
        return row
    }
}

/// Goes through the members of a list, as rows of the members' table: in order where the list is ordered, else as linked.
struct ListRows: Sequence, IteratorProtocol {
    private let rows: Rows
    private var chain: ChainRows
    private var nextRow = noRow
    private let tree: (left: Int, right: Int, up: Int)?

    init(_ reader: Reader, _ list: ListLayout, owner: UInt32) {
        rows = reader.rows(list.memberTable)
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
        }
    }

    private mutating func advance(from row: UInt32) {
        guard let tree else { return }
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

    /// The member at an index of an ordered list. Complexity: O(log n) expected.
    func member(_ list: ListLayout, owner: UInt32, at index: Int) -> UInt32? {
        guard case .tree(let root, let left, let right, _, let size) = list.shape else { return nil }
        let members = rows(list.memberTable)
        var node = rows(list.ownerTable).link(owner, root)
        var index = index
        while node != noRow {
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

    /// The index of a member in its ordered list. Complexity: O(log n) expected.
    func index(_ list: ListLayout, of member: UInt32) -> Int {
        guard case .tree(_, let left, let right, let up, let size) = list.shape else { return 0 }
        let members = rows(list.memberTable)
        func count(_ node: UInt32) -> Int { node == noRow ? 0 : Int(members.link(node, size)) }
        var index = count(members.link(member, left))
        var node = member
        while true {
            let parent = members.link(node, up)
            if parent == noRow { return index }
            if members.link(parent, right) == node { index += count(members.link(parent, left)) + 1 }
            node = parent
        }
    }
}
