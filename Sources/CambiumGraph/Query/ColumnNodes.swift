internal import CMachine
import CambiumModel

/// A condition that is true if a column of fixed width has a value in a range.
final class NumberNode: ConditionNode {
    let slot: Int
    let range: ColumnRange

    init(_ slot: Int, _ range: ColumnRange) {
        self.slot = slot
        self.range = range
    }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits {
        let leaf = group.leaf(slot)
        let present = rows & group.presence(leaf)
        if let row = present.only { return range.contains(leaf, row) ? present : .none }
        return present & range.bits(leaf)
    }

    override func prefetch(_ group: GroupView) { group.prefetch(slot) }
}

/// A condition that is true if a column of fixed width has one of many values, such as the UUIDs of a list.
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
        let place = FixedLeaf(leaf).values + width &* index
        return switch width {
        case 1: SIMD2(UInt64(place.load(as: UInt8.self)), 0)
        case 2: SIMD2(UInt64(place.load(as: UInt16.self)), 0)
        case 4: SIMD2(UInt64(place.load(as: UInt32.self)), 0)
        case 8: SIMD2(place.load(as: UInt64.self), 0)
        default: place.load(as: SIMD2<UInt64>.self)
        }
    }
}

/// A condition that is true if a column has a value other than null.
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
            // A cell that is 0 means null.
            return rows & ~GroupView.halves { cmachine_within_u32(StringLeaf(leaf).cells + $0, 0, 0) }
        }
    }
}

/// A condition that is true if a stored count, such as the number of members, lies in a range.
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

/// A condition that is true if the entity of the object is one of several entities.
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
