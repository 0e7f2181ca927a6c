import Glibc

/// The leaves that store one column of a group of rows in two graphs.
///
/// SAFETY: both pages are leaves of the column's kind, in versions of the graph that the caller keeps alive.
struct LeafPair {
    private let before: UnsafeMutableRawPointer
    private let after: UnsafeMutableRawPointer

    init(_ before: UnsafeMutableRawPointer, _ after: UnsafeMutableRawPointer) {
        self.before = before
        self.after = after
    }

    /// Returns the rows whose cells differ, as bits. For texts, the result may also contain rows with equal texts.
    ///
    /// - Parameters:
    ///   - rows: The rows to compare, as bits.
    ///   - word: The index of a 64-bit word in the group. The bits belong to the 64 rows of this word.
    func differingRows(_ kind: ColumnKind, _ rows: UInt64, _ word: Int) -> UInt64 {
        if rows == 0 { return 0 }
        switch kind {
        case .fixed(let width):
            let (left, right) = (FixedLeaf(before), FixedLeaf(after))
            let (old, new) = (left.presence.word(word), right.presence.word(word))
            return rows & (old ^ new | old & new & differingValues(left.values, right.values, width, word))
        case .rows, .numbers: return rows & differingValues(LinkLeaf(before).values, LinkLeaf(after).values, 4, word)
        case .string: return rows & differingTexts(word)
        }
    }

    private func differingValues(_ before: UnsafeRawPointer, _ after: UnsafeRawPointer, _ width: Int, _ word: Int) -> UInt64 {
        let start = width &* 64 &* word
        let (left, right) = (before + start, after + start)
        if memcmp(left, right, width &* 64) == 0 { return 0 }
        return switch width {
        case 1: differing(left, right, as: UInt8.self)
        case 2: differing(left, right, as: UInt16.self)
        case 4: differing(left, right, as: UInt32.self)
        case 8: differing(left, right, as: UInt64.self)
        default: differing(left, right, as: SIMD2<UInt64>.self)
        }
    }

    @inline(__always) private func differing<Number: BitwiseCopyable & Equatable>(
        _ left: UnsafeRawPointer, _ right: UnsafeRawPointer, as type: Number.Type
    ) -> UInt64 {
        var bits: UInt64 = 0
        for place in 0..<64 {
            let isSame = left.assumingMemoryBound(to: type)[place] == right.assumingMemoryBound(to: type)[place]
            bits |= (isSame ? 0 : 1) &<< UInt64(place)
        }
        return bits
    }

    /// Returns the rows whose texts may differ, as bits. If one leaf is a changed copy of the other, both heaps of texts begin with the
    /// same bytes. Then equal cells mean equal texts, unless the texts are in separate pages.
    private func differingTexts(_ word: Int) -> UInt64 {
        let (before, after) = (StringLeaf(before), StringLeaf(after))
        let hasSameHeap = memcmp(before.heap, after.heap, min(before.heapUsed, after.heapUsed)) == 0
        var bits: UInt64 = 0
        for place in 0..<64 {
            let row = UInt32(64 &* word &+ place)
            let (old, new) = (before.cell(row), after.cell(row))
            let isSame = old == new && (old == 0 || hasSameHeap && !StringLeaf.isBlob(old))
            bits |= (isSame ? 0 : 1) &<< UInt64(place)
        }
        return bits
    }
}
