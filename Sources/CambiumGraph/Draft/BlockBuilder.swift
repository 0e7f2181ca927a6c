import CambiumModel
import Glibc

/// Copies columns of a table into the columns of a block, an op that inserts or changes many objects.
struct BlockBuilder {
    /// The maximum number of objects in one block. A block of this size fits into the processor's cache, and its columns are long enough to
    /// compress well.
    static let objectCountMax = 8192
    /// The maximum number of values in all columns of one block. This number is less than the limit that a reader of a log sets for one
    /// block.
    static let valueCountMax = 1 << 23

    /// Returns the maximum number of objects in one block of a table. A block of a table with many columns holds fewer objects, because of
    /// `valueCountMax`.
    static func objectCountMax(_ table: TableLayout) -> Int {
        min(objectCountMax, max(1, valueCountMax / max(1, table.columns.count)))
    }

    /// The maximum number of bytes of texts and data in one block. A block exceeds this number only if a single object does. The log
    /// accepts such a block, because a change may have up to about 1 GiB.
    static let byteCountMax = 64 << 20

    let rows: Rows
    let table: TableLayout
    var byteCountMax = Self.byteCountMax

    /// Divides objects into parts. The texts and data of each part fit into one block that has columns for `properties`.
    func parts(_ members: [UInt32], _ properties: [PropertyNumber]) -> [[UInt32]] {
        let slots = properties.map { table.slot(of: $0) }.filter { table.columns[$0] == .string }
        var parts: [[UInt32]] = []
        var (start, byteCount) = (0, 0)
        for (place, row) in members.enumerated() where !slots.isEmpty {
            let added = slots.reduce(0) { $0 + self.byteCount(row, $1) }
            if byteCount + added > byteCountMax, place > start {
                parts.append(Array(members[start..<place]))
                (start, byteCount) = (place, 0)
            }
            byteCount += added
        }
        parts.append(start == 0 ? members : Array(members[start...]))
        return parts
    }

    private func byteCount(_ row: UInt32, _ slot: Int) -> Int {
        let leaf = rows.leaf(rows.group(row), slot)
        let cell = StringLeaf(leaf).cell(row)
        if cell == 0 { return 0 }
        return StringLeaf.isBlob(cell) ? StringLeaf(leaf).blob(cell).byteCount : StringLeaf(leaf).inlineBytes(cell).count
    }

    func serials(_ members: [UInt32]) -> SerialRuns {
        var serials = SerialRuns()
        for row in members { serials.append(rows.serial(row)) }
        return serials
    }

    func column(_ property: PropertyNumber, _ members: [UInt32]) -> AttributeColumn {
        let slot = table.slot(of: property)
        var presence = [UInt64](repeating: 0, count: (members.count + 63) / 64)
        if case .fixed(let width) = table.columns[slot] {
            var bytes = [UInt8](repeating: 0, count: width * members.count)
            bytes.withUnsafeMutableBytes { target in
                guard let start = target.baseAddress else { return }
                for (place, row) in members.enumerated() {
                    let leaf = rows.leaf(rows.group(row), slot)
                    if FixedLeaf(leaf).isPresent(row) { presence[place >> 6] |= 1 << UInt64(place & 63) }
                    memcpy(start + width * place, FixedLeaf(leaf).address(row, width: width), width)
                }
            }
            return AttributeColumn(property: property, presence: presence, content: .fixed(width: width, bytes: bytes))
        }
        var counts = [UInt32](repeating: 0, count: members.count)
        var bytes: [UInt8] = []
        for (place, row) in members.enumerated() {
            rows.withCell(row, slot, .string) { cell in
                if cell.kind == .null { return }
                presence[place >> 6] |= 1 << UInt64(place & 63)
                counts[place] = UInt32(cell.bytes.count)
                bytes.append(contentsOf: cell.bytes)
            }
        }
        return AttributeColumn(property: property, presence: presence, content: .variable(byteCounts: counts, bytes: bytes))
    }
}
