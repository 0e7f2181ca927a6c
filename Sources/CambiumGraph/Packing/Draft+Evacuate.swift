/// Chunks of which little is in use are emptied: what is in use of them is copied elsewhere, so that they can be used again.
extension Draft {
    /// Makes every page that the draft reaches and that lies in one of some chunks its own, which then lies elsewhere. Blobs stay
    /// unless they are evacuated too.
    ///
    /// Complexity: O(pages), of which only groups, nodes and the directories of indexes are looked at.
    ///
    /// - Parameter victims: for each chunk, whether it is one. Constant pages are in none.
    mutating func evacuate(_ victims: [Bool]) {
        if Self.has(victims, directory) { _ = ownedDirectory() }
        evacuateNodes(victims, reader.sharedBlobs) { draft in
            (draft.ownedDirectory() + DirectoryPage.sharedBlobsOffset).assumingMemoryBound(to: RadixVector.self)
        }
        for table in layout.tables {
            let page = chunks[directory].load(fromByteOffset: DirectoryPage.tablesOffset + 4 * table.index, as: PageRef.self)
            if Self.has(victims, page) { _ = ownedTable(table.index) }
            let indexes = table.indexes.map { TablePage.indexesOffset + TablePage.indexStride * $0.number }
            for offset in [TablePage.rowsOffset, TablePage.virtualPagesOffset, TablePage.freeOffset] + indexes {
                evacuateNodes(victims, reader.vector(table.index, offset)) { draft in
                    (draft.ownedTable(table.index) + offset).assumingMemoryBound(to: RadixVector.self)
                }
            }
            evacuateGroups(victims, table)
            for index in table.indexes { evacuateBuckets(victims, table, index) }
        }
        evacuateIndexes(victims)
        if reader.registerReference(of: layout) != 0 { inRegister { $0.evacuate(victims) } }
    }

    /// The same for blobs. Complexity: O(objects).
    mutating func evacuateBlobs(_ victims: [Bool]) {
        var moved: [PageRef: PageRef] = [:]
        for table in layout.tables {
            for slot in table.columns.indices where table.columns[slot] == .string {
                for index in 0..<reader.groupCount(table.index) {
                    evacuateBlobs(victims, table.index, UInt32(index) << PageLayout.rowShift, slot, &moved)
                }
            }
        }
        if reader.registerReference(of: layout) != 0 { inRegister { $0.evacuateBlobs(victims) } }
    }

    private mutating func evacuateBlobs(
        _ victims: [Bool], _ table: Int, _ row: UInt32, _ slot: Int, _ moved: inout [PageRef: PageRef]
    ) {
        guard let group = reader.rows(table).group(at: Int(row >> PageLayout.rowShift)) else { return }
        let leaf = reader.rows(table).leaf(group, slot)
        for place in 0..<UInt32(PageLayout.fanOut) {
            let cell = StringLeaf.cell(leaf, place)
            guard cell != 0, StringLeaf.isBlob(cell) else { continue }
            let old = StringLeaf.blob(leaf, cell).page
            if moved[old] == nil, !hasBlob(victims, old) { continue }
            let new = moved[old] ?? moveBlob(old)
            moved[old] = new
            let owned = ownedLeaf(ownedGroup(table, row), slot, .stringLeaf)
            (owned + Int(cell & 0xFFFF)).storeBytes(of: new, as: PageRef.self)
        }
    }

    private func hasBlob(_ victims: [Bool], _ page: PageRef) -> Bool {
        let head = Blob.head(page, chunks).head
        return Self.has(victims, page) || (0..<Blob.extentCount(head)).contains { Self.has(victims, Blob.extent(head, $0)) }
    }

    private static func has(_ victims: [Bool], _ page: PageRef) -> Bool {
        let chunk = Int(page >> 12)
        return page != 0 && chunk < victims.count && victims[chunk]
    }

    private mutating func evacuateNodes(
        _ victims: [Bool], _ vector: RadixVector, _ owned: (inout Draft) -> UnsafeMutablePointer<RadixVector>
    ) {
        for index in vector.indices(below: chunks, where: { Self.has(victims, $0) }) {
            let vector = owned(&self)
            _ = slot(&vector.pointee, index)
        }
    }

    private mutating func evacuateGroups(_ victims: [Bool], _ table: TableLayout) {
        for index in 0..<reader.groupCount(table.index) {
            let page = reader.vector(table.index, TablePage.rowsOffset).get(index, chunks)
            guard page != 0 else { continue }
            let row = UInt32(index) << PageLayout.rowShift
            if Self.has(victims, page) { _ = ownedGroup(table.index, row) }
            let group = reader.rows(table.index).group(row)
            for slot in table.columns.indices {
                let leaf = group.load(fromByteOffset: GroupLayout.columnsOffset + 4 * slot, as: PageRef.self)
                if Self.has(victims, leaf) { _ = ownedLeaf(ownedGroup(table.index, row), slot) }
            }
        }
    }

    private mutating func evacuateBuckets(_ victims: [Bool], _ table: TableLayout, _ index: IndexLayout) {
        let offset = TablePage.indexesOffset + TablePage.indexStride * index.number
        let bits = reader.tablePage(table.index).load(fromByteOffset: offset + TablePage.indexBitsOffset, as: UInt32.self)
        for place in 0..<1 << Int(bits) {
            var bucket = reader.vector(table.index, offset).get(place, chunks)
            var isVictim = false
            var overflowCount = 0
            while bucket != 0 {
                chunks.countOverflow(&overflowCount)
                isVictim = isVictim || Self.has(victims, bucket)
                bucket = Bucket(chunks[bucket]).overflow
            }
            guard isVictim else { continue }
            var reference = ownedBucketSlot(table.index, index.number, bits == 0 ? 0 : UInt64(place) << UInt64(64 - bits))
            overflowCount = 0
            while reference.pointee != 0 {
                chunks.countOverflow(&overflowCount)
                own(&reference.pointee, .bucket)
                reference = (chunks[reference.pointee] + Bucket.overflowOffset).assumingMemoryBound(to: PageRef.self)
            }
        }
    }
}

extension RadixVector {
    /// For each node of which something is true, an index on the way to which it lies. A node without elements below has none.
    func indices(below chunks: Chunks, where body: (PageRef) -> Bool) -> [Int] {
        var indices: [Int] = []
        guard height > 0, root != 0 else { return [] }
        var pending = [(node: root, level: Int(height) - 1, first: 0)]
        while let (node, level, first) = pending.popLast() {
            if body(node) {
                // At the lowest level any element will do.
                if let index = level == 0 ? first : firstIndex(from: first, chunks) { indices.append(index) }
            }
            if level == 0 { continue }
            for slot in 0..<PageLayout.fanOut {
                let child = chunks[node].load(fromByteOffset: PageLayout.header + 4 * slot, as: UInt32.self)
                if child != 0 { pending.append((child, level - 1, first + slot << (level * PageLayout.fanOutShift))) }
            }
        }
        return indices
    }
}
