extension Draft {
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
