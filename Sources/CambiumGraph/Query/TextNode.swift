internal import CMachine
import CambiumModel

/// A condition that is true if a text, or another value that is stored as bytes, satisfies a test.
final class TextNode: ConditionNode {
    let slot: Int
    let test: TextTest
    /// The text with which values are compared, and the last bytes of this text in the form that the C function for comparisons needs. The
    /// property is `nil` for tests other than equality, and for a text that is too long to be in a leaf.
    private let equal: (bytes: [UInt8], end: cmachine_text)?

    /// The number of bytes of the leaf (a page of texts) that was compared last. The next leaf to prefetch probably has a similar size.
    private var leafByteCount = StringLeaf.byteCount(heap: 0)
    private static let prefetchedByteCountMax = 4096

    /// If at least this many rows of a group are wanted, all rows of the group are compared together.
    private static let rowCountMin = 16

    init(_ slot: Int, _ test: TextTest) {
        self.slot = slot
        self.test = test
        if case .equal(let wanted) = test, wanted.count <= StringLeaf.inlineMax {
            equal = (wanted, cmachine_text(wanted))
        } else {
            equal = nil
        }
    }

    override func bits(_ group: GroupView, _ rows: GroupBits) -> GroupBits {
        let leaf = group.leaf(slot)
        if let equal {
            let areCompared = rows.count >= Self.rowCountMin
            let candidates = areCompared ? rows & haveEqualEnds(leaf, equal.end) : rows
            if candidates.isEmpty || areCompared && equal.bytes.count <= cmachine_text.byteCountMax { return candidates }
            return equal.bytes.withUnsafeBytes { wanted in
                candidates.filter { Rows.hasBytes(leaf, $0, wanted, group.chunks) }
            }
        }
        return rows.filter { index in
            let cell = StringLeaf(leaf).cell(index)
            if cell == 0 { return false }
            if !StringLeaf.isBlob(cell) { return test.holds(StringLeaf(leaf).inlineBytes(cell)) }
            return Blob.bytes(StringLeaf(leaf).blob(cell).page, group.chunks).withUnsafeBytes { test.holds($0) }
        }
    }

    /// Prefetches as many bytes as the leaf of the previous group occupies. The size of this group's leaf is not known yet, because the
    /// leaf itself contains its size. If the texts are long, most of their bytes are not read, so only the cells are prefetched.
    override func prefetch(_ group: GroupView) {
        group.prefetch(slot, byteCount: leafByteCount <= Self.prefetchedByteCountMax ? leafByteCount : StringLeaf.byteCount(heap: 0))
    }

    override var comparesTexts: Bool { true }

    /// Returns the rows whose text has the length and the last 8 bytes of the wanted text. If the wanted text has at most 8 bytes, the
    /// texts of these rows equal the wanted text.
    @inline(__always) private func haveEqualEnds(_ leaf: UnsafeMutableRawPointer, _ wanted: cmachine_text) -> GroupBits {
        leafByteCount = PageHeader(leaf).byteCount
        let byteCount = UInt32(truncatingIfNeeded: leafByteCount)
        return withUnsafePointer(to: wanted) { wanted in
            GroupView.halves { first in
                cmachine_equal_texts(leaf, byteCount, StringLeaf(leaf).cells + first, wanted)
            }
        }
    }
}

extension cmachine_text {
    /// A comparison covers at most this many bytes at the end of a text.
    fileprivate static var byteCountMax: Int { MemoryLayout<UInt64>.size }

    /// Creates a comparison with the last bytes of a text, because different texts often begin with the same bytes.
    fileprivate init(_ text: [UInt8]) {
        let tail = text.suffix(Self.byteCountMax)
        var (word, mask): (UInt64, UInt64) = (0, 0)
        for byte in tail.reversed() { (word, mask) = (word << 8 | UInt64(byte), mask << 8 | 0xFF) }
        self.init(
            word: word, mask: mask, skipped: UInt32(text.count - tail.count),
            mark: StringLeaf.inlineMark(byteCount: text.count))
    }
}
