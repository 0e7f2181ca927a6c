extension Draft {
    /// Adds a row under its hash. An index of a draft is a multimap; duplicates are found at commit.
    mutating func addEntry(_ table: Int, _ index: Int, hash: UInt64, row: UInt32) {
        countEntry(table, index, by: 1)
        while true {
            let slot = ownedBucketSlot(table, index, hash)
            let bucket = Bucket(chunks[slot.pointee])
            let fragment = Bucket.fragment(hash)
            if bucket.count < Bucket.capacity { return bucket.add(fragment, row) }
            if isCrowded(bucket, fragment) { return addToOverflow(bucket, fragment, row) }
            split(table, index, slot.pointee, hash)
        }
    }

    /// Removes a row from under the hash that it was added with.
    mutating func removeEntry(_ table: Int, _ index: Int, hash: UInt64, row: UInt32) {
        countEntry(table, index, by: -1)
        var reference = ownedBucketSlot(table, index, hash)
        while true {
            let bucket = chunks[reference.pointee]
            if Bucket(bucket).remove(Bucket.fragment(hash), row) { return }
            let overflow = (bucket + Bucket.overflowOffset).assumingMemoryBound(to: PageRef.self)
            precondition(overflow.pointee != 0, "A row that is in the graph is in each index that covers it.")
            own(&overflow.pointee)
            reference = overflow
        }
    }

    /// Has the entry of a row lead to another one with the same key.
    mutating func replaceEntry(_ table: Int, _ index: Int, hash: UInt64, row: UInt32, by other: UInt32) {
        var reference = ownedBucketSlot(table, index, hash)
        while !Bucket(chunks[reference.pointee]).replace(Bucket.fragment(hash), row, by: other) {
            let overflow = (chunks[reference.pointee] + Bucket.overflowOffset).assumingMemoryBound(to: PageRef.self)
            precondition(overflow.pointee != 0, "A row that is in the graph is in each index that covers it.")
            own(&overflow.pointee)
            reference = overflow
        }
    }

    mutating func countEntry(_ table: Int, _ index: Int, by step: Int) {
        let offset = TablePage.indexesOffset + TablePage.indexStride * index + TablePage.indexEntryCountOffset
        let count = (ownedTable(table) + offset).assumingMemoryBound(to: Int.self)
        count.pointee += step
    }

    mutating func ownedBucketSlot(_ table: Int, _ index: Int, _ hash: UInt64) -> UnsafeMutablePointer<PageRef> {
        let place = ownedTable(table) + TablePage.indexesOffset + TablePage.indexStride * index
        let bits = place.load(fromByteOffset: TablePage.indexBitsOffset, as: UInt32.self)
        let vector = place.assumingMemoryBound(to: RadixVector.self)
        let slot = slot(&vector.pointee, bits == 0 ? 0 : Int(hash >> UInt64(64 - bits)))
        if slot.pointee == 0 { slot.pointee = newBucket(depth: 0) } else { ownShared(slot, vector, bits, hash) }
        return slot
    }

    /// Owns a bucket that several slots of the directory may point to: all of them have to point to the copy.
    private mutating func ownShared(
        _ slot: UnsafeMutablePointer<PageRef>, _ vector: UnsafeMutablePointer<RadixVector>, _ bits: UInt32, _ hash: UInt64
    ) {
        let old = slot.pointee
        own(&slot.pointee)
        guard slot.pointee != old else { return }
        let new = slot.pointee
        let depth = Bucket(chunks[new]).depth
        let span = 1 << (Int(bits) - depth)
        guard span > 1 else { return }
        let first = Int(hash >> UInt64(64 - bits)) & ~(span - 1)
        for place in first..<first + span { self.slot(&vector.pointee, place).pointee = new }
    }

    private mutating func newBucket(depth: Int) -> PageRef {
        let page = allocate(Bucket.byteCount, .bucket)
        Bucket(chunks[page]).reset(depth: depth)
        return page
    }

    /// Whether splitting would not help: the bucket is as deep as can be, or mostly of one hash.
    func isCrowded(_ bucket: Bucket, _ fragment: UInt16) -> Bool {
        if bucket.overflow != 0 || bucket.depth >= Bucket.depthMax { return true }
        var sameCount = 0
        bucket.forEach { other, _ in if other == fragment { sameCount += 1 } }
        return sameCount > Bucket.capacity / 2
    }

    mutating func addToOverflow(_ first: Bucket, _ fragment: UInt16, _ row: UInt32) {
        let reference = (first.page + Bucket.overflowOffset).assumingMemoryBound(to: PageRef.self)
        if reference.pointee != 0 { own(&reference.pointee) }
        if reference.pointee == 0 || Bucket(chunks[reference.pointee]).count == Bucket.capacity {
            let page = newBucket(depth: first.depth)
            chunks[page].storeBytes(of: reference.pointee, toByteOffset: Bucket.overflowOffset, as: PageRef.self)
            reference.pointee = page
        }
        Bucket(chunks[reference.pointee]).add(fragment, row)
    }

    /// Replaces a bucket, which need not be the draft's own, by two that have half of its hashes each.
    @inline(never)
    mutating func split(_ table: Int, _ index: Int, _ page: PageRef, _ hash: UInt64) {
        let depth = Bucket(chunks[page]).depth
        let place = ownedTable(table) + TablePage.indexesOffset + TablePage.indexStride * index
        if depth == Int(place.load(fromByteOffset: TablePage.indexBitsOffset, as: UInt32.self)) { doubleDirectory(place) }
        let bits = Int(place.load(fromByteOffset: TablePage.indexBitsOffset, as: UInt32.self))
        let lower = newBucket(depth: depth + 1)
        let upper = newBucket(depth: depth + 1)
        distribute(Bucket(chunks[page]), Bucket(chunks[lower]), Bucket(chunks[upper]), depth, table, layout.tables[table].indexes[index])
        let span = 1 << (bits - depth)
        let first = Int(hash >> UInt64(64 - bits)) & ~(span - 1)
        let vector = place.assumingMemoryBound(to: RadixVector.self)
        for slot in first..<first + span {
            self.slot(&vector.pointee, slot).pointee = slot < first + span / 2 ? lower : upper
        }
        discard(page)
    }

    /// Puts the entries of a bucket in two others, by the bit of their hash at its depth.
    private func distribute(_ bucket: Bucket, _ lower: Bucket, _ upper: Bucket, _ depth: Int, _ table: Int, _ index: IndexLayout) {
        if depth >= 8, depth < 24 {
            let mask: UInt16 = 1 << UInt16(23 - depth)
            return bucket.forEach { fragment, row in (fragment & mask != 0 ? upper : lower).add(fragment, row) }
        }
        let reader = reader
        let rows = reader.rows(table)
        bucket.forEach { fragment, row in
            let bit = (reader.keyHash(index, rows, row) ?? 0) >> UInt64(63 - depth) & 1
            (bit == 1 ? upper : lower).add(fragment, row)
        }
    }

    /// Gives the directory one more bit: each slot becomes two that point to the same bucket.
    private mutating func doubleDirectory(_ place: UnsafeMutableRawPointer) {
        let old = place.load(as: RadixVector.self)
        let bits = place.load(fromByteOffset: TablePage.indexBitsOffset, as: UInt32.self)
        var new = RadixVector.empty
        for index in 0..<(1 << Int(bits)) {
            let bucket = old.get(index, chunks)
            slot(&new, 2 * index).pointee = bucket
            slot(&new, 2 * index + 1).pointee = bucket
        }
        discard(old)
        place.storeBytes(of: new, as: RadixVector.self)
        place.storeBytes(of: bits + 1, toByteOffset: TablePage.indexBitsOffset, as: UInt32.self)
    }
}
