import CambiumModel

/// A condition in the form in which it is evaluated on the rows of one table: names are resolved, and constants are converted.
///
/// A node belongs to one run of a query and may store sets of rows that it has computed. So threads do not share nodes.
class ConditionNode {
    /// The attribute that the condition tests, and the values that satisfy it; `nil` if the planner cannot look them up in an index.
    var match: ColumnMatch?

    /// Returns the rows that satisfy the condition, among the given rows of a group.
    func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits { rows }

    /// Prefetches the memory that the condition reads in a group.
    func prefetch(_ group: GroupView) {}

    /// Whether the condition compares texts. The texts of a group are many times larger than its numbers, so texts are prefetched even if
    /// the table is small.
    var comparesTexts: Bool { false }

    /// A rough estimate of how many rows satisfy the condition: 0 for few rows, larger numbers for more.
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
    // The first two parts are stored in constants, because a call through an array retains the part, and a call through a constant does
    // not.
    private let first, second: ConditionNode
    private let others: ArraySlice<ConditionNode>

    init(_ parts: [ConditionNode]) {
        // Conditions that few rows satisfy come first, because they often leave no row of a group for the other conditions.
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

    /// Only the first two parts prefetch their columns, because these two parts often leave no row for the other parts.
    override func prefetch(_ group: GroupView) {
        first.prefetch(group)
        second.prefetch(group)
    }

    override var comparesTexts: Bool { first.comparesTexts || second.comparesTexts }
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

    override var comparesTexts: Bool { parts.contains { $0.comparesTexts } }
}

final class NotNode: ConditionNode {
    let part: ConditionNode

    init(_ part: ConditionNode) { self.part = part }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits { rows & ~part.bits(group, rows) }

    override func prefetch(_ group: GroupView) { part.prefetch(group) }

    override var comparesTexts: Bool { part.comparesTexts }
}

/// A condition that is true for the rows of a list.
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
