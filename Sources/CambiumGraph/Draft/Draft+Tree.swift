import CambiumModel

extension Draft {
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
        setLink(tree.members, member, tree.size, 1)
        var node = link(tree.owners, owner, tree.root)
        if node == noRow { return setLink(tree.owners, owner, tree.root, member) }
        var index = index
        var restCount = reader.rows(tree.members).rowCountEnd
        while true {
            countDown(&restCount)
            setLink(tree.members, node, tree.size, link(tree.members, node, tree.size) &+ 1)
            let left = link(tree.members, node, tree.left)
            let leftCount = count(tree, left)
            let goesLeft = index <= leftCount
            if !goesLeft { index -= leftCount + 1 }
            let child = goesLeft ? left : link(tree.members, node, tree.right)
            if child == noRow {
                setLink(tree.members, node, goesLeft ? tree.left : tree.right, member)
                setLink(tree.members, member, tree.up, node)
                break
            }
            node = child
        }
        while true {
            let parent = link(tree.members, member, tree.up)
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
            let left = link(tree.members, member, tree.left)
            let right = link(tree.members, member, tree.right)
            if left == noRow || right == noRow {
                replace(tree, owner, member, by: left == noRow ? right : left)
                break
            }
            rotateUp(tree, owner, Self.priority(left) > Self.priority(right) ? left : right, member)
        }
        var node = link(tree.members, member, tree.up)
        while node != noRow {
            countDown(&restCount)
            setLink(tree.members, node, tree.size, link(tree.members, node, tree.size) &- 1)
            node = link(tree.members, node, tree.up)
        }
        for slot in [tree.left, tree.right, tree.up] { setLink(tree.members, member, slot, noRow) }
        setLink(tree.members, member, tree.size, 0)
    }

    private func count(_ tree: Tree, _ node: UInt32) -> Int {
        node == noRow ? 0 : Int(link(tree.members, node, tree.size))
    }

    /// Replaces `member` with `child` below the parent of `member`. If `child` is `noRow`, the parent has no child in the former position
    /// of `member`.
    private mutating func replace(_ tree: Tree, _ owner: UInt32, _ member: UInt32, by child: UInt32) {
        let parent = link(tree.members, member, tree.up)
        if parent == noRow {
            setLink(tree.owners, owner, tree.root, child)
        } else {
            let isLeft = link(tree.members, parent, tree.left) == member
            setLink(tree.members, parent, isLeft ? tree.left : tree.right, child)
        }
        if child != noRow { setLink(tree.members, child, tree.up, parent) }
    }

    /// Moves a node above its parent by a rotation. The order of the members stays the same.
    private mutating func rotateUp(_ tree: Tree, _ owner: UInt32, _ node: UInt32, _ parent: UInt32) {
        replace(tree, owner, parent, by: node)
        let isLeft = link(tree.members, parent, tree.left) == node
        let (near, far) = isLeft ? (tree.left, tree.right) : (tree.right, tree.left)
        let inner = link(tree.members, node, far)
        setLink(tree.members, parent, near, inner)
        if inner != noRow { setLink(tree.members, inner, tree.up, parent) }
        setLink(tree.members, node, far, parent)
        setLink(tree.members, parent, tree.up, node)
        let total = link(tree.members, parent, tree.size)
        setLink(tree.members, node, tree.size, total)
        let left = count(tree, link(tree.members, parent, tree.left))
        let right = count(tree, link(tree.members, parent, tree.right))
        setLink(tree.members, parent, tree.size, UInt32(truncatingIfNeeded: left + right + 1))
    }

    /// Replaces a member with another row at the same position. The new row has another priority, so it may rise or sink in the tree. The
    /// members keep their order.
    mutating func redirect(_ tree: Tree, owner: UInt32, from row: UInt32, to target: UInt32) {
        let parent = link(tree.members, target, tree.up)
        if parent == noRow {
            setLink(tree.owners, owner, tree.root, target)
        } else {
            let isLeft = link(tree.members, parent, tree.left) == row
            setLink(tree.members, parent, isLeft ? tree.left : tree.right, target)
        }
        for child in [link(tree.members, target, tree.left), link(tree.members, target, tree.right)] where child != noRow {
            setLink(tree.members, child, tree.up, target)
        }
        var restCount = reader.rows(tree.members).rowCountEnd
        while true {
            countDown(&restCount)
            let parent = link(tree.members, target, tree.up)
            if parent == noRow || Self.priority(parent) >= Self.priority(target) { break }
            rotateUp(tree, owner, target, parent)
        }
        while true {
            countDown(&restCount)
            let children = [link(tree.members, target, tree.left), link(tree.members, target, tree.right)].filter { $0 != noRow }
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
