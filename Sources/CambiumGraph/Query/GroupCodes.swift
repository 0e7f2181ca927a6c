import CambiumModel

/// Assigns numbers to the groups of an aggregate query: rows with equal key values form a group. The numbers start at 0, in the order in
/// which the first rows of the groups occur.
class GroupCodes {
    /// The number of groups found so far.
    var count: Int { 0 }

    /// Stores the number of each row's group in `codes`, at the index of the row.
    func number(_ rows: GroupBits, _ view: GroupView, _ codes: inout [Int32]) {}

    /// Returns the values of the keys of a group.
    func values(_ code: Int) -> [QueryValue] { [] }
}

/// The numbering for a request without keys: all rows form one group.
final class SingleGroup: GroupCodes {
    override var count: Int { 1 }

    override func number(_ rows: GroupBits, _ view: GroupView, _ codes: inout [Int32]) {
        for index in codes.indices { codes[index] = 0 }
    }
}

/// Groups rows by the values of any paths.
final class GeneralGroups: GroupCodes {
    private let readers: [ValueReader]
    private var codes: [[QueryValue]: Int32] = [:]
    private var groups: [[QueryValue]] = []

    init(_ readers: [ValueReader]) { self.readers = readers }

    override var count: Int { groups.count }

    override func number(_ rows: GroupBits, _ view: GroupView, _ codes: inout [Int32]) {
        rows.forEach { index in
            codes[Int(index)] = code(view.row(index))
            return true
        }
    }

    private func code(_ row: UInt32) -> Int32 {
        let values = readers.map { $0.value(row) }
        // Equal numbers of different types form one group, so the key contains each value in its canonical form.
        let key = values.map(\.canonical)
        if let code = codes[key] { return code }
        let code = Int32(truncatingIfNeeded: groups.count)
        codes[key] = code
        groups.append(values.map(\.withoutNegativeZero))
        return code
    }

    override func values(_ code: Int) -> [QueryValue] { groups[code] }
}

/// Groups rows by the object to which a to-one relationship leads.
final class LinkGroups: GroupCodes {
    private let slot: Int
    private let reader: ValueReader
    /// For each target, by its row, the number of the group; -1 if no row with a link to the target has been read yet.
    private var known: [Int32]
    private var missing: Int32 = -1
    /// One row of each group, from which the key values of the group are read.
    private var examples: [UInt32] = []

    init(_ step: LinkStep, slot: Int, _ reader: ValueReader, _ context: QueryContext) {
        self.slot = slot
        self.reader = reader
        known = [Int32](repeating: -1, count: context.reader.groupCount(step.targetTable.index) << PageLayout.fanOutShift)
    }

    override var count: Int { examples.count }

    override func number(_ rows: GroupBits, _ view: GroupView, _ codes: inout [Int32]) {
        let leaf = view.leaf(slot)
        rows.forEach { index in
            let target = LinkLeaf(leaf)[index]
            codes[Int(index)] = code(target, view.row(index))
            return true
        }
    }

    @inline(__always) private func code(_ target: UInt32, _ row: UInt32) -> Int32 {
        let found = Int(target) < known.count ? known[Int(target)] : target == noRow ? missing : -1
        if found >= 0 { return found }
        let code = Int32(truncatingIfNeeded: examples.count)
        if Int(target) < known.count { known[Int(target)] = code } else { missing = code }
        examples.append(row)
        return code
    }

    override func values(_ code: Int) -> [QueryValue] { [reader.value(examples[code])] }
}
