/// Lets a bucket of an index have more entries than one page holds. Most entries of such a bucket have the same hash, because their rows
/// have the same key. These entries form the *crowd* of the bucket. Several rows can have the same key only within a transaction, because
/// each key is unique at the end of the transaction.
///
/// All pages except the first overflow page are full, and few entries are outside the crowd. So a bucket has only as many pages as its
/// entries need. The bucket becomes an ordinary bucket as soon as its entries fit into one page.
extension Draft {
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
        if reference.pointee == 0 { first.noteCrowd() } else { own(&reference.pointee, .bucket) }
        if reference.pointee == 0 || Bucket(chunks[reference.pointee]).count == Bucket.capacity {
            let page = newBucket(depth: first.depth)
            Bucket(chunks[page]).overflow = reference.pointee
            reference.pointee = page
            countOverflowPages(of: first, by: 1)
        }
        Bucket(chunks[reference.pointee]).add(fragment, row)
        if !crowds.isEmpty { crowds[firstPage]?.note(row, at: reference.pointee) }
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
        if !crowds.isEmpty { crowds[firstPage]?.note(row, at: nil) }
        if fragment != first.crowdFragment { first.otherCount -= 1 }
        own(&overflow.pointee, .bucket)
        let source = Bucket(chunks[overflow.pointee])
        if page != overflow.pointee, let (fragment, row) = source.takeAny() {
            Bucket(chunks[page]).add(fragment, row)
            if !crowds.isEmpty { crowds[firstPage]?.note(row, at: page == firstPage ? nil : page) }
        }
        if source.count > 0 { return }
        let emptied = overflow.pointee
        overflow.pointee = source.overflow
        countOverflowPages(of: first, by: -1)
        crowds[firstPage]?.forget(emptied)
        if overflow.pointee == 0 { crowds[firstPage] = nil }
        discard(emptied)
    }

    /// Counts a long walk through the overflow pages of a bucket. Records the page of each entry in a `CrowdPlaces` if such walks are
    /// frequent.
    mutating func noteWalk(_ firstPage: PageRef, _ pageCount: Int) {
        let first = Bucket(chunks[firstPage])
        if first.overflow == 0 { return }
        guard crowds[firstPage, default: CrowdPlaces()].noteWalk(pageCount, of: first.overflowPageCount) else { return }
        var reference = first.overflowReference
        var overflowCount = 0
        while reference.pointee != 0 {
            chunks.countOverflow(&overflowCount)
            own(&reference.pointee, .bucket)
            let page = reference.pointee
            crowds[firstPage]?.collect(page, Bucket(chunks[page]))
            reference = Bucket(chunks[page]).overflowReference
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
            discard(page)
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
