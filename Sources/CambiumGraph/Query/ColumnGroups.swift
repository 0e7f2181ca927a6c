import CambiumBytes
import CambiumModel

/// Groups rows by one attribute, whose stored bytes are compared in place.
///
/// A value of up to 16 bytes is its own key. The key of a longer value is its hash, and the values are compared, too.
final class ColumnGroups: GroupCodes {
    private let field: Field
    private let negativeZero: UInt64
    private let reader: ValueReader
    private let rows: Rows
    private var table = GroupTable()

    init(_ field: Field, _ reader: ValueReader, _ rows: Rows) {
        self.field = field
        negativeZero = field.type.negativeZero
        self.reader = reader
        self.rows = rows
    }

    override var count: Int { table.examples.count }

    override func values(_ code: Int) -> [QueryValue] { [reader.value(table.examples[code])] }

    override func number(_ rows: GroupBits, _ view: GroupView, _ codes: inout [Int32]) {
        let leaf = view.leaf(field.slot)
        // A table of its own needs no checks of exclusive access for each row.
        var table = GroupTable()
        swap(&table, &self.table)
        if case .fixed(let width) = field.kind {
            let presence = view.presence(leaf)
            rows.forEach { index in
                let key = presence.contains(index) ? fixedKey(view.row(index), width) : .null
                codes[Int(index)] = table.code(key, view.row(index)) { _ in true }
                return true
            }
        } else {
            let end = view.byteCount(field.slot)
            rows.forEach { index in
                let row = view.row(index)
                codes[Int(index)] = table.code(textKey(leaf, end, row), row) { hasSameValue(row, $0) }
                return true
            }
        }
        swap(&table, &self.table)
    }

    @inline(__always) private func fixedKey(_ row: UInt32, _ width: Int) -> GroupTable.Key {
        let bits = rows.fixedBits(row, field.slot, width: width)
        return GroupTable.Key(low: bits.low == negativeZero ? 0 : bits.low, high: bits.high, tag: GroupTable.fixedTag)
    }

    /// - Parameter end: The number of bytes of the leaf.
    @inline(__always) private func textKey(_ leaf: UnsafeMutableRawPointer, _ end: Int, _ row: UInt32) -> GroupTable.Key {
        let cell = StringLeaf.cell(leaf, row)
        if cell == 0 { return .null }
        let count = Int(cell >> 16 & 0xFF)
        let offset = Int(cell & 0xFFFF)
        if StringLeaf.isBlob(cell) || count > ShortText.byteCountMax || offset + ShortText.byteCountMax > end { return longKey(row) }
        return GroupTable.Key(ShortText(leaf + offset, count: count), count: count)
    }

    private func longKey(_ row: UInt32) -> GroupTable.Key {
        rows.withCell(row, field.slot, field.kind) { cell in
            if let short = ShortText(cell.bytes) { return GroupTable.Key(short, count: cell.bytes.count) }
            return GroupTable.Key(low: XXH3.hash64(cell.bytes, seed: 0), high: 0, tag: GroupTable.longTag)
        }
    }

    private func hasSameValue(_ row: UInt32, _ other: UInt32) -> Bool {
        rows.withCell(row, field.slot, field.kind) { rows.equals(other, field.slot, field.kind, $0) }
    }
}

/// The numbers of groups by their keys: a hash table with linear probing.
struct GroupTable {
    static let fixedTag: UInt32 = 2
    static let longTag: UInt32 = 3
    /// The tag of an empty text. The tag of a longer text has its length added.
    private static let textTag: UInt32 = 4

    struct Key: Equatable {
        let low: UInt64
        let high: UInt64
        let tag: UInt32

        static let null = Key(low: 0, high: 0, tag: 1)

        init(low: UInt64, high: UInt64, tag: UInt32) {
            self.low = low
            self.high = high
            self.tag = tag
        }

        init(_ text: ShortText, count: Int) { self.init(low: text.low, high: text.high, tag: textTag + UInt32(count)) }
    }

    /// A row of each group.
    private(set) var examples: [UInt32] = []
    private var keys: [Key] = []
    /// The numbers of the groups by the hashes of their keys; -1 for a free place.
    private var places = [Int32](repeating: -1, count: 64)

    @inline(__always) private static func hash(_ key: Key) -> Int {
        let product = (key.low ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: key.high ^ UInt64(key.tag) ^ 0xD6E8_FEB8_6659_FD93)
        return Int(truncatingIfNeeded: product.high ^ product.low)
    }

    /// Returns the number of the group of a row, which may be new.
    ///
    /// - Parameter hasSameValue: Compares the value with that of another row. It is called if the keys are equal hashes.
    @inline(__always) mutating func code(_ key: Key, _ row: UInt32, _ hasSameValue: (UInt32) -> Bool) -> Int32 {
        var place = Self.hash(key) & (places.count &- 1)
        while places[place] >= 0 {
            let code = places[place]
            if keys[Int(code)] == key, key.tag != Self.longTag || hasSameValue(examples[Int(code)]) { return code }
            place = (place &+ 1) & (places.count &- 1)
        }
        return add(key, row, at: place)
    }

    @inline(never) private mutating func add(_ key: Key, _ row: UInt32, at place: Int) -> Int32 {
        let code = Int32(truncatingIfNeeded: examples.count)
        examples.append(row)
        keys.append(key)
        places[place] = code
        if 2 * examples.count > places.count { grow() }
        return code
    }

    private mutating func grow() {
        places = [Int32](repeating: -1, count: 2 * places.count)
        for (code, key) in keys.enumerated() {
            var place = Self.hash(key) & (places.count - 1)
            while places[place] >= 0 { place = (place + 1) & (places.count - 1) }
            places[place] = Int32(truncatingIfNeeded: code)
        }
    }
}
