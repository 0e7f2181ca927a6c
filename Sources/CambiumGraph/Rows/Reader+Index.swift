internal import CMachine
import CambiumBytes

extension Reader {
    /// Returns the hash of a row's key in an index. Returns `nil` if a value of the key is null, because a row with such a key is not in
    /// the index.
    func keyHash(_ index: IndexLayout, _ rows: Rows, _ row: UInt32) -> UInt64? {
        if index.slots.isEmpty { return edgeHash(rows.link(row, 0), rows.link(row, 1)) }
        let hasher = hasher
        var hash: UInt64 = 0
        for component in index.slots.indices {
            if let table = index.targetTables[component] {
                let target = rows.link(row, index.slots[component])
                if target == noRow { return nil }
                // The row of the target changes if its table is packed, but its serial does not.
                hash = hasher.hash(.fixed(self.rows(table).serial(target), 0), after: hash)
                continue
            }
            let isPresent = rows.withCell(row, index.slots[component], index.kinds[component]) { cell in
                if cell.kind == .null { return false }
                hash = hasher.hash(cell.key(index.negativeZeros[component]), after: hash)
                return true
            }
            if !isPresent { return nil }
        }
        return hash
    }

    @inline(__always) func edgeHash(_ first: UInt32, _ second: UInt32) -> UInt64 {
        hasher.hash(UInt64(first) << 32 | UInt64(second), 0)
    }

    /// Returns the bucket in which a hash belongs, or 0 if the index has no bucket yet.
    @inline(__always) func bucket(_ table: Int, _ index: Int, _ hash: UInt64) -> PageRef {
        let record = tablePage(table).index(index)
        return record.directory.get(record.slot(of: hash), chunks)
    }

    /// Prefetches a bucket that will be written to.
    func prefetchBucket(_ table: Int, _ index: Int, _ hash: UInt64) {
        let page = bucket(table, index, hash)
        guard page != 0 else { return }
        for offset in stride(from: 0, to: Bucket.byteCount, by: 64) { cmachine_prefetch(chunks[page] + offset) }
    }

    /// Prefetches the block of a bucket in which a lookup begins.
    @inline(__always) func prefetchBlock(_ table: Int, _ index: Int, _ hash: UInt64) {
        let page = bucket(table, index, hash)
        if page != 0 { Bucket(chunks[page]).prefetchHome(of: hash) }
    }

    func entryCount(_ table: Int, _ index: Int) -> Int {
        tablePage(table).index(index).entryCount
    }

    /// Returns the first row that an index lists under a hash and for which `isEqual` returns `true`. Returns `noRow` if there is no such
    /// row.
    @inline(__always)
    func firstRow(_ table: Int, _ index: Int, _ hash: UInt64, where isEqual: (UInt32) -> Bool) -> UInt32 {
        firstRow(bucket(table, index, hash), Bucket.fragment(hash), where: isEqual)
    }

    @inline(__always)
    private func firstRow(_ bucket: PageRef, _ fragment: UInt16, where isEqual: (UInt32) -> Bool) -> UInt32 {
        var page = bucket
        var overflowCount = 0
        while page != 0 {
            let bucket = Bucket(chunks[page])
            if let row = bucket.firstRow(fragment, where: isEqual) { return row }
            page = bucket.overflow
            if page != 0 { chunks.countOverflow(&overflowCount) }
        }
        return noRow
    }

    /// Returns the row with a key that consists of one value, or `noRow` if there is no such row.
    @inline(__always) func row(_ table: Int, _ index: IndexLayout, key: Cell) -> UInt32 {
        let key = key.key(index.negativeZeros[0])
        let hash = hasher.hash(key)
        return row(table, index.number, index.slots[0], index.kinds[0], index.negativeZeros[0], key: key, hash: hash)
    }

    /// Returns the row with a key that consists of one value, or `noRow` if there is no such row. The caller passes the column and the hash
    /// of the key.
    @inline(__always)
    func row(
        _ table: Int, _ index: Int, _ slot: Int, _ kind: ColumnKind, _ negativeZero: UInt64, key: Cell, hash: UInt64
    ) -> UInt32 {
        let rows = rows(table)
        return firstRow(table, index, hash) { rows.hasKey($0, slot, kind, key, negativeZero) }
    }

    /// Returns the row with a key that consists of several values, or `noRow` if there is no such row. The value of a relationship is the
    /// serial of its target.
    func row(_ table: Int, _ index: IndexLayout, keys: [Cell]) -> UInt32 {
        let keys = zip(keys, index.negativeZeros).map { $0.key($1) }
        let hasher = hasher
        let hash = keys.reduce(0) { hasher.hash($1, after: $0) }
        let rows = rows(table)
        return firstRow(table, index.number, hash) { row in
            keys.indices.allSatisfy { component in
                if let targets = index.targetTables[component] {
                    let target = rows.link(row, index.slots[component])
                    return target != noRow && self.rows(targets).serial(target) == keys[component].low
                }
                return rows.hasKey(row, index.slots[component], index.kinds[component], keys[component], index.negativeZeros[component])
            }
        }
    }

