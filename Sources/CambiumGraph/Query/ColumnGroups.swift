import CambiumBytes
import CambiumModel

/// Groups rows by one attribute, whose stored bytes are compared in place.
///
/// A value of up to 16 bytes is its own key. The key of a longer value is its hash, and the values are compared, too.
final class ColumnGroups: GroupCodes {
    /// The kinds of keys. A key of the kind `text` has its length added to the kind.
    private static let nullTag: UInt32 = 1
    private static let fixedTag: UInt32 = 2
    private static let longTag: UInt32 = 3
    private static let textTag: UInt32 = 4
    private static let shortByteCountMax = 16

    private struct Key: Equatable {
        let low: UInt64
        let high: UInt64
        let tag: UInt32
    }

    private let field: Field
    private let negativeZero: UInt64
    private let reader: ValueReader
    private let rows: Rows
    private var examples: [UInt32] = []
    private var keys: [Key] = []
    /// The numbers of the groups by the hashes of their keys, with linear probing; -1 for a free place.
    private var places: [Int32]

    init(_ field: Field, _ reader: ValueReader, _ rows: Rows) {
        self.field = field
        negativeZero = field.type.negativeZero
        self.reader = reader
        self.rows = rows
        places = [Int32](repeating: -1, count: 64)
    }

    override var count: Int { examples.count }

    override func values(_ code: Int) -> [QueryValue] { [reader.value(examples[code])] }

    override func number(_ rows: GroupBits, _ view: GroupView, _ codes: inout [Int32]) {
        let leaf = view.leaf(field.slot)
        if case .fixed(let width) = field.kind {
            let presence = view.presence(leaf)
            rows.forEach { index in
                let row = view.row(index)
                let key = presence.contains(index) ? fixedKey(row, width) : Key(low: 0, high: 0, tag: Self.nullTag)
                codes[Int(index)] = code(key, row)
                return true
            }
        } else {
            let end = view.chunks.granules(view.leafReference(field.slot)) * PageLayout.granule
            rows.forEach { index in
                let row = view.row(index)
                codes[Int(index)] = code(textKey(leaf, end, row), row)
                return true
            }
        }
    }

    @inline(__always) private func fixedKey(_ row: UInt32, _ width: Int) -> Key {
        let bits = rows.fixedBits(row, field.slot, width: width)
        return Key(low: bits.low == negativeZero ? 0 : bits.low, high: bits.high, tag: Self.fixedTag)
    }

    /// - Parameter end: The number of bytes of the leaf.
    @inline(__always) private func textKey(_ leaf: UnsafeMutableRawPointer, _ end: Int, _ row: UInt32) -> Key {
        let cell = StringLeaf.cell(leaf, row)
        if cell == 0 { return Key(low: 0, high: 0, tag: Self.nullTag) }
        let count = Int(cell >> 16 & 0xFF)
        let offset = Int(cell & 0xFFFF)
        if StringLeaf.isBlob(cell) || count > Self.shortByteCountMax || offset + Self.shortByteCountMax > end { return longKey(row) }
        // The bytes after the value are masked. They lie in the leaf.
        let words = (leaf + offset).loadUnaligned(as: SIMD2<UInt64>.self)
        let low = count >= 8 ? words.x : words.x & (1 << UInt64(8 * count) &- 1)
        let high = count <= 8 ? 0 : count == 16 ? words.y : words.y & (1 << UInt64(8 * (count - 8)) &- 1)
        return Key(low: low, high: high, tag: Self.textTag + UInt32(count))
    }

    private func longKey(_ row: UInt32) -> Key {
        rows.withCell(row, field.slot, field.kind) { cell in
            if cell.bytes.count > Self.shortByteCountMax {
                return Key(low: XXH3.hash64(cell.bytes, seed: 0), high: 0, tag: Self.longTag)
            }
            var words = SIMD2<UInt64>(0, 0)
            withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: cell.bytes) }
            return Key(low: words.x, high: words.y, tag: Self.textTag + UInt32(cell.bytes.count))
        }
    }

    @inline(__always) private static func hash(_ key: Key) -> Int {
        let product = (key.low ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: key.high ^ UInt64(key.tag) ^ 0xD6E8_FEB8_6659_FD93)
        return Int(truncatingIfNeeded: product.high ^ product.low)
    }

    @inline(__always) private func code(_ key: Key, _ row: UInt32) -> Int32 {
        var place = Self.hash(key) & (places.count &- 1)
        while places[place] >= 0 {
            let code = places[place]
            if keys[Int(code)] == key, key.tag != Self.longTag || hasSameValue(row, examples[Int(code)]) { return code }
            place = (place &+ 1) & (places.count &- 1)
        }
        return add(key, row, at: place)
    }

    private func hasSameValue(_ row: UInt32, _ other: UInt32) -> Bool {
        rows.withCell(row, field.slot, field.kind) { rows.equals(other, field.slot, field.kind, $0) }
    }

    private func add(_ key: Key, _ row: UInt32, at place: Int) -> Int32 {
        let code = Int32(truncatingIfNeeded: examples.count)
        examples.append(row)
        keys.append(key)
        places[place] = code
        if 2 * examples.count > places.count { grow() }
        return code
    }

    private func grow() {
        places = [Int32](repeating: -1, count: 2 * places.count)
        for (code, key) in keys.enumerated() {
            var place = Self.hash(key) & (places.count - 1)
            while places[place] >= 0 { place = (place + 1) & (places.count - 1) }
            places[place] = Int32(truncatingIfNeeded: code)
        }
    }
}
