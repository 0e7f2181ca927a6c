/// Writes edges (many-to-many links) and lists of members.
struct LinkWriter: ~Copyable {
    var indexWriter: IndexWriter

    init(_ indexWriter: consuming IndexWriter) { self.indexWriter = indexWriter }

    @inline(__always) private var tableWriter: TableWriter {
        _read { yield indexWriter.tableWriter }
        _modify { yield &indexWriter.tableWriter }
    }
    @inline(__always) private var pageWriter: PageWriter {
        _read { yield indexWriter.tableWriter.pageWriter }
        _modify { yield &indexWriter.tableWriter.pageWriter }
    }
    private var chunks: Chunks { tableWriter.chunks }
    private var reader: Reader { tableWriter.reader }

    // MARK: Edges

    /// Creates an edge, a many-to-many link, between two rows, and adds it to the index of linked pairs.
    mutating func insertEdge(_ table: TableLayout, _ first: UInt32, _ second: UInt32) -> UInt32 {
        let row = newEdge(table, first, second)
        indexWriter.addEntry(table.index, 0, hash: reader.edgeHash(first, second), row: row)
        return row
    }

    /// Creates an edge (a many-to-many link) between two rows. The caller must add the edge to the index of linked pairs.
    mutating func newEdge(_ table: TableLayout, _ first: UInt32, _ second: UInt32) -> UInt32 {
        let page = tableWriter.ownedTable(table.index)
        let row: UInt32
        if page.freeCount > 0 {
            page.freeCount -= 1
            row = pageWriter.slot(&page.free, Int(page.freeCount)).pointee
            if UInt64(row) >= reader.nextSerial(table.index) { chunks.refuse("the free list of a table names a row that does not exist") }
        } else {
            row = UInt32(page.nextSerial)
            page.nextSerial += 1
            if row & PageLayout.rowMask == 0 { addEdgeGroup(table) }
        }
        tableWriter.ownedGroup(table.index, row).addRow(row)
        tableWriter.count(&tableWriter.ownedTable(table.index).liveCount, by: 1)
        tableWriter.setLink(table.index, row, 0, first)
        tableWriter.setLink(table.index, row, 1, second)
        return row
    }

    /// Removes an edge. The caller must have removed the edge from the lists of members of both linked objects.
    mutating func removeEdge(_ table: TableLayout, _ row: UInt32) {
        let hash = reader.edgeHash(tableWriter.link(table.index, row, 0), tableWriter.link(table.index, row, 1))
        indexWriter.removeEntry(table.index, 0, hash: hash, row: row)
        for slot in table.columns.indices {
            tableWriter.setLink(table.index, row, slot, table.columns[slot] == .numbers ? 0 : noRow)
        }
        tableWriter.ownedGroup(table.index, row).removeRow(row)
        let page = tableWriter.ownedTable(table.index)
        tableWriter.count(&page.liveCount, by: -1)
        pageWriter.slot(&page.free, Int(page.freeCount)).pointee = row
        page.freeCount += 1
    }

    private mutating func addEdgeGroup(_ table: TableLayout) {
        let page = tableWriter.ownedTable(table.index)
        let index = page.groupCount
        page.groupCount += 1
        let group = tableWriter.makeGroup(table, virtualPage: index)
        pageWriter.slot(&page.rows, Int(index)).pointee = group
    }

    // MARK: Lists

    /// Adds a member to a list: at the index if the list is ordered and an index is passed, otherwise at the end.
    mutating func add(_ list: ListLayout, owner: UInt32, member: UInt32, at index: Int? = nil) {
        if let chain = Chain(list) {
            append(chain, owner: owner, member: member)
        } else {
            insert(tree(list), owner: owner, member: member, at: index ?? reader.memberCount(list, owner: owner))
        }
    }

    mutating func remove(_ list: ListLayout, owner: UInt32, member: UInt32) {
        if let chain = Chain(list) {
            remove(chain, owner: owner, member: member)
        } else {
            remove(tree(list), owner: owner, member: member)
        }
    }

    func tree(_ list: ListLayout) -> Tree {
        guard case .tree(let root, let left, let right, let up, let size) = list.shape else {
            preconditionFailure("A list must be ordered to have a tree.")
        }
        return Tree(
            owners: list.ownerTable, members: list.memberTable, root: root, left: left, right: right, up: up, size: size)
    }
}

// MARK: - Unordered lists

extension LinkWriter {
    /// The tables and columns in which a relationship stores its members as doubly linked lists. Columns of an owner contain its first
    /// member, its last member and the number of its members. Columns of a member contain the previous and the next member.
    struct Chain {
        let owners: Int
        let members: Int
        let first: Int
        let last: Int
        let count: Int
        let previous: Int
        let next: Int
    }

