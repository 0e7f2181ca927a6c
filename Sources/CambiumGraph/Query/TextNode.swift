internal import CMachine
import CambiumModel

/// A condition that is true if a text, or another value that is stored as bytes, satisfies a test.
final class TextNode: ConditionNode {
    let slot: Int
    let test: TextTest
    /// The text with which values are compared, and the form of its end that the C function compares. `nil` for other tests, and for a text
    /// that is too long to be in a leaf.
    private let equal: (bytes: [UInt8], end: cmachine_text)?

    /// From this number of rows on, all rows of a group are compared together.
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
            let candidates = rows.count >= Self.rowCountMin ? rows & mayBeEqual(leaf, equal.end) : rows
            if candidates.isEmpty { return candidates }
            return equal.bytes.withUnsafeBytes { wanted in
                candidates.filter { Rows.hasBytes(leaf, $0, wanted, group.chunks) }
            }
        }
        return rows.filter { index in
            let cell = StringLeaf.cell(leaf, index)
            if cell == 0 { return false }
            if !StringLeaf.isBlob(cell) { return test.holds(StringLeaf.inlineBytes(leaf, cell)) }
            return Blob.bytes(StringLeaf.blob(leaf, cell).page, group.chunks).withUnsafeBytes { test.holds($0) }
        }
    }

    override func prefetch(_ group: GroupView) { group.prefetch(slot) }

    /// Returns the rows whose text may be the wanted text: the length and the last bytes are the same.
    @inline(__always) private func mayBeEqual(_ leaf: UnsafeMutableRawPointer, _ wanted: cmachine_text) -> GroupBits {
        let granules = Int(leaf.load(fromByteOffset: PageLayout.granulesOffset, as: UInt16.self))
        let last = UInt32(truncatingIfNeeded: granules &* PageLayout.granule &- MemoryLayout<UInt32>.size)
        return GroupView.halves { first in
            let cells = (leaf + PageLayout.cellsOffset + 4 &* first).assumingMemoryBound(to: UInt32.self)
            return cmachine_may_equal_texts(leaf, cells, last, wanted)
        }
    }
}

extension cmachine_text {
    /// Takes the last bytes of a text for the comparison, because different texts often begin with the same bytes.
    fileprivate init(_ text: [UInt8]) {
        let tail = text.suffix(MemoryLayout<UInt32>.size)
        var (word, mask): (UInt32, UInt32) = (0, 0)
        for byte in tail.reversed() { (word, mask) = (word << 8 | UInt32(byte), mask << 8 | 0xFF) }
        self.init(
            word: word, mask: mask, skipped: UInt32(text.count - tail.count),
            mark: StringLeaf.inlineMark(byteCount: text.count))
    }
}
