import CambiumModel

/// A condition that is true if the value of an operand is one of the constants of a list. The operand, such as a sum over related objects,
/// is computed once for each object, however long the list is.
final class ListedNode: ConditionNode {
    private let left: ValueReader
    private let constants: [QueryValue]
    private let folding: Folding
    private let list = ConstantList()

    init(_ left: ValueReader, _ constants: [QueryValue], _ folding: Folding) {
        self.left = left
        self.constants = constants
        self.folding = folding
    }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits {
        rows.filter { list.contains(left.value(group.row($0)), folding) { constants } }
    }
}
