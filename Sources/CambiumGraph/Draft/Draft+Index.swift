extension Draft {
    /// Adds a row to an index, under the hash of the row's key. During a transaction, an index may have several rows with one key. The
    /// commit finds these duplicates.
    mutating func addEntry(_ table: Int, _ index: Int, hash: UInt64, row: UInt32) {
        countEntry(table, index, by: 1)
        let fragment = Bucket.fragment(hash)
        let found = reader.bucket(table, index, hash)
        // Only pages that the draft owns refer to a page that the draft owns. So the draft owns all pages on the path to this bucket, and
        // the entry can be added in place.
        if found != 0, chunks.birth(found) == trustedEpoch, Bucket(chunks[found]).count < Bucket.capacity {
            return Bucket(chunks[found]).add(fragment, row)
        }
        while true {
            let slot = ownedBucketSlot(table, index, hash)
            let bucket = Bucket(chunks[slot.pointee])
            if bucket.count < Bucket.capacity { return bucket.add(fragment, row) }
            if takesOverflow(bucket, fragment) { return addToOverflow(slot.pointee, fragment, row) }
            split(table, index, slot.pointee, hash)
        }
    }

    /// Removes the entry of a row. `hash` must be the hash with which the entry was added.
    mutating func removeEntry(_ table: Int, _ index: Int, hash: UInt64, row: UInt32) {
        countEntry(table, index, by: -1)
        let fragment = Bucket.fragment(hash)
        let first = ownedBucketSlot(table, index, hash)
        if !crowds.isEmpty, let page = crowds[first.pointee]?.page(of: row), Bucket(chunks[page]).remove(fragment, row) {
            return refill(first.pointee, page, fragment, row)
        }
        var reference = first
        var overflowCount = 0
        while true {
            let bucket = Bucket(chunks[reference.pointee])
            if bucket.remove(fragment, row) {
                let page = reference.pointee
                moveToFront(Bucket(chunks[first.pointee]), reference)
                refill(first.pointee, page, fragment, row)
                if overflowCount > CrowdPlaces.shortWalk { noteWalk(first.pointee, overflowCount) }
                return
            }
            let overflow = bucket.overflowReference
            if overflow.pointee == 0 { chunks.refuse("a row is not in an index that covers it") }
            chunks.countOverflow(&overflowCount)
            own(&overflow.pointee, .bucket)
            reference = overflow
        }
    }

    /// Replaces `row` in its entry with another row with the same key.
    mutating func replaceEntry(_ table: Int, _ index: Int, hash: UInt64, row: UInt32, by other: UInt32) {
        var reference = ownedBucketSlot(table, index, hash)
        if !crowds.isEmpty { crowds[reference.pointee] = nil }
        var overflowCount = 0
        while !Bucket(chunks[reference.pointee]).replace(Bucket.fragment(hash), row, by: other) {
            let overflow = Bucket(chunks[reference.pointee]).overflowReference
            if overflow.pointee == 0 { chunks.refuse("a row is not in an index that covers it") }
            chunks.countOverflow(&overflowCount)
            own(&overflow.pointee, .bucket)
            reference = overflow
        }
    }

    mutating func countEntry(_ table: Int, _ index: Int, by step: Int) {
        count(&ownedTable(table).index(index).entryCount, by: step)
    }

    mutating func ownedBucketSlot(_ table: Int, _ index: Int, _ hash: UInt64) -> UnsafeMutablePointer<PageRef> {
        let record = ownedTable(table).index(index)
        let slot = slot(&record.directory, record.slot(of: hash))
        if slot.pointee == 0 { slot.pointee = newBucket(depth: 0) } else { ownShared(slot, record, hash) }
        return slot
    }

    /// Copies a bucket unless the draft owns it. If several slots of the index's directory refer to the bucket, all of them then refer to
    /// the copy.
    private mutating func ownShared(_ slot: UnsafeMutablePointer<PageRef>, _ record: HashIndexRecord, _ hash: UInt64) {
        let old = slot.pointee
        own(&slot.pointee, .bucket)
        guard slot.pointee != old else { return }
        let new = slot.pointee
        let depth = Bucket(chunks[new]).depth
        let span = 1 << (record.bits - depth)
        guard span > 1 else { return }
        let first = record.slot(of: hash) & ~(span - 1)
        for place in first..<first + span { self.slot(&record.directory, place).pointee = new }
    }

    mutating func newBucket(depth: Int) -> PageRef {
        let page = allocate(Bucket.byteCount, .bucket)
        Bucket(chunks[page]).reset(depth: depth)
        return page
    }

    /// Replaces a bucket with two new buckets, and divides the range of its hashes between them. The old bucket is not changed, because a
    /// published version may still use it.
    @inline(never)
    mutating func split(_ table: Int, _ index: Int, _ page: PageRef, _ hash: UInt64) {
        if !space.isProven { space.checkCopied(page, chunks[page], .bucket, Bucket.byteCount) }
        let depth = Bucket(chunks[page]).depth
        let record = ownedTable(table).index(index)
        if depth > record.bits { chunks.refuse("a bucket uses more bits of the hash than the directory of its index") }
        if depth == record.bits { doubleDirectory(record) }
        let lower = newBucket(depth: depth + 1)
        let upper = newBucket(depth: depth + 1)
        let (bucket, layout) = (Bucket(chunks[page]), layout.tables[table].indexes[index])
        if bucket.overflow == 0 {
            distribute(bucket, Bucket(chunks[lower]), Bucket(chunks[upper]), depth, table, layout)
        } else {
            distributeOverflow(bucket, lower, upper, depth, table, layout)
        }
        let span = 1 << (record.bits - depth)
        let first = record.slot(of: hash) & ~(span - 1)
        for slot in first..<first + span {
            self.slot(&record.directory, slot).pointee = slot < first + span / 2 ? lower : upper
        }
        discardBucket(page)
    }

    /// Distributes the entries of a bucket between two other buckets. For each entry, the bit of its hash at the depth of the bucket
    /// decides which bucket gets the entry.
    private func distribute(_ bucket: Bucket, _ lower: Bucket, _ upper: Bucket, _ depth: Int, _ table: Int, _ index: IndexLayout) {
        if depth >= 8, depth < 24 {
            let mask: UInt16 = 1 << UInt16(23 - depth)
            return bucket.forEach { fragment, row in (fragment & mask != 0 ? upper : lower).add(fragment, row) }
        }
        bucket.forEach { fragment, row in (isUpper(fragment, row, depth, table, index) ? upper : lower).add(fragment, row) }
    }

    /// Returns whether bit `depth` of an entry's hash is 1. The highest bit is bit 0.
    func isUpper(_ fragment: UInt16, _ row: UInt32, _ depth: Int, _ table: Int, _ index: IndexLayout) -> Bool {
        if depth >= 8, depth < 24 { return fragment & 1 << UInt16(23 - depth) != 0 }
        return (reader.keyHash(index, reader.rows(table), row) ?? 0) >> UInt64(63 - depth) & 1 == 1
    }

    /// Doubles the directory of an index, so that one more bit of a hash selects a slot. Each slot becomes two slots that refer to the same
    /// bucket.
    private mutating func doubleDirectory(_ record: HashIndexRecord) {
        let old = record.directory
        var new = RadixVector.empty
        for index in 0..<1 << record.bits {
            let bucket = old.get(index, chunks)
            slot(&new, 2 * index).pointee = bucket
            slot(&new, 2 * index + 1).pointee = bucket
        }
        discard(old)
        record.directory = new
        record.bits += 1
    }
}
