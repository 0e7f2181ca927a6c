internal import CMachine
import CambiumBytes
import CambiumModel

/// Groups rows by one attribute. Compares the stored bytes, without creating values.
///
/// A value of up to 16 bytes is its own key. The key of a longer value is a hash, so the values must be compared if the keys are equal.
final class ColumnGroups: GroupCodes {
    private let field: Field
    private let negativeZero: UInt64
    private let reader: ValueReader
    private let rows: Rows
    private var table = GroupTable()

    /// If at least this many of 64 rows are wanted, all 64 rows are looked up together.
    private static let rowCountMin = 16

    init(_ field: Field, _ reader: ValueReader, _ rows: Rows) {
        self.field = field
        negativeZero = field.type.negativeZero
        self.reader = reader
        self.rows = rows
    }

    override var count: Int { table.examples.count }

    override func values(_ code: Int) -> [QueryValue] { [reader.value(table.examples[code]).withoutNegativeZero] }

    override func number(_ rows: GroupBits, _ view: GroupView, _ codes: inout [Int32]) {
        // The loops use the table as an `inout` parameter, because each access to a property of a class is checked for exclusivity.
        if case .fixed(let width) = field.kind {
            numberFixed(rows, view, width, &codes, &table)
        } else {
            numberTexts(rows, view, &codes, &table)
        }
    }

    private func numberFixed(_ rows: GroupBits, _ view: GroupView, _ width: Int, _ codes: inout [Int32], _ table: inout GroupTable) {
        let presence = view.presence(view.leaf(field.slot))
        rows.forEach { index in
            let key = presence.contains(index) ? fixedKey(view.row(index), width) : .null
            codes[Int(index)] = table.code(key, view.row(index)) { _ in true }
            return true
        }
    }

    /// Finds the groups of texts. C functions handle many short texts in one call. The first function handles texts of less than 8 bytes
    /// whose groups are known. The second function handles other texts of up to 16 bytes. It stops at a text that begins a new group, and
    /// at any value that it cannot handle, and is then called again.
    private func numberTexts(_ rows: GroupBits, _ view: GroupView, _ codes: inout [Int32], _ table: inout GroupTable) {
        let leaf = view.leaf(field.slot)
        let last = UInt32(truncatingIfNeeded: view.byteCount(field.slot) - ShortText.byteCountMax)
        let cells = StringLeaf(leaf).cells
        codes.withUnsafeMutableBufferPointer { codes in
            for first in stride(from: 0, to: PageLayout.fanOut, by: UInt64.bitWidth) {
                var bits = rows[first / UInt64.bitWidth]
                let numbers = codes.baseAddress.map { $0 + first }
                if bits.nonzeroBitCount >= Self.rowCountMin {
                    table.withGroups { bits &= ~cmachine_short_text_codes(leaf, cells + first, last, $0, numbers) }
                }
                while bits != 0 {
                    var stop: UInt32 = 0
                    table.withGroups { stop = cmachine_text_codes(leaf, cells + first, last, bits, $0, numbers) }
                    if stop == UInt64.bitWidth { break }
                    let row = view.row(UInt32(first) + stop)
                    codes[first + Int(stop)] = table.code(textKey(row), row) { hasSameValue(row, $0) }
                    // If `stop` is 63, the shift is by 64 bits, and `<<` then returns 0 as required.
                    bits &= UInt64.max << UInt64(stop + 1)
                }
            }
        }
    }

    @inline(__always) private func fixedKey(_ row: UInt32, _ width: Int) -> cmachine_key {
        let bits = rows.fixedBits(row, field.slot, width: width)
        return cmachine_key(low: bits.low == negativeZero ? 0 : bits.low, high: bits.high, tag: GroupTable.fixedTag)
    }

    private func textKey(_ row: UInt32) -> cmachine_key {
        rows.withCell(row, field.slot, field.kind) { cell in
            if cell.kind == .null { return .null }
            if let short = ShortText(cell.bytes) { return cmachine_key(short, count: cell.bytes.count) }
            return cmachine_key(low: XXH3.hash64(cell.bytes, seed: GroupTable.seed.low), high: 0, tag: GroupTable.longTag)
        }
    }

    private func hasSameValue(_ row: UInt32, _ other: UInt32) -> Bool {
        rows.withCell(row, field.slot, field.kind) { rows.equals(other, field.slot, field.kind, $0) }
    }
}
