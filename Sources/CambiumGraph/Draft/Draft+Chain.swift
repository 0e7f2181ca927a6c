extension Draft {
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
        let before = link(chain.owners, owner, chain.last)
        if before == noRow {
            setLink(chain.owners, owner, chain.first, first)
        } else {
            setLink(chain.members, before, chain.next, first)
            setLink(chain.members, first, chain.previous, before)
        }
        setLink(chain.owners, owner, chain.last, last)
        setLink(chain.owners, owner, chain.count, link(chain.owners, owner, chain.count) &+ UInt32(truncatingIfNeeded: count))
    }

    mutating func remove(_ chain: Chain, owner: UInt32, member: UInt32) {
        let previous = link(chain.members, member, chain.previous)
        let next = link(chain.members, member, chain.next)
        if previous == noRow {
            setLink(chain.owners, owner, chain.first, next)
        } else {
            setLink(chain.members, previous, chain.next, next)
            setLink(chain.members, member, chain.previous, noRow)
        }
        if next == noRow {
            setLink(chain.owners, owner, chain.last, previous)
        } else {
            setLink(chain.members, next, chain.previous, previous)
            setLink(chain.members, member, chain.next, noRow)
        }
        setLink(chain.owners, owner, chain.count, link(chain.owners, owner, chain.count) &- 1)
    }
}

extension Draft.Chain {
    /// Creates the chain of an unordered list. Returns `nil` for an ordered list, which is a tree.
    @inline(__always) init?(_ list: ListLayout) {
        guard case .chain(let first, let last, let count, let previous, let next) = list.shape else { return nil }
        self.init(
            owners: list.ownerTable, members: list.memberTable, first: first, last: last, count: count, previous: previous, next: next)
    }
}
