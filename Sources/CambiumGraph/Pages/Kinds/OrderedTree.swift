/// The tree of an ordered index: its root, its height and its number of entries.
package struct OrderedTree: Equatable {
    /// The page of the root; 0 if the tree is empty.
    var root: PageRef = 0
    /// The number of levels: 0 if the tree is empty, 1 if the root is a leaf.
    var height: UInt32 = 0
    package var count: UInt64 = 0

    package init() {}

    init(root: PageRef, height: UInt32, count: UInt64) {
        self.root = root
        self.height = height
        self.count = count
    }
}
