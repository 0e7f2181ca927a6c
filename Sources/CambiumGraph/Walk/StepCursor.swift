/// Follows one relationship from many objects of one table, one object after the other. The cursor keeps the pages with the link columns of
/// the last object, so consecutive rows need few loads.
struct StepCursor {
    private let reader: Reader
    private let shape: WalkStep.Shape
    private let owners: Rows
    /// The rows of the members' table: objects, or edges if the relationship is many-to-many.
    private let members: Rows
    private let targetRowEnd: UInt64
    /// The links of the relationship in an array, or `nil` if they are followed from row to row.
    private let array: LinkArray?
    private var owner = LeafCache()
    private var next = LeafCache()
    private var target = LeafCache()

    init(_ step: WalkStep, _ reader: Reader, _ array: LinkArray? = nil) {
        self.reader = reader
        self.array = array
        shape = step.shape
        owners = reader.rows(step.ownerTable)
        members =
            switch step.shape {
            case .one: owners
            case .members(let list), .edges(let list, _): reader.rows(list.memberTable)
            }
        targetRowEnd = UInt64(reader.rowCountEnd(step.targetTable))
    }

    /// Calls `body` with the row of each object that the step leads to, until `body` returns `false`. Returns whether `body` always
    /// returned `true`.
    @inline(__always)
    mutating func forEach(of row: UInt32, _ body: (UInt32) -> Bool) -> Bool {
        if let array { return array.forEach(of: row, body) }
        switch shape {
        case .one(let slot):
            let found = owner.link(row, owners, slot)
            return found == noRow || body(checked(found))
        case .members(let list):
            guard case .chain(let first, _, _, _, let following) = list.shape else {
                for member in ListRows(reader, list, owner: row) where !body(checked(member)) { return false }
                return true
            }
            return forEachInChain(owner.link(row, owners, first), following) { cursor, member in body(cursor.checked(member)) }
        case .edges(let list, let targetSlot):
            guard case .chain(let first, _, _, _, let following) = list.shape else {
                for edge in ListRows(reader, list, owner: row) where !body(checked(members.link(edge, targetSlot))) { return false }
                return true
            }
            return forEachInChain(owner.link(row, owners, first), following) { cursor, edge in
                body(cursor.checked(cursor.target.link(edge, cursor.members, targetSlot)))
            }
        }
    }

    @inline(__always)
    private mutating func forEachInChain(
        _ first: UInt32, _ following: Int, _ body: (inout StepCursor, UInt32) -> Bool
    ) -> Bool {
        var member = first
        var restCount = members.rowCountEnd
        while member != noRow {
            restCount &-= 1
            if restCount < 0 { members.chunks.refuse("a list has a cycle") }
            if !body(&self, member) { return false }
            member = next.link(member, members, following)
        }
        return true
    }

    /// Returns the row if the table at the other end has this row. Otherwise, ends the process: pages that have not been proven valid may
    /// contain any row number.
    @inline(__always) private func checked(_ row: UInt32) -> UInt32 {
        if UInt64(row) >= targetRowEnd { members.chunks.refuse("a link leads to a row that does not exist") }
        return row
    }
}
