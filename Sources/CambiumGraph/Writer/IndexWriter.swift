/// Writes the hash indexes of tables.
struct IndexWriter: ~Copyable {
    var tableWriter: TableWriter
    /// For each bucket with many overflow pages, the pages in which its entries lie. The key is the first page of the bucket. The draft
    /// owns all of these pages.
    var crowds: [PageRef: CrowdPlaces] = [:]

    init(_ tableWriter: consuming TableWriter) { self.tableWriter = tableWriter }

    @inline(__always) private var pageWriter: PageWriter {
        _read { yield tableWriter.pageWriter }
        _modify { yield &tableWriter.pageWriter }
    }
    private var space: PageSpace { tableWriter.space }
    private var chunks: Chunks { tableWriter.chunks }
    private var layout: GraphLayout { tableWriter.layout }
    private var reader: Reader { tableWriter.reader }

    /// Adds a row to an index, under the hash of the row's key. During a transaction, an index may have several rows with one key. The
    /// commit finds these duplicates.
    mutating func addEntry(_ table: Int, _ index: Int, hash: UInt64, row: UInt32) {
        countEntry(table, index, by: 1)
        let fragment = Bucket.fragment(hash)
        let found = reader.bucket(table, index, hash)
        // Only pages that the draft owns refer to a page that the draft owns. So the draft owns all pages on the path to this bucket, and
        // the entry can be added in place.
        if found != 0, chunks.birth(found) == pageWriter.trustedEpoch, Bucket(chunks[found]).count < Bucket.capacity {
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
                if overflowCount > CrowdPlaces.shortWalk { trackWalk(first.pointee, overflowCount) }
                return
            }
            let overflow = bucket.overflowReference
            if overflow.pointee == 0 { chunks.refuse("a row is not in an index that covers it") }
            chunks.countOverflow(&overflowCount)
            pageWriter.own(&overflow.pointee, .bucket)
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
            pageWriter.own(&overflow.pointee, .bucket)
            reference = overflow
        }
    }

    mutating func countEntry(_ table: Int, _ index: Int, by step: Int) {
        tableWriter.count(&tableWriter.ownedTable(table).index(index).entryCount, by: step)
    }

    mutating func ownedBucketSlot(_ table: Int, _ index: Int, _ hash: UInt64) -> UnsafeMutablePointer<PageRef> {
        let record = tableWriter.ownedTable(table).index(index)
        let slot = pageWriter.slot(&record.directory, record.slot(of: hash))
        if slot.pointee == 0 { slot.pointee = newBucket(depth: 0) } else { ownShared(slot, record, hash) }
        return slot
    }

    /// Copies a bucket unless the draft owns it. If several slots of the index's directory refer to the bucket, all of them then refer to
    /// the copy.
    private mutating func ownShared(_ slot: UnsafeMutablePointer<PageRef>, _ record: HashIndexRecord, _ hash: UInt64) {
        let old = slot.pointee
        pageWriter.own(&slot.pointee, .bucket)
        guard slot.pointee != old else { return }
        let new = slot.pointee
        let depth = Bucket(chunks[new]).depth
        let span = 1 << (record.bits - depth)
        guard span > 1 else { return }
        let first = record.slot(of: hash) & ~(span - 1)
        for place in first..<first + span { pageWriter.slot(&record.directory, place).pointee = new }
    }

    mutating func newBucket(depth: Int) -> PageRef {
        let page = pageWriter.allocate(Bucket.byteCount, .bucket)
        Bucket(chunks[page]).reset(depth: depth)
        return page
    }

    /// Replaces a bucket with two new buckets, and divides the range of its hashes between them. The old bucket is not changed, because a
    /// published version may still use it.
    @inline(never)
    mutating func split(_ table: Int, _ index: Int, _ page: PageRef, _ hash: UInt64) {
        if !space.isProven { space.checkCopied(page, chunks[page], .bucket, Bucket.byteCount) }
        let depth = Bucket(chunks[page]).depth
        let record = tableWriter.ownedTable(table).index(index)
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
            pageWriter.slot(&record.directory, slot).pointee = slot < first + span / 2 ? lower : upper
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
            pageWriter.slot(&new, 2 * index).pointee = bucket
            pageWriter.slot(&new, 2 * index + 1).pointee = bucket
        }
        pageWriter.discard(old)
        record.directory = new
        record.bits += 1
    }
}

// MARK: - Overflow pages

