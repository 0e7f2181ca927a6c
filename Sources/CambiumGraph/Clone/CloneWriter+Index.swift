import CambiumModel

extension CloneWriter {
    /// Adds many rows to an index, bucket by bucket. Records a row for a later check if the index already has the row's key.
    ///
    /// - Parameter rows: New rows that are in no index yet.
    /// - Parameter hasNewUUIDs: Whether each key contains a new UUID, which no other key contains.
    static func addToIndex(_ draft: inout Draft, _ table: TableLayout, _ index: IndexLayout, bulk rows: CloneRows, hasNewUUIDs: Bool) {
        var entries: [UInt64] = []
        var other: [UInt64] = []
        var firstPage = 0
        while firstPage < rows.pages.count {
            let endPage = min(firstPage + Draft.batchPageCount, rows.pages.count)
            entries.removeAll(keepingCapacity: true)
            addHashes(draft, table, index, rows, firstPage..<endPage, to: &entries)
            firstPage = endPage
            draft.addEntries(table, index, &entries, &other, isUnique: hasNewUUIDs)
        }
    }

    /// Adds an entry for each row with a key: the high half of the key's hash, and the row in the low half.
    private static func addHashes(
        _ draft: borrowing Draft,
        _ table: TableLayout, _ index: IndexLayout, _ rows: CloneRows, _ pages: Range<Int>, to entries: inout [UInt64]
    ) {
        let reader = draft.reader
        let tableRows = reader.rows(table.index)
        if index.coversTable, index.kinds == [.fixed(width: 16)] {
            var cache = LeafCache()
            let hasher = reader.hasher
            rows.forEach(in: pages) { _, copy in
                guard let bits = cache.fixed(copy, tableRows, index.slots[0], as: SIMD2<UInt64>.self) else { return }
                entries.append(hasher.hash(bits.x, bits.y) & IndexWriter.hashMask | UInt64(copy))
            }
            return
        }
        rows.forEach(in: pages) { _, copy in
            guard index.coversTable || index.family.contains(tableRows.entity(copy, table)),
                let hash = reader.keyHash(index, tableRows, copy)
            else { return }
            entries.append(hash & IndexWriter.hashMask | UInt64(copy))
        }
    }
}
