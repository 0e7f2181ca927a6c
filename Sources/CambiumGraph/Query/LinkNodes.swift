import CambiumModel

/// Evaluates a condition on the objects to which a step, one relationship of a path, leads. At first, the condition is evaluated for single
/// rows. After many rows, it is evaluated for the whole table at once, which costs much less for each row.
final class TargetTest {
    let node: ConditionNode
    private let context: QueryContext
    private let table: TableLayout
    private let rows: Rows
    private var singleCount: Int
    private var all: RowBits?

    /// Evaluating a single row costs as much as evaluating about this many rows in a pass over the whole table.
    private static let singleCost = 16

    init(_ node: ConditionNode, _ table: TableLayout, _ context: QueryContext) {
        self.node = node
        self.table = table
        self.context = context
        rows = context.reader.rows(table.index)
        singleCount = context.reader.liveCount(table.index) / Self.singleCost
    }

    func holds(_ row: UInt32) -> Bool {
        if let all { return all.contains(row) }
        if let constant = node as? ConstantNode { return constant.isTrue }
        singleCount -= 1
        if singleCount < 0 { return whole.contains(row) }
        return !node.bits(context.group(of: row, rows), GroupBits(row)).isEmpty
    }

    /// All rows that satisfy the condition.
    var whole: RowBits {
        if let all { return all }
        let computed = context.rows(table, where: node)
        all = computed
        return computed
    }
}

/// A condition that is true if the only object to which a to-one relationship leads satisfies another condition.
final class ToOneNode: ConditionNode {
    let step: LinkStep
    let target: ConditionNode
    /// Whether the condition is true if the relationship leads to no object.
    let isTrueIfMissing: Bool
    private let slot: Int
    private let test: TargetTest

    init(_ step: LinkStep, slot: Int, _ target: ConditionNode, isTrueIfMissing: Bool, _ context: QueryContext) {
        self.step = step
        self.slot = slot
        self.target = target
        self.isTrueIfMissing = isTrueIfMissing
        test = TargetTest(target, step.targetTable, context)
    }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits {
        let leaf = group.leaf(slot)
        if let few = target as? RowSetNode, few.rows.count == 1, !isTrueIfMissing {
            return rows & ColumnRange.links(leaf, few.rows[0], few.rows[0])
        }
        return rows.filter { index in
            let row = LinkLeaf(leaf)[index]
            return row == noRow ? isTrueIfMissing : test.holds(row)
        }
    }
}

/// A condition that is true if at least one of the objects to which a relationship leads satisfies another condition.
final class SomeNode: ConditionNode {
    let step: LinkStep
    let target: ConditionNode
    private let test: TargetTest
    private let context: QueryContext
    /// The number of owners (objects at which the step begins) that may still be evaluated one by one. If more owners must be evaluated,
    /// the result is computed for all owners at once.
    private var singleCount: Int
    private var owners: RowBits?

    /// The condition is evaluated separately for up to 1/8 of the owners (the objects at which the step begins). If it must be evaluated
    /// for more owners, the owners are found from the targets that satisfy the condition.
    private static let singleShare = 8

    init(_ step: LinkStep, _ target: ConditionNode, _ context: QueryContext) {
        self.step = step
        self.target = target
        self.context = context
        test = TargetTest(target, step.targetTable, context)
        singleCount = context.reader.liveCount(step.ownerTable.index) / Self.singleShare
    }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits {
        if owners == nil {
            singleCount -= rows.count
            if singleCount < 0 { owners = LinkedRows(context.reader).owners(of: test.whole, step) }
        }
        if let owners { return rows & owners[group.index] }
        return rows.filter { index in
            !context.reader.visitMembers(step.end, owner: group.row(index)) { !test.holds($0) }
        }
    }
}
