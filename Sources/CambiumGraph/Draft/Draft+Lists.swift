extension Draft {
    /// Adds a member to a list: at an index where the list is ordered and one is given, else at the end.
    mutating func add(_ list: ListLayout, owner: UInt32, member: UInt32, at index: Int? = nil) {
        switch list.shape {
        case .chain(let first, let last, let count, let previous, let next):
            append(
                Chain(
                    owners: list.ownerTable, members: list.memberTable, first: first, last: last, count: count,
                    previous: previous, next: next),
                owner: owner, member: member)
        case .tree:
            insert(tree(list), owner: owner, member: member, at: index ?? reader.memberCount(list, owner: owner))
        }
    }

    mutating func remove(_ list: ListLayout, owner: UInt32, member: UInt32) {
        switch list.shape {
        case .chain(let first, let last, let count, let previous, let next):
            remove(
                Chain(
                    owners: list.ownerTable, members: list.memberTable, first: first, last: last, count: count,
                    previous: previous, next: next),
                owner: owner, member: member)
        case .tree:
            remove(tree(list), owner: owner, member: member)
        }
    }

    func tree(_ list: ListLayout) -> Tree {
        guard case .tree(let root, let left, let right, let up, let size) = list.shape else {
            preconditionFailure("Only an ordered list has a tree.")
        }
        return Tree(
            owners: list.ownerTable, members: list.memberTable, root: root, left: left, right: right, up: up, size: size)
    }
}
