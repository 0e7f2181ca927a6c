import Glibc

extension ChangeFinder {
    /// Returns whether an attribute has the same value in a row of each graph. Two values are the same if they have the same bits, so 0.0
    /// and -0.0 differ.
    func isEqual(
        _ column: ColumnMeanings.Column, _ before: (rows: Rows, row: UInt32), _ after: (rows: Rows, row: UInt32)
    ) -> Bool {
        guard case .string = column.kind else {
            return before.rows.withCell(before.row, column.slot, column.kind) {
                after.rows.equals(after.row, column.slot, column.kind, $0)
            }
        }
        let old = before.rows.leaf(before.rows.group(before.row), column.slot)
        let new = after.rows.leaf(after.rows.group(after.row), column.slot)
        let (cell, other) = (StringLeaf(old).cell(before.row), StringLeaf(new).cell(after.row))
        if cell == 0 || other == 0 { return cell == other }
        if StringLeaf.isBlob(cell), StringLeaf.isBlob(other) {
            return isEqualBlob(StringLeaf(old).blob(cell).page, StringLeaf(new).blob(other).page)
        }
        if StringLeaf.isBlob(cell) || StringLeaf.isBlob(other) { return false }
        return StringLeaf(old).inlineBytes(cell).isEqual(to: StringLeaf(new).inlineBytes(other))
    }

    /// Returns whether two blobs (values of more than 255 bytes) are equal. Complexity: O(1) if both references mean the same page,
    /// otherwise O(bytes).
    private func isEqualBlob(_ before: PageRef, _ after: PageRef) -> Bool {
        if sharing.isOnePage(before, after) { return true }
        let (old, new) = (Blob.head(before, self.old.chunks), Blob.head(after, self.new.chunks))
        guard old.byteCount == new.byteCount else { return false }
        return (0..<old.head.extentCount).allSatisfy { index in
            let (extent, other) = (old.head[index], new.head[index])
            if sharing.isOnePage(extent, other) { return true }
            let byteCount = min(Blob.extentByteCountMax, old.byteCount - index * Blob.extentByteCountMax)
            // SAFETY: both extents have at least `byteCount` bytes.
            return memcmp(self.old.chunks[extent] + PageLayout.header, self.new.chunks[other] + PageLayout.header, byteCount) == 0
        }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let start = baseAddress, let otherStart = other.baseAddress else { return count == other.count }
        // SAFETY: both buffers have `count` bytes.
        return memcmp(start, otherStart, count) == 0
    }
}
