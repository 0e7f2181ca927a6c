package import CambiumModel

#if canImport(Glibc)
    import Glibc
#endif

/// A graph that a writer changes. Only drafts write to pages. A draft that is dropped without being published has no effect.
///
/// The birth of a page is the epoch of the draft that created it. A draft writes only to pages that it created: pages whose birth is the
/// epoch of the draft. It copies any other page first. No reader sees a change of the draft before `Timeline.publish`.
package struct Draft: ~Copyable {
    let space: PageSpace
    let chunks: Chunks
    let epoch: UInt64
    /// The epoch of the pages that the draft may write without another check. In a graph that has not been proven valid, no page has this
    /// epoch. In such a graph, each page is checked, because a forged reference could lead to a page of another kind.
    let trustedEpoch: UInt64
    let base: Version
    var layout: GraphLayout
    /// The number of the current transaction: one more than the number of the last transaction in the original graph, unless a caller sets
    /// another number.
    package var transaction: UInt64
    /// The maximum number of applied requests in the register (requests and labels).
    let requestCountMax: Int
    /// The page from which a reader reaches all other pages.
    var directory: PageRef
    /// The conditions that must hold at commit and have not been checked yet.
    var pending = PendingChecks()
    /// The objects whose derived attributes are not up to date.
    var derived = DerivedNotes()
    /// The rows that changed, or `nil` if no ops will be derived from them.
    var touched: TouchedRows?
    /// The error of a change that threw after it had written to a page. Such an error makes the draft unusable. Drafts are moved often and
    /// must be small, so the type is `any Error`, which is only a reference.
    private var failure: (any Error)?
    /// Whether the current change has written to a page.
    private var hasWritten = false
    private var superseded: PageList
    private var born: PageList
    private var isPublished = false
    private var groupCache = GroupCache()
    /// For each bucket with many overflow pages, the pages in which its entries lie. The key is the first page of the bucket. The draft
    /// owns all of these pages.
    var crowds: [PageRef: CrowdPlaces] = [:]

    /// The group of rows to which the draft wrote last. The next write probably needs the same group.
    private struct GroupCache {
        var table = -1
        var index: UInt32 = 0
        var pointer = UnsafeMutableRawPointer(bitPattern: 16)
    }

    init(of base: Version, epoch: UInt64, requestCountMax: Int) {
        self.requestCountMax = requestCountMax
        space = base.space
        chunks = base.space.chunks
        self.epoch = epoch
        trustedEpoch = base.space.isProven ? epoch : .max - 1
        self.base = base
        layout = base.layout
        directory = base.directory
        transaction = base.reader.transaction + 1
        superseded = base.space.takeList()
        born = base.space.takeList()
    }

    /// Creates a draft that continues the changes of another draft on separate pages. The new draft is never published. It reads pages of
    /// the other draft, so it must not outlive that draft.
    ///
    /// - Parameter epoch: A number that no other draft has.
    init(continuing other: borrowing Draft, epoch: UInt64) {
        self.init(of: other.base, epoch: epoch, requestCountMax: other.requestCountMax)
        layout = other.layout
        directory = other.directory
        transaction = other.transaction
        pending = other.pending
        derived = other.derived
    }

    deinit {
        if isPublished { return }
        // A page that was released and allocated again is in the list twice. The first release changes the epoch in its header, so the loop
        // releases it only once.
        for page in born.elements where chunks.birth(page) == epoch { space.release(page) }
    }

    package var schema: Schema { layout.schema }

    /// The graph that the draft was made from.
    package var original: Graph { Graph(version: base) }

    var reader: Reader { Reader(chunks: chunks, directory: directory) }

    var supersededPages: ArraySlice<PageRef> { superseded.elements }

    mutating func takeSuperseded() -> PageList {
        defer { superseded = PageList() }
        return superseded
    }

    mutating func takeBorn() -> PageList {
        defer { born = PageList() }
        return born
    }

    /// Writes the transaction number into the directory page.
    mutating func stamp() {
        ownedDirectory().storeBytes(of: transaction, toByteOffset: DirectoryPage.transactionOffset, as: UInt64.self)
    }

    mutating func markPublished() { isPublished = true }
}

// MARK: - All or nothing

extension Draft {
    /// Runs a change that checks everything before it writes, so that the change takes effect as a whole or not at all.
    ///
    /// If the change throws after it has written to a page, the draft has failed: it refuses all later changes, and it cannot be published.
    @inline(__always)
    mutating func atomically(_ change: (inout Draft) throws(CambiumError) -> Void) throws(CambiumError) {
        try checkUsable()
        hasWritten = false
        // Writes to the cached group skip the code that sets `hasWritten`. Without a cached group, the first write runs this code.
        forgetGroup()
        do throws(CambiumError) {
            try change(&self)
        } catch {
            if hasWritten { failure = error }
            throw error
        }
    }

    /// Throws `.notWritable` if an earlier change in this draft failed after it had written to a page.
    @inline(__always)
    package borrowing func checkUsable() throws(CambiumError) {
        if failure != nil { throw refusal() }
    }

