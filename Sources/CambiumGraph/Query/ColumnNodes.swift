internal import CMachine
import CambiumModel

/// Holds if a column of fixed width has a value in a range.
final class NumberNode: ConditionNode {
    let slot: Int
    let range: ColumnRange

    init(_ slot: Int, _ range: ColumnRange) {
        self.slot = slot
        self.range = range
    }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits {
        let leaf = group.leaf(slot)
        return rows & group.presence(leaf) & range.bits(leaf)
    }
}

/// Holds if a column of fixed width has one of many values, such as the UUIDs of a list.
final class FixedSetNode: ConditionNode {
    let slot: Int
    let width: Int
    let values: Set<SIMD2<UInt64>>

    init(_ slot: Int, width: Int, _ values: Set<SIMD2<UInt64>>) {
        self.slot = slot
        self.width = width
        self.values = values
    }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits {
        let leaf = group.leaf(slot)
        return (rows & group.presence(leaf)).filter { values.contains(value(leaf, Int($0))) }
    }

    @inline(__always) private func value(_ leaf: UnsafeMutableRawPointer, _ index: Int) -> SIMD2<UInt64> {
        let place = leaf + PageLayout.valuesOffset + width &* index
        return switch width {
        case 1: SIMD2(UInt64(place.load(as: UInt8.self)), 0)
        case 2: SIMD2(UInt64(place.load(as: UInt16.self)), 0)
        case 4: SIMD2(UInt64(place.load(as: UInt32.self)), 0)
        case 8: SIMD2(place.load(as: UInt64.self), 0)
        default: place.load(as: SIMD2<UInt64>.self)
        }
    }
}

/// Holds if a column has a value.
final class PresenceNode: ConditionNode {
    let slot: Int
    let kind: ColumnKind

    init(_ slot: Int, _ kind: ColumnKind) {
        self.slot = slot
        self.kind = kind
    }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits {
        let leaf = group.leaf(slot)
        switch kind {
        case .fixed: return rows & group.presence(leaf)
        case .rows: return rows & ~ColumnRange.links(leaf, noRow, noRow)
        case .numbers: return rows & ~ColumnRange.links(leaf, 0, 0)
        case .string:
            // A cell is 0 if the value is null.
            return rows & ~GroupView.halves { cmachine_within_u32(leaf + PageLayout.cellsOffset + 4 &* $0, 0, 0) }
        }
    }
}

/// Holds if the number of members of a chain, or another stored count, lies in a range.
final class CountNode: ConditionNode {
    let slot: Int
    let range: ClosedRange<UInt32>

    init(_ slot: Int, _ range: ClosedRange<UInt32>) {
        self.slot = slot
        self.range = range
    }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits {
        rows & ColumnRange.links(group.leaf(slot), range.lowerBound, range.upperBound)
    }
}

/// Holds if a text, or other bytes, satisfy a test.
final class TextNode: ConditionNode {
    let slot: Int
    let test: TextTest
    /// The text that must be equal, if it is short.
    private let short: ShortText?

    init(_ slot: Int, _ test: TextTest) {
        self.slot = slot
        self.test = test
        if case .equal(let wanted) = test { short = ShortText(wanted) } else { short = nil }
    }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits {
        let leaf = group.leaf(slot)
        if case .equal(let wanted) = test, wanted.count <= StringLeaf.inlineMax { return equal(group, leaf, rows, wanted) }
        return rows.filter { index in
            let cell = StringLeaf.cell(leaf, index)
            if cell == 0 { return false }
            if !StringLeaf.isBlob(cell) { return test.holds(StringLeaf.inlineBytes(leaf, cell)) }
            return Blob.bytes(StringLeaf.blob(leaf, cell).page, group.chunks).withUnsafeBytes { test.holds($0) }
        }
    }

    /// Compares only the values that have the wanted length.
    private func equal(_ group: GroupView, _ leaf: UnsafeMutableRawPointer, _ rows: GroupBits, _ wanted: [UInt8]) -> GroupBits {
        let mark = UInt32(1) << 24 | UInt32(wanted.count) << 16
        let cells = leaf + PageLayout.cellsOffset
        let candidates = rows & GroupView.halves { cmachine_within_u32(cells + 4 &* $0, mark, mark | 0xFFFF) }
        guard let short else { return candidates.filter { test.holds(StringLeaf.inlineBytes(leaf, StringLeaf.cell(leaf, $0))) } }
        let end = group.byteCount(slot)
        return candidates.filter { index in
            let cell = StringLeaf.cell(leaf, index)
            let offset = Int(cell & 0xFFFF)
            if offset + ShortText.byteCountMax > end { return test.holds(StringLeaf.inlineBytes(leaf, cell)) }
            return ShortText(leaf + offset, count: wanted.count) == short
        }
    }
}

/// Up to 16 bytes as two words.
struct ShortText: Equatable {
    static let byteCountMax = 16

    let low: UInt64
    let high: UInt64

    /// Reads bytes in place. The memory has at least 16 bytes, and the bytes after `count` are masked.
    @inline(__always) init(_ bytes: UnsafeRawPointer, count: Int) {
        let words = bytes.loadUnaligned(as: SIMD2<UInt64>.self)
        low = count >= 8 ? words.x : words.x & (1 &<< UInt64(8 &* count) &- 1)
        high = count <= 8 ? 0 : count == 16 ? words.y : words.y & (1 &<< UInt64(8 &* (count &- 8)) &- 1)
    }

    /// Returns `nil` if there are more than 16 bytes.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count <= Self.byteCountMax else { return nil }
        var words: (UInt64, UInt64) = (0, 0)
        for (index, byte) in bytes.enumerated() {
            if index < 8 { words.0 |= UInt64(byte) << UInt64(8 * index) } else { words.1 |= UInt64(byte) << UInt64(8 * (index - 8)) }
        }
        (low, high) = words
    }
}

/// Holds if the object has one of some entities.
final class EntityNode: ConditionNode {
    let slot: Int
    let entities: Set<EntityNumber>

    init(_ slot: Int, _ entities: Set<EntityNumber>) {
        self.slot = slot
        self.entities = entities
    }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits {
        let leaf = group.leaf(slot)
        return entities.reduce(GroupBits.none) { $0 | ColumnRange.uint16($1.rawValue, $1.rawValue).bits(leaf) } & rows
    }
}