/// Lets a bucket of an index have more entries than one page holds. Most entries of such a bucket have the same hash, because their rows
/// have the same key. These entries form the *crowd* of the bucket. Several rows can have the same key only within a transaction, because
/// each key is unique at the end of the transaction.
///
/// All pages except the first overflow page are full, and few entries are outside the crowd. So a bucket has only as many pages as its
/// entries need. The bucket becomes an ordinary bucket as soon as its entries fit into one page.
extension IndexWriter {
    /// Returns whether a full bucket stores its next entry in an overflow page. Otherwise, the caller splits the bucket. A split does not
    /// help if it would move few entries or none.
    func takesOverflow(_ bucket: Bucket, _ fragment: UInt16) -> Bool {
        if bucket.depth >= Bucket.depthMax { return true }
        if bucket.overflow != 0 {
            return bucket.otherCount + (fragment == bucket.crowdFragment ? 0 : 1) < Bucket.otherCountMax
        }
        return !bucket.isSpread && bucket.crowd().otherCount < Bucket.otherCountMax
    }

    /// Adds an entry to a full bucket that must not be split. The draft owns the first page of the bucket, `firstPage`.
    mutating func addToOverflow(_ firstPage: PageRef, _ fragment: UInt16, _ row: UInt32) {
        let first = Bucket(chunks[firstPage])
        let reference = first.overflowReference
        if reference.pointee == 0 { first.markCrowded() } else { pageWriter.own(&reference.pointee, .bucket) }
        if reference.pointee == 0 || Bucket(chunks[reference.pointee]).count == Bucket.capacity {
            let page = newBucket(depth: first.depth)
            Bucket(chunks[page]).overflow = reference.pointee
            reference.pointee = page
            countOverflowPages(of: first, by: 1)
        }
        Bucket(chunks[reference.pointee]).add(fragment, row)
        if !crowds.isEmpty { crowds[firstPage]?.track(row, at: reference.pointee) }
        if fragment != first.crowdFragment { first.otherCount += 1 }
    }

    /// Fills the gap of a removed entry with an entry of the first overflow page. Releases the overflow page once it is empty.
    ///
    /// - Parameters:
    ///   - firstPage: The first page of the bucket, which the draft owns.
    ///   - page: The page with the gap, which the draft owns.
    ///   - fragment: The fragment of the removed entry: the 16 bits of the key's hash that the entry stores.
    ///   - row: The row of the removed entry.
    mutating func refill(_ firstPage: PageRef, _ page: PageRef, _ fragment: UInt16, _ row: UInt32) {
        let first = Bucket(chunks[firstPage])
        let overflow = first.overflowReference
        if overflow.pointee == 0 { return }
        if !crowds.isEmpty { crowds[firstPage]?.track(row, at: nil) }
        if fragment != first.crowdFragment { first.otherCount -= 1 }
        pageWriter.own(&overflow.pointee, .bucket)
        let source = Bucket(chunks[overflow.pointee])
        if page != overflow.pointee, let (fragment, row) = source.takeAny() {
            Bucket(chunks[page]).add(fragment, row)
            if !crowds.isEmpty { crowds[firstPage]?.track(row, at: page == firstPage ? nil : page) }
        }
        if source.count > 0 { return }
        let emptied = overflow.pointee
        overflow.pointee = source.overflow
        countOverflowPages(of: first, by: -1)
        crowds[firstPage]?.forget(emptied)
        if overflow.pointee == 0 { crowds[firstPage] = nil }
        pageWriter.discard(emptied)
    }

    /// Counts a long walk through the overflow pages of a bucket. Records the page of each entry in a `CrowdPlaces` if such walks are
    /// frequent.
    mutating func trackWalk(_ firstPage: PageRef, _ pageCount: Int) {
        let first = Bucket(chunks[firstPage])
        if first.overflow == 0 { return }
        guard crowds[firstPage, default: CrowdPlaces()].trackWalk(pageCount, of: first.overflowPageCount) else { return }
        var reference = first.overflowReference
        var overflowCount = 0
        while reference.pointee != 0 {
            chunks.countOverflow(&overflowCount)
            pageWriter.own(&reference.pointee, .bucket)
            let bucket = Bucket(chunks[reference.pointee])
            crowds[firstPage]?.collect(reference.pointee, bucket)
            reference = bucket.overflowReference
        }
    }

    /// Moves an overflow page of a bucket directly after the first overflow page. The first overflow page stays in front, because only this
    /// page may have space for more entries.
    ///
    /// Rows with the same key are usually removed in the order in which they were added. Then the next removal finds its row in the moved
    /// page, so only one removal for each page walks through the whole chain. `CrowdPlaces` speeds up removals in any other order.
    ///
    /// - Parameters:
    ///   - first: The first page of the bucket, which the draft owns.
    ///   - reference: The reference to the page. The draft owns all pages up to this page.
    func moveToFront(_ first: Bucket, _ reference: UnsafeMutablePointer<PageRef>) {
        let front = first.overflowReference.pointee
        let page = reference.pointee
        guard front != 0, page != front, chunks[page] != first.page else { return }
        let (afterFront, afterPage) = (Bucket(chunks[front]).overflowReference, Bucket(chunks[page]).overflowReference)
        if afterFront == reference { return }
        reference.pointee = afterPage.pointee
        afterPage.pointee = afterFront.pointee
        afterFront.pointee = page
    }