    @inline(never)
    private borrowing func refusal() -> CambiumError {
        let reason = (failure as? CambiumError)?.message ?? ""
        return CambiumError(
            .notWritable, "The transaction cannot continue, because a change stopped halfway: \(reason) Repeat the transaction.",
            underlying: failure)
    }
}

// MARK: - Pages

extension Draft {
    @inline(__always)
    mutating func allocate(_ byteCount: Int, _ kind: PageKind) -> PageRef {
        allocate(granules: PageLayout.granules(byteCount), kind)
    }

    @inline(__always)
    mutating func allocate(granules: Int, _ kind: PageKind) -> PageRef {
        hasWritten = true
        let page = space.allocate(granules: granules, kind: kind, birth: epoch)
        born.append(page)
        return page
    }

    /// Ensures that the draft may write to a page: if the draft did not create the page, copies it, and sets `page` to the copy.
    ///
    /// - Parameters:
    ///   - kind: The kind of page that the caller writes to; `nil` for any kind.
    ///   - byteCount: The minimum number of bytes that the page must have space for.
    @inline(__always)
    mutating func own(_ page: inout PageRef, _ kind: PageKind? = nil, byteCount: Int = 0) {
        if chunks.birth(page) != trustedEpoch { page = copy(page, kind, byteCount) }
    }

    @inline(never)
    private mutating func copy(_ page: PageRef, _ kind: PageKind?, _ byteCount: Int) -> PageRef {
        let source = chunks[page]
        let birth = source.load(fromByteOffset: PageLayout.birthOffset, as: UInt64.self)
        // The copy gets the tail of the header: the size and the kind of the page. The rest of the tail is the link to the next free page.
        // The 32-bit load omits this link.
        let tail = UInt64(source.load(fromByteOffset: PageLayout.granulesOffset, as: UInt32.self))
        let granules = Int(truncatingIfNeeded: tail & 0xFFFF)
        if !space.isProven {
            space.checkCopied(page, source, kind, byteCount)
            if birth == epoch { return page }
        }
        let copy = space.allocate(tail: tail, granules: granules, birth: epoch)
        born.append(copy)
        memcpy(chunks[copy] + PageLayout.header, source + PageLayout.header, (granules - 1) * PageLayout.granule)
        if birth != 0 { superseded.append(page) }
        return copy
    }

    /// Records that this draft no longer reaches a page. The page is released later. Constant pages, whose headers state epoch 0, are never
    /// released.
    private mutating func supersede(_ page: PageRef) {
        if chunks.birth(page) != 0 { superseded.append(page) }
    }

    /// Releases a page: immediately if the draft created it, otherwise as soon as no version reaches it.
    mutating func discard(_ page: PageRef) {
        if !space.isProven { space.checkCopied(page, chunks[page], nil, 0) }
        if chunks.birth(page) == epoch { space.release(page) } else { supersede(page) }
    }
}

// MARK: - The path from the directory to a leaf

extension Draft {
    @inline(__always)
    mutating func ownedDirectory() -> UnsafeMutableRawPointer {
        hasWritten = true
        if chunks.birth(directory) != epoch { directory = copy(directory, .directory, 0) }
        return chunks[directory]
    }

    @inline(__always)
    mutating func ownedTable(_ table: Int) -> UnsafeMutableRawPointer {
        let slot = (ownedDirectory() + DirectoryPage.tablesOffset + 4 * table).assumingMemoryBound(to: PageRef.self)
        own(&slot.pointee)
        return chunks[slot.pointee]
    }

    @inline(__always)
    mutating func ownedGroup(_ table: Int, _ row: UInt32) -> UnsafeMutableRawPointer {
        let index = row &>> PageLayout.rowShift
        if groupCache.table == table, groupCache.index == index, let pointer = groupCache.pointer { return pointer }
        return ownedGroupByPath(table, index)
    }

    @inline(never)
    private mutating func ownedGroupByPath(_ table: Int, _ index: UInt32) -> UnsafeMutableRawPointer {
        hasWritten = true
        let found = reader.rows(table).group(index &<< PageLayout.rowShift)
        // If the draft created the group, it also created all pages on the path to the group, and need not copy them.
        if found.load(fromByteOffset: PageLayout.birthOffset, as: UInt64.self) == trustedEpoch {
            groupCache = GroupCache(table: table, index: index, pointer: found)
            return found
        }
        let page = ownedTable(table)
        let vector = (page + TablePage.rowsOffset).assumingMemoryBound(to: RadixVector.self)
        let slot = slot(&vector.pointee, Int(index))
        own(&slot.pointee, .rowGroup, byteCount: layout.tables[table].groupByteCount)
        let pointer = chunks[slot.pointee]
        groupCache = GroupCache(table: table, index: index, pointer: pointer)
        return pointer
    }

    /// Clears the cache of the last written group, for example because the page of the group is released.
    mutating func forgetGroup() { groupCache.table = -1 }
}
