/// Builds the tree of an ordered list from its members in order, in linear time.
struct TreeBuilder {
    private let tree: LinkWriter.Tree
    /// The nodes on the path from the root to the last member. Their subtrees are not complete yet. Each node stores the number of nodes in
    /// its left subtree.
    private var spine: [(row: UInt32, leftCount: UInt32)] = []

    init(_ tree: LinkWriter.Tree) { self.tree = tree }

    /// Adds a member at the end of the list. The member must not be in a list.
    mutating func append(_ row: UInt32, _ draft: inout Draft) {
        let priority = LinkWriter.priority(row)
        var left = noRow
        var leftCount: UInt32 = 0
        while let last = spine.last, LinkWriter.priority(last.row) < priority {
            leftCount = pop(leftCount, &draft)
            left = last.row
        }
        if left != noRow {
            draft.tableWriter.setLink(tree.members, row, tree.left, left)
            draft.tableWriter.setLink(tree.members, left, tree.up, row)
        }
        if let parent = spine.last {
            draft.tableWriter.setLink(tree.members, parent.row, tree.right, row)
            draft.tableWriter.setLink(tree.members, row, tree.up, parent.row)
        }
        spine.append((row, leftCount))
    }

    /// Stores the list in `owner`, and begins the next list.
    mutating func finish(owner: UInt32, _ draft: inout Draft) {
        guard let root = spine.first else { return }
        draft.tableWriter.setLink(tree.owners, owner, tree.root, root.row)
        var count: UInt32 = 0
        while !spine.isEmpty { count = pop(count, &draft) }
    }

    /// Removes the last node from the spine, because its subtree is complete. Returns the number of nodes in the subtree.
    private mutating func pop(_ rightCount: UInt32, _ draft: inout Draft) -> UInt32 {
        let (row, leftCount) = spine.removeLast()
        let count = leftCount + 1 + rightCount
        draft.tableWriter.setLink(tree.members, row, tree.size, count)
        return count
    }
}