    @inline(__always)
    mutating func append(_ chain: Chain, owner: UInt32, member: UInt32) {
        append(chain, owner, first: member, last: member, count: 1)
    }

    /// Appends members that already form a chain.
    @inline(__always)
    mutating func append(_ chain: Chain, _ owner: UInt32, first: UInt32, last: UInt32, count: Int) {
        let before = tableWriter.link(chain.owners, owner, chain.last)
        if before == noRow {
            tableWriter.setLink(chain.owners, owner, chain.first, first)
        } else {
            tableWriter.setLink(chain.members, before, chain.next, first)
            tableWriter.setLink(chain.members, first, chain.previous, before)
        }
        tableWriter.setLink(chain.owners, owner, chain.last, last)
        tableWriter.setLink(
            chain.owners, owner, chain.count, tableWriter.link(chain.owners, owner, chain.count) &+ UInt32(truncatingIfNeeded: count))
    }

    mutating func remove(_ chain: Chain, owner: UInt32, member: UInt32) {
        let previous = tableWriter.link(chain.members, member, chain.previous)
        let next = tableWriter.link(chain.members, member, chain.next)
        if previous == noRow {
            tableWriter.setLink(chain.owners, owner, chain.first, next)
        } else {
            tableWriter.setLink(chain.members, previous, chain.next, next)
            tableWriter.setLink(chain.members, member, chain.previous, noRow)
        }
        if next == noRow {
            tableWriter.setLink(chain.owners, owner, chain.last, previous)
        } else {
            tableWriter.setLink(chain.members, next, chain.previous, previous)
            tableWriter.setLink(chain.members, member, chain.next, noRow)
        }
        tableWriter.setLink(chain.owners, owner, chain.count, tableWriter.link(chain.owners, owner, chain.count) &- 1)
    }
}

extension LinkWriter.Chain {
    /// Creates the chain of an unordered list. Returns `nil` for an ordered list, which is a tree.
    @inline(__always) init?(_ list: ListLayout) {
        guard case .chain(let first, let last, let count, let previous, let next) = list.shape else { return nil }
        self.init(
            owners: list.ownerTable, members: list.memberTable, first: first, last: last, count: count, previous: previous, next: next)
    }
}

// MARK: - Ordered lists

extension LinkWriter {
    /// The columns of an ordered list, which is a treap: a binary tree of the members by position, balanced by priorities. A member's
    /// priority is a hash of its row. So the priority is not stored, and the shape of the tree does not depend on earlier changes.
    /// Inserting, removing and indexing take O(log n) expected time.
    struct Tree {
        let owners: Int
        let members: Int
        let root: Int
        let left: Int
        let right: Int
        let up: Int
        let size: Int
    }

    mutating func insert(_ tree: Tree, owner: UInt32, member: UInt32, at index: Int) {
        tableWriter.setLink(tree.members, member, tree.size, 1)
        var node = tableWriter.link(tree.owners, owner, tree.root)
        if node == noRow { return tableWriter.setLink(tree.owners, owner, tree.root, member) }
        var index = index
        var restCount = reader.rows(tree.members).rowCountEnd
        while true {
            countDown(&restCount)
            tableWriter.setLink(tree.members, node, tree.size, tableWriter.link(tree.members, node, tree.size) &+ 1)
            let left = tableWriter.link(tree.members, node, tree.left)
            let leftCount = count(tree, left)
            let goesLeft = index <= leftCount
            if !goesLeft { index -= leftCount + 1 }
            let child = goesLeft ? left : tableWriter.link(tree.members, node, tree.right)
            if child == noRow {
                tableWriter.setLink(tree.members, node, goesLeft ? tree.left : tree.right, member)
                tableWriter.setLink(tree.members, member, tree.up, node)
                break
            }
            node = child
        }
        while true {
            let parent = tableWriter.link(tree.members, member, tree.up)
            if parent == noRow || Self.priority(parent) >= Self.priority(member) { return }
            countDown(&restCount)
            rotateUp(tree, owner, member, parent)
        }
    }

    /// Ends the process if a walk takes more steps than the table has rows, because then the tree contains a cycle.
    @inline(__always) private func countDown(_ restCount: inout Int) {
        restCount &-= 1
        if restCount < 0 { chunks.refuse("an ordered list has a cycle") }
    }

