import CambiumModel

/// A condition that is bound to the objects of one table of a graph: all names are resolved, and all constants are converted.
///
/// A node belongs to one run of a query, and may keep sets of rows that it has computed. So nodes are not shared between threads.
class ConditionNode {
    /// The attribute that the condition tests, and the values that satisfy it; `nil` if an index cannot find them.
    var match: ColumnMatch?

    /// Returns those of the given rows of a group that satisfy the condition.
    func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits { rows }

    /// Prefetches the memory of a group that the condition reads.
    func prefetch(_ group: GroupView) {}

    /// An estimate of the part of all rows that satisfy the condition: 0 for few rows, larger numbers for more.
    var expectation: Int {
        switch match?.values {
        case .equal?: 0
        case .prefix?, .between(.some, .some)?: 1
        case .between?: 2
        case nil: 3
        }
    }
}

/// A condition that is the same for all rows.
final class ConstantNode: ConditionNode {
    let isTrue: Bool

    init(_ isTrue: Bool) { self.isTrue = isTrue }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits { isTrue ? rows : .none }
}

final class AndNode: ConditionNode {
    let parts: [ConditionNode]
    // The code retains a part that it calls through an array, but not a part in a constant.
    private let first, second: ConditionNode
    private let others: ArraySlice<ConditionNode>

    init(_ parts: [ConditionNode]) {
        // Conditions that few rows satisfy come first, because they often leave no rows of a group for the others.
        let parts = parts.sorted { $0.expectation < $1.expectation }
        self.parts = parts
        first = parts.first ?? ConstantNode(true)
        second = parts.dropFirst().first ?? ConstantNode(true)
        others = parts.dropFirst(2)
    }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits {
        var rest = first.bits(group, rows)
        if rest.isEmpty { return rest }
        rest = second.bits(group, rest)
        for part in others {
            if rest.isEmpty { break }
            rest = part.bits(group, rest)
        }
        return rest
    }

    /// The first parts often leave no rows for the others.
    override func prefetch(_ group: GroupView) { for part in parts.prefix(2) { part.prefetch(group) } }
}

final class OrNode: ConditionNode {
    let parts: [ConditionNode]

    init(_ parts: [ConditionNode]) { self.parts = parts }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits {
        var (rest, found) = (rows, GroupBits.none)
        for part in parts {
            if rest.isEmpty { break }
            let more = part.bits(group, rest)
            found |= more
            rest &= ~more
        }
        return found
    }

    override func prefetch(_ group: GroupView) { for part in parts { part.prefetch(group) } }
}

final class NotNode: ConditionNode {
    let part: ConditionNode

    init(_ part: ConditionNode) { self.part = part }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits { rows & ~part.bits(group, rows) }

    override func prefetch(_ group: GroupView) { part.prefetch(group) }
}

/// Holds for the rows of a list.
final class RowSetNode: ConditionNode {
    /// The rows, ascending.
    let rows: [UInt32]
    private let groups: [UInt32: GroupBits]

    override var expectation: Int { 0 }

    init(_ rows: some Sequence<UInt32>) {
        self.rows = Set(rows).sorted()
        groups = self.rows.reduce(into: [:]) { $0[$1 &>> PageLayout.rowShift, default: .none] |= GroupBits($1) }
    }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits {
        groups[UInt32(truncatingIfNeeded: group.index)].map { $0 & rows } ?? .none
    }
}
