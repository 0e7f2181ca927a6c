import CambiumBytes
import CambiumModel

/// Numbers the groups of rows from 0, in the order in which they occur.
class GroupCodes {
    /// The number of groups so far.
    var count: Int { 0 }

    /// Returns the number of the group of a row.
    func code(_ row: UInt32, _ group: GroupView) -> Int { 0 }

    /// Returns the values of the keys of a group.
    func values(_ code: Int) -> [QueryValue] { [] }
}

/// All rows are one group.
final class SingleGroup: GroupCodes {
    override var count: Int { 1 }
}

/// Groups rows by any keys.
final class GeneralGroups: GroupCodes {
    private let readers: [ValueReader]
    private var codes: [[QueryValue]: Int] = [:]
    private var groups: [[QueryValue]] = []

    init(_ readers: [ValueReader]) { self.readers = readers }

    override var count: Int { groups.count }

    override func code(_ row: UInt32, _ group: GroupView) -> Int {
        let values = readers.map { $0.value(row) }
        // Numbers that are equal form one group, whatever their types are.
        let key = values.map(\.canonical)
        if let code = codes[key] { return code }
        codes[key] = groups.count
        groups.append(values)
        return groups.count - 1
    }

    override func values(_ code: Int) -> [QueryValue] { groups[code] }
}

/// Groups rows by the object that one to-one relationship leads to.
final class LinkGroups: GroupCodes {
    private let slot: Int
    private let reader: ValueReader
    /// For each row of the targets' table, its group; -1 if there is none yet.
    private var codes: [Int32]
    private var missing: Int32 = -1
    /// A row of each group.
    private var examples: [UInt32] = []

    init(_ step: LinkStep, slot: Int, _ reader: ValueReader, _ context: QueryContext) {
        self.slot = slot
        self.reader = reader
        codes = [Int32](repeating: -1, count: context.reader.groupCount(step.targetTable.index) << PageLayout.fanOutShift)
    }

    override var count: Int { examples.count }

    override func code(_ row: UInt32, _ group: GroupView) -> Int {
        let offset = PageLayout.linkValuesOffset &+ 4 &* Int(row & PageLayout.rowMask)
        let target = group.leaf(slot).load(fromByteOffset: offset, as: UInt32.self)
        let known = target == noRow ? missing : Int(target) < codes.count ? codes[Int(target)] : -1
        if known >= 0 { return Int(known) }
        let code = Int32(truncatingIfNeeded: examples.count)
        if target == noRow { missing = code } else if Int(target) < codes.count { codes[Int(target)] = code }
        examples.append(row)
        return Int(code)
    }

    override func values(_ code: Int) -> [QueryValue] { [reader.value(examples[code])] }
}

/// Groups rows by one attribute, whose stored bytes are hashed in place.
final class ColumnGroups: GroupCodes {
    private let field: Field
    private let negativeZero: UInt64
    private let reader: ValueReader
    private let rows: Rows
    private var missing = -1
    private var examples: [UInt32] = []
    /// Hash values of the groups, and the numbers of the groups, with linear probing.
    private var hashes: [UInt64]
    private var slots: [Int32]
    private var hashOfGroup: [UInt64] = []

    init(_ field: Field, _ reader: ValueReader, _ rows: Rows) {
        self.field = field
        negativeZero = field.type.negativeZero
        self.reader = reader
        self.rows = rows
        hashes = [UInt64](repeating: 0, count: 64)
        slots = [Int32](repeating: -1, count: 64)
    }

    override var count: Int { examples.count }

    override func code(_ row: UInt32, _ group: GroupView) -> Int {
        rows.withCell(row, field.slot, field.kind) { cell in
            switch cell.kind {
            case .null: return missingCode(row)
            case .fixed:
                let key = cell.key(negativeZero)
                return find(Self.mixed(key.low, key.high), row, key)
            case .bytes: return find(XXH3.hash64(cell.bytes, seed: 0), row, cell)
            }
        }
    }

    override func values(_ code: Int) -> [QueryValue] { [reader.value(examples[code])] }

    private func missingCode(_ row: UInt32) -> Int {
        if missing < 0 {
            missing = examples.count
            examples.append(row)
            hashOfGroup.append(0)
        }
        return missing
    }

    @inline(__always) private static func mixed(_ low: UInt64, _ high: UInt64) -> UInt64 {
        let product = (low ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: high ^ 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }

    private func find(_ hash: UInt64, _ row: UInt32, _ key: Cell) -> Int {
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] >= 0 {
            let code = Int(slots[slot])
            if hashes[slot] == hash, rows.hasKey(examples[code], field.slot, field.kind, key, negativeZero) { return code }
            slot = (slot + 1) & (slots.count - 1)
        }
        let code = examples.count
        examples.append(row)
        hashOfGroup.append(hash)
        (slots[slot], hashes[slot]) = (Int32(truncatingIfNeeded: code), hash)
        if 2 * examples.count > slots.count { grow() }
        return code
    }

    private func grow() {
        let capacity = 2 * slots.count
        hashes = [UInt64](repeating: 0, count: capacity)
        slots = [Int32](repeating: -1, count: capacity)
        for (code, hash) in hashOfGroup.enumerated() where code != missing {
            var slot = Int(truncatingIfNeeded: hash) & (capacity - 1)
            while slots[slot] >= 0 { slot = (slot + 1) & (capacity - 1) }
            (slots[slot], hashes[slot]) = (Int32(truncatingIfNeeded: code), hash)
        }
    }
}