    mutating func remove(_ tree: Tree, owner: UInt32, member: UInt32) {
        var restCount = reader.rows(tree.members).rowCountEnd
        while true {
            countDown(&restCount)
            let left = tableWriter.link(tree.members, member, tree.left)
            let right = tableWriter.link(tree.members, member, tree.right)
            if left == noRow || right == noRow {
                replace(tree, owner, member, by: left == noRow ? right : left)
                break
            }
            rotateUp(tree, owner, Self.priority(left) > Self.priority(right) ? left : right, member)
        }
        var node = tableWriter.link(tree.members, member, tree.up)
        while node != noRow {
            countDown(&restCount)
            tableWriter.setLink(tree.members, node, tree.size, tableWriter.link(tree.members, node, tree.size) &- 1)
            node = tableWriter.link(tree.members, node, tree.up)
        }
        for slot in [tree.left, tree.right, tree.up] { tableWriter.setLink(tree.members, member, slot, noRow) }
        tableWriter.setLink(tree.members, member, tree.size, 0)
    }

    private func count(_ tree: Tree, _ node: UInt32) -> Int {
        node == noRow ? 0 : Int(tableWriter.link(tree.members, node, tree.size))
    }

    /// Replaces `member` with `child` below the parent of `member`. If `child` is `noRow`, the parent has no child in the former position
    /// of `member`.
    private mutating func replace(_ tree: Tree, _ owner: UInt32, _ member: UInt32, by child: UInt32) {
        let parent = tableWriter.link(tree.members, member, tree.up)
        if parent == noRow {
            tableWriter.setLink(tree.owners, owner, tree.root, child)
        } else {
            let isLeft = tableWriter.link(tree.members, parent, tree.left) == member
            tableWriter.setLink(tree.members, parent, isLeft ? tree.left : tree.right, child)
        }
        if child != noRow { tableWriter.setLink(tree.members, child, tree.up, parent) }
    }

    /// Moves a node above its parent by a rotation. The order of the members stays the same.
    private mutating func rotateUp(_ tree: Tree, _ owner: UInt32, _ node: UInt32, _ parent: UInt32) {
        replace(tree, owner, parent, by: node)
        let isLeft = tableWriter.link(tree.members, parent, tree.left) == node
        let (near, far) = isLeft ? (tree.left, tree.right) : (tree.right, tree.left)
        let inner = tableWriter.link(tree.members, node, far)
        tableWriter.setLink(tree.members, parent, near, inner)
        if inner != noRow { tableWriter.setLink(tree.members, inner, tree.up, parent) }
        tableWriter.setLink(tree.members, node, far, parent)
        tableWriter.setLink(tree.members, parent, tree.up, node)
        let total = tableWriter.link(tree.members, parent, tree.size)
        tableWriter.setLink(tree.members, node, tree.size, total)
        let left = count(tree, tableWriter.link(tree.members, parent, tree.left))
        let right = count(tree, tableWriter.link(tree.members, parent, tree.right))
        tableWriter.setLink(tree.members, parent, tree.size, UInt32(truncatingIfNeeded: left + right + 1))
    }

    /// Replaces a member with another row at the same position. The new row has another priority, so it may rise or sink in the tree. The
    /// members keep their order.
    mutating func redirect(_ tree: Tree, owner: UInt32, from row: UInt32, to target: UInt32) {
        let parent = tableWriter.link(tree.members, target, tree.up)
        if parent == noRow {
            tableWriter.setLink(tree.owners, owner, tree.root, target)
        } else {
            let isLeft = tableWriter.link(tree.members, parent, tree.left) == row
            tableWriter.setLink(tree.members, parent, isLeft ? tree.left : tree.right, target)
        }
        for child in [tableWriter.link(tree.members, target, tree.left), tableWriter.link(tree.members, target, tree.right)]
        where child != noRow {
            tableWriter.setLink(tree.members, child, tree.up, target)
        }
        var restCount = reader.rows(tree.members).rowCountEnd
        while true {
            countDown(&restCount)
            let parent = tableWriter.link(tree.members, target, tree.up)
            if parent == noRow || Self.priority(parent) >= Self.priority(target) { break }
            rotateUp(tree, owner, target, parent)
        }
        while true {
            countDown(&restCount)
            let children = [tableWriter.link(tree.members, target, tree.left), tableWriter.link(tree.members, target, tree.right)].filter {
                $0 != noRow
            }
            guard let child = children.max(by: { Self.priority($0) < Self.priority($1) }), Self.priority(child) > Self.priority(target)
            else { return }
            rotateUp(tree, owner, child, target)
        }
    }

    static func priority(_ row: UInt32) -> UInt32 {
        var mixed = (row ^ row >> 16) &* 0x7FEB_352D
        mixed = (mixed ^ mixed >> 15) &* 0x846C_A68B
        return mixed ^ mixed >> 16
    }
}
