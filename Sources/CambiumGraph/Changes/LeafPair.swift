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
            let offset = PageLayout.presenceOffset &+ 8 &* word
            let (old, new) = (before.load(fromByteOffset: offset, as: UInt64.self), after.load(fromByteOffset: offset, as: UInt64.self))
            return rows & (old ^ new | old & new & differingValues(PageLayout.valuesOffset, width, word))
        case .rows, .numbers: return rows & differingValues(PageLayout.linkValuesOffset, 4, word)
        case .string: return rows & differingTexts(word)
        }
    }

    private func differingValues(_ offset: Int, _ width: Int, _ word: Int) -> UInt64 {
        let start = offset &+ width &* 64 &* word
        if memcmp(before + start, after + start, width &* 64) == 0 { return 0 }
        return switch width {
        case 1: differing(start, as: UInt8.self)
        case 2: differing(start, as: UInt16.self)
        case 4: differing(start, as: UInt32.self)
        case 8: differing(start, as: UInt64.self)
        default: differing(start, as: SIMD2<UInt64>.self)
        }
    }

    @inline(__always) private func differing<Number: BitwiseCopyable & Equatable>(_ start: Int, as type: Number.Type) -> UInt64 {
        var bits: UInt64 = 0
        for place in 0..<64 {
            let offset = start &+ MemoryLayout<Number>.stride &* place
            let isSame = before.load(fromByteOffset: offset, as: type) == after.load(fromByteOffset: offset, as: type)
            bits |= (isSame ? 0 : 1) &<< UInt64(place)
        }
        return bits
    }

    /// Returns the rows whose texts may differ, as bits. If one leaf is a changed copy of the other, both heaps of texts begin with the
    /// same bytes. Then equal cells mean equal texts, unless the texts are in separate pages.
    private func differingTexts(_ word: Int) -> UInt64 {
        let byteCount = min(StringLeaf.heapUsed(before), StringLeaf.heapUsed(after))
        let hasSameHeap = memcmp(before + PageLayout.heapOffset, after + PageLayout.heapOffset, byteCount) == 0
        var bits: UInt64 = 0
        for place in 0..<64 {
            let row = UInt32(64 &* word &+ place)
            let (old, new) = (StringLeaf.cell(before, row), StringLeaf.cell(after, row))
            let isSame = old == new && (old == 0 || hasSameHeap && !StringLeaf.isBlob(old))
            bits |= (isSame ? 0 : 1) &<< UInt64(place)
        }
        return bits
    }
}
