/// Proves that each hash index has exactly one entry for each object with a key, and no other entry. Each entry must be in the bucket that
/// the hash of the key determines. Also proves that no two edges link the same objects.
extension GraphProof {
    mutating func proveIndexes() {
        for table in tables {
            for index in table.layout.indexes where isSound { prove(index, table) }
        }
    }

    private mutating func prove(_ index: IndexLayout, _ table: ProvenTable) {
        let rows = reader.rows(table.layout.index)
        let record = table.page.index(index.number)
        let (bits, vector) = (record.bits, record.directory)
        var seen = RowSet()
        var count = 0
        var place = 0
        // The ends of the edges in one bucket. Edges with the same ends have the same hash, so they are in the same bucket.
        var pairs = Set<UInt64>()
        while place < 1 << bits, isSound {
            pairs.removeAll(keepingCapacity: true)
            var page = vector.get(place, chunks)
            if page == 0 { break }
            let depth = Bucket(chunks[page]).depth
            while page != 0 {
                // The rows of a bucket are scattered in memory, so they are prefetched together.
                if let slot = index.slots.first, let kind = index.kinds.first {
                    Bucket(chunks[page]).forEach { _, row in if table.isLive(row) { rows.prefetch(row, slot, kind) } }
                }
                Bucket(chunks[page]).forEach { fragment, row in
                    count += 1
                    guard table.isLive(row), seen.insert(row), index.coversTable || index.family.contains(rows.entity(row, table.layout)),
                        let hash = reader.keyHash(index, rows, row), Bucket.fragment(hash) == fragment,
                        depth == 0 || Int(hash >> UInt64(64 - depth)) == place >> (bits - depth)
                    else { return report("An index of '\(table.name)' has an entry that leads to no object with its key.") }
                    guard table.isEdges else { return }
                    if !pairs.insert(UInt64(rows.link(row, 0)) << 32 | UInt64(rows.link(row, 1))).inserted {
                        report("Two links of a relationship have the same ends.")
                    }
                }
                page = Bucket(chunks[page]).overflow
            }
            place += 1 << (bits - depth)
        }
        var expected = 0
        table.forEachRow { row in
            guard index.coversTable || index.family.contains(rows.entity(row, table.layout)) else { return }
            let hasKey = zip(index.slots, index.kinds).allSatisfy { slot, kind in
                kind == .rows ? rows.link(row, slot) != noRow : !rows.isNull(row, slot, kind)
            }
            if hasKey { expected += 1 }
        }
        if count != expected || count != record.entryCount {
            report("An index of '\(table.name)' has \(count) entries for \(expected) objects with a key, or states a wrong number.")
        }
    }
}