    /// Returns another row with the same key as `row`, or `noRow` if the key is unique or contains a null.
    func duplicate(of row: UInt32, _ table: Int, _ index: IndexLayout) -> UInt32 {
        let rows = rows(table)
        guard let hash = keyHash(index, rows, row) else { return noRow }
        return duplicate(of: row, hash: hash, table, index)
    }

    func duplicate(of row: UInt32, hash: UInt64, _ table: Int, _ index: IndexLayout) -> UInt32 {
        duplicate(of: row, fragment: Bucket.fragment(hash), in: bucket(table, index.number, hash), table, index)
    }

    /// Returns another row with the same key as `row`, or `noRow`, as `duplicate(of:_:_:)` does. Searches a bucket that the caller has
    /// already found.
    @inline(__always)
    func duplicate(of row: UInt32, fragment: UInt16, in bucket: PageRef, _ table: Int, _ index: IndexLayout) -> UInt32 {
        firstRow(bucket, fragment) { other in other != row && hasSameKey(row, other, table, index) }
    }

    /// Returns whether an index lists a row under its hash, and whether it lists another row with the same key. Searches the bucket once.
    func entry(
        of row: UInt32, hash: UInt64, _ table: Int, _ index: IndexLayout, comparesKeys: Bool
    ) -> (isListed: Bool, hasDuplicate: Bool) {
        var (isListed, hasDuplicate) = (false, false)
        _ = firstRow(table, index.number, hash) { other in
            if other == row {
                isListed = true
            } else if comparesKeys, !hasDuplicate, hasSameKey(row, other, table, index) {
                hasDuplicate = true
            }
            return isListed && hasDuplicate
        }
        return (isListed, hasDuplicate)
    }

    /// Returns the other rows with the same key as `row`. The result is empty if the key contains a null.
    func rowsWithSameKey(as row: UInt32, _ table: Int, _ index: IndexLayout) -> [UInt32] {
        let rows = rows(table)
        guard let hash = keyHash(index, rows, row) else { return [] }
        var found: [UInt32] = []
        _ = firstRow(table, index.number, hash) { other in
            if other != row, hasSameKey(row, other, table, index) { found.append(other) }
            return false
        }
        return found
    }

    @inline(never)
    private func hasSameKey(_ row: UInt32, _ other: UInt32, _ table: Int, _ index: IndexLayout) -> Bool {
        let rows = rows(table)
        return index.slots.indices.allSatisfy { component in
            let (slot, kind, negativeZero) = (index.slots[component], index.kinds[component], index.negativeZeros[component])
            if kind == .rows { return rows.link(row, slot) == rows.link(other, slot) }
            return rows.withCell(row, slot, kind) { rows.hasKey(other, slot, kind, $0.key(negativeZero), negativeZero) }
        }
    }

    /// Returns the row of the edge between two rows, or `noRow` if no edge links them.
    @inline(__always) func edge(_ table: Int, _ first: UInt32, _ second: UInt32) -> UInt32 {
        let rows = rows(table)
        return firstRow(table, 0, edgeHash(first, second)) { rows.link($0, 0) == first && rows.link($0, 1) == second }
    }
}

extension OrderedTree {
    /// Whether the root, the height and the count agree with each other and are within the limits of a tree.
    var isPossible: Bool {
        height == 0 ? self == OrderedTree() : root != 0 && height <= UInt32(OrderedNode.heightMax) && count <= TableLayout.rowCountMax
    }
}

extension IndexDirectory {
    /// Returns whether the records belong to the ordered indexes of a layout, in the same order.
    @inline(__always) func fits(_ layout: GraphLayout) -> Bool {
        count == layout.ordered.count && layout.ordered.allSatisfy { self[$0.number].specification == $0.specification }
    }
}

extension OrderedIndexLayout {
    /// Returns whether the object at a row is in the index.
    @inline(__always) func covers(_ row: UInt32, _ rows: Rows, _ table: TableLayout) -> Bool {
        if let ownerSlot { return rows.link(row, ownerSlot) != noRow }
        return coversTable || family.contains(rows.entity(row, table))
    }
}

extension Reader {
    /// Returns the reference to the page of the index directory, or 0 if the graph does not have one yet.
    func indexDirectoryReference(of layout: GraphLayout) -> PageRef {
        layout.indexesPlace.map { directoryPage[$0] } ?? 0
    }

    func indexDirectory(of layout: GraphLayout) -> IndexDirectory? {
        let page = indexDirectoryReference(of: layout)
        if page == 0 { return nil }
        let directory = IndexDirectory(chunks[page])
        if !chunks.isProven {
            guard chunks.kind(page) == .indexDirectory, directory.count <= OrderedIndexLayout.countMax,
                IndexDirectory.byteCount(directory.count) <= chunks.granules(page) * PageLayout.granule
            else { chunks.refuse("page \(page) is not a valid directory of indexes") }
        }
        return directory
    }

    /// Returns the record of an index, or an empty record if the pages do not have the index.
    func record(of index: OrderedIndexLayout, _ layout: GraphLayout) -> IndexDirectory.Record {
        if let directory = indexDirectory(of: layout), index.number < directory.count,
            directory[index.number].specification == index.specification
        {
            return directory[index.number]
        }
        return IndexDirectory.Record(specification: index.specification)
    }
}
