internal import CMachine
import CambiumModel

extension Draft {
    /// Adds new rows to an index, bucket by bucket. Records a row for a later check if the index already has the row's key.
    ///
    /// - Parameter rows: Rows of one entity that are in no index yet.
    mutating func addToIndex(_ table: TableLayout, _ index: IndexLayout, bulk rows: [UInt32]) {
        let reader = reader
        let tableRows = reader.rows(table.index)
        guard let first = rows.first, index.coversTable || index.family.contains(tableRows.entity(first, table)) else { return }
        var entries: [UInt64] = []
        entries.reserveCapacity(rows.count)
        for row in rows {
            if let hash = reader.keyHash(index, tableRows, row) { entries.append(hash & Self.hashMask | UInt64(row)) }
        }
        var other: [UInt64] = []
        addEntries(table, index, &entries, &other, isUnique: pending.isOff)
    }

    /// Adds new edges to the index of their table. This index finds the edge between two objects, and must not contain the new edges yet.
    mutating func addToIndex(_ table: TableLayout, edges: [UInt32]) {
        let reader = reader
        let rows = reader.rows(table.index)
        var entries = edges.map { reader.edgeHash(rows.link($0, 0), rows.link($0, 1)) & Self.hashMask | UInt64($0) }
        var other: [UInt64] = []
        addEntries(table, table.indexes[0], &entries, &other, isUnique: true)
    }

    /// Sorts entries and adds them to an index, bucket by bucket. An entry consists of the upper half of a key's hash, and the row of the
    /// key.
    ///
    /// - Parameter other: Memory for sorting. The caller can pass the same array again to reuse its memory.
    mutating func addEntries(
        _ table: TableLayout, _ index: IndexLayout, _ entries: inout [UInt64], _ other: inout [UInt64], isUnique: Bool
    ) {
        if !RadixSort.isSorted(entries) { RadixSort.sort(&entries, &other) }
        countEntry(table.index, index.number, by: entries.count)
        var next = 0
        var distance = Self.prefetchDistanceMin
        while next < entries.count {
            let first = next
            if first + distance < entries.count { reader.prefetchBucket(table.index, index.number, entries[first + distance]) }
            next = fillBucket(table, index, entries, from: first, isUnique: isUnique)
            distance = max(Self.prefetchDistanceMin, 2 * (next - first))
        }
    }

    private static let prefetchDistanceMin = 12

    /// The bits of an entry that belong to the hash: all bits that select a bucket, and the fragment that the bucket stores.
    static let hashMask: UInt64 = 0xFFFF_FFFF_0000_0000

    /// Adds entries to the bucket of the first entry until the bucket is full or an entry belongs to another bucket. Returns the index of
    /// the next entry.
    private mutating func fillBucket(
        _ table: TableLayout, _ index: IndexLayout, _ entries: [UInt64], from first: Int, isUnique: Bool
    ) -> Int {
        let hash = entries[first] & Self.hashMask
        let old = reader.bucket(table.index, index.number, hash)
        if old != 0, chunks.birth(old) != epoch, hasTooMany(Bucket(chunks[old]), entries, first) {
            split(table.index, index.number, old, hash)
            return first
        }
        let slot = ownedBucketSlot(table.index, index.number, hash)
        let bucket = Bucket(chunks[slot.pointee])
        let depth = UInt64(bucket.depth)
        let reader = reader
        var next = first
        while next < entries.count {
            let entry = entries[next]
            if depth > 0, (entry ^ hash) &>> (64 &- depth) != 0 { return next }
            let row = UInt32(truncatingIfNeeded: entry)
            let fragment = Bucket.fragment(entry)
            if !isUnique, reader.duplicate(of: row, fragment: fragment, in: slot.pointee, table.index, index) != noRow {
                pending.noteDuplicate(table.index, index.number, row)
            }
            if bucket.count == Bucket.capacity {
                if takesOverflow(bucket, fragment) {
                    addToOverflow(slot.pointee, fragment, row)
                } else {
                    split(table.index, index.number, slot.pointee, hash)
                    return next
                }
            } else {
                bucket.add(fragment, row)
            }
            next += 1
        }
        return next
    }

    /// Returns whether a bucket lacks the space for all of its new entries. If so, the caller splits the bucket before it adds an entry.
    /// Without this early split, the first added entry would copy the bucket, and a later entry would split the copy.
    private func hasTooMany(_ bucket: Bucket, _ entries: [UInt64], _ first: Int) -> Bool {
        let last = first + Bucket.capacity - bucket.count
        guard last < entries.count, bucket.overflow == 0, bucket.depth < Bucket.depthMax else { return false }
        return bucket.depth == 0 || (entries[first] ^ entries[last]) &>> UInt64(64 - bucket.depth) == 0
    }
}