    /// Distributes the entries of a bucket with overflow pages between two other buckets.
    mutating func distributeOverflow(
        _ bucket: Bucket, _ lower: PageRef, _ upper: PageRef, _ depth: Int, _ table: Int, _ index: IndexLayout
    ) {
        var crowd: [(fragment: UInt16, row: UInt32)] = []
        var others: [(fragment: UInt16, row: UInt32)] = []
        var page = bucket
        while true {
            page.forEach { fragment, row in
                if fragment == bucket.crowdFragment { crowd.append((fragment, row)) } else { others.append((fragment, row)) }
            }
            if page.overflow == 0 { break }
            page = Bucket(chunks[page.overflow])
        }
        // The entries of the crowd come first. So if a new bucket becomes full, its crowd has the same fragment (a part of the hash) as the
        // crowd of the old bucket.
        for (fragment, row) in crowd + others {
            let halfPage = isUpper(fragment, row, depth, table, index) ? upper : lower
            let half = Bucket(chunks[halfPage])
            if half.count < Bucket.capacity { half.add(fragment, row) } else { addToOverflow(halfPage, fragment, row) }
        }
    }

    /// Releases the pages of a bucket.
    mutating func discardBucket(_ bucket: PageRef) {
        if !crowds.isEmpty { crowds[bucket] = nil }
        var page = bucket
        while page != 0 {
            let next = Bucket(chunks[page]).overflow
            pageWriter.discard(page)
            page = next
        }
    }

    /// Changes the number of overflow pages of a bucket. A page that has not been proven valid may state a wrong number.
    private func countOverflowPages(of first: Bucket, by step: Int) {
        guard let count = UInt32(exactly: first.overflowPageCount + step) else {
            chunks.refuse("a bucket states a wrong number of overflow pages")
        }
        first.overflowPageCount = Int(count)
    }
}

// MARK: - Many rows

extension IndexWriter {
    /// Adds new edges to the index of their table. This index finds the edge between two objects, and must not contain the new edges yet.
    mutating func addToIndex(_ table: TableLayout, edges: [UInt32]) {
        let reader = reader
        let rows = reader.rows(table.index)
        var entries = edges.map { reader.edgeHash(rows.link($0, 0), rows.link($0, 1)) & Self.hashMask | UInt64($0) }
        var other: [UInt64] = []
        _ = addEntries(table, table.indexes[0], &entries, &other, isUnique: true)
    }

    /// Sorts entries and adds them to an index, bucket by bucket. An entry consists of the upper half of a key's hash, and the row of the
    /// key.
    ///
    /// - Parameter other: Memory for sorting. The caller can pass the same array again to reuse its memory.
    /// - Returns: The rows whose key was in the index already; empty if `isUnique`.
    mutating func addEntries(
        _ table: TableLayout, _ index: IndexLayout, _ entries: inout [UInt64], _ other: inout [UInt64], isUnique: Bool
    ) -> [UInt32] {
        if !RadixSort.isSorted(entries) { RadixSort.sort(&entries, &other) }
        countEntry(table.index, index.number, by: entries.count)
        var duplicates: [UInt32] = []
        var next = 0
        var distance = Self.prefetchDistanceMin
        while next < entries.count {
            let first = next
            if first + distance < entries.count { reader.prefetchBucket(table.index, index.number, entries[first + distance]) }
            next = fillBucket(table, index, entries, from: first, isUnique: isUnique, &duplicates)
            distance = max(Self.prefetchDistanceMin, 2 * (next - first))
        }
        return duplicates
    }

    private static let prefetchDistanceMin = 12

    /// The bits of an entry that belong to the hash: all bits that select a bucket, and the fragment that the bucket stores.
    static let hashMask: UInt64 = 0xFFFF_FFFF_0000_0000

    /// Adds entries to the bucket of the first entry until the bucket is full or an entry belongs to another bucket. Returns the index of
    /// the next entry.
    private mutating func fillBucket(
        _ table: TableLayout, _ index: IndexLayout, _ entries: [UInt64], from first: Int, isUnique: Bool,
        _ duplicates: inout [UInt32]
    ) -> Int {
        let hash = entries[first] & Self.hashMask
        let old = reader.bucket(table.index, index.number, hash)
        if old != 0, chunks.birth(old) != pageWriter.epoch, hasTooMany(Bucket(chunks[old]), entries, first) {
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
                duplicates.append(row)
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
