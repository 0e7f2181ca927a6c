public import CambiumModel

#if canImport(Glibc)
    import Glibc
#endif

/// A graph that is being changed: the only thing that writes, and dropping it is the rollback.
///
/// A page may be written in place if and only if it was born in the draft's epoch; else it is copied first. Nothing that the
/// draft does is seen by anybody until `Timeline.publish`.
public struct Draft: ~Copyable {
    let space: PageSpace
    let chunks: Chunks
    let epoch: UInt64
    /// What pages have as their birth that a reference may lead to without another look. No page has it if pages are not proven: a forged
    /// reference can lead to a page of the draft's own that is of another kind.
    let trustedEpoch: UInt64
    let base: Version
    var layout: GraphLayout
    /// The number of the transaction under way; one more than that of the original, unless it is set.
    package var transaction: UInt64
    /// The requests that are remembered at most.
    let requestCountMax: Int
    /// The page that everything hangs from.
    var directory: PageRef
    /// What has to hold at commit and was not looked at yet.
    var pending = PendingChecks()
    /// Which objects changed; kept where the ops are derived afterwards.
    var touched: TouchedRows?
    /// Why the draft refuses everything: a change threw after it had written. A reference, because drafts are often moved.
    private var failure: (any Error)?
    /// Whether the change under way has written to a page.
    private var hasWritten = false
    private var superseded: PageList
    private var born: PageList
    private var isPublished = false
    private var groupCache = GroupCache()

    /// The group of rows that was written to last, which the next write is likely to want.
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

    deinit {
        if isPublished { return }
        // A page that was released already may have been handed out again and stand here twice.
        for page in born.elements where chunks.birth(page) == epoch { space.release(page) }
    }

    public var schema: Schema { layout.schema }

    /// The graph that the draft was made from.
    public var original: Graph { Graph(version: base) }

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

    /// Writes the number of the transaction into the directory.
    mutating func stamp() {
        ownedDirectory().storeBytes(of: transaction, toByteOffset: DirectoryPage.transactionOffset, as: UInt64.self)
    }

    mutating func markPublished() { isPublished = true }
}

// MARK: - All or nothing

extension Draft {
    /// Runs a change that checks everything before it writes, so that it happens as a whole or not at all.
    ///
    /// If the change throws after it has written to a page, the draft is failed: it refuses all later changes and its publication.
    @inline(__always)
    mutating func atomically(_ change: (inout Draft) throws(CambiumError) -> Void) throws(CambiumError) {
        try checkUsable()
        hasWritten = false
        // Without a cached group, the first write to a group takes the path that notes it.
        forgetGroup()
        do throws(CambiumError) {
            try change(&self)
        } catch {
            if hasWritten { failure = error }
            throw error
        }
    }

    /// Throws `.notWritable` if a change failed after it had written.
    @inline(__always)
    package borrowing func checkUsable() throws(CambiumError) {
        if failure != nil { throw refusal() }
    }

    @inline(never)
    private borrowing func refusal() -> CambiumError {
        let reason = (failure as? CambiumError)?.message ?? ""
        return CambiumError(
            .notWritable, "The transaction cannot go on, because a change failed half-way: \(reason) Run it again.", underlying: failure)
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

    /// Makes the page that a reference points to this draft's own, by copying it if it is not.
    ///
    /// - Parameters:
    ///   - kind: what the page has to be for what is written into it; `nil` for any kind.
    ///   - byteCount: what it has to hold at least.
    @inline(__always)
    mutating func own(_ page: inout PageRef, _ kind: PageKind? = nil, byteCount: Int = 0) {
        if chunks.birth(page) != trustedEpoch { page = copy(page, kind, byteCount) }
    }

    @inline(never)
    private mutating func copy(_ page: PageRef, _ kind: PageKind?, _ byteCount: Int) -> PageRef {
        let source = chunks[page]
        let birth = source.load(fromByteOffset: PageLayout.birthOffset, as: UInt64.self)
        // The size and the kind, without the link of a free page.
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

    /// Notes that this draft no longer reaches a page. Constant pages stay for ever.
    private mutating func supersede(_ page: PageRef) {
        if chunks.birth(page) != 0 { superseded.append(page) }
    }

    /// Lets go of a page: at once where the draft made it, else when no version reaches it.
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
        // Only what this draft owns leads to a page of its own.
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

    /// Forgets the group that was written to last, because its page is going away.
    mutating func forgetGroup() { groupCache.table = -1 }

    @inline(__always)
    mutating func ownedLeaf(
        _ group: UnsafeMutableRawPointer, _ slot: Int, _ kind: PageKind? = nil, byteCount: Int = 0
    ) -> UnsafeMutableRawPointer {
        let reference = (group + GroupLayout.columnsOffset + 4 * slot).assumingMemoryBound(to: PageRef.self)
        own(&reference.pointee, kind, byteCount: byteCount)
        return chunks[reference.pointee]
    }

    // MARK: Cells

    @inline(__always)
    func link(_ table: Int, _ row: UInt32, _ slot: Int) -> UInt32 { reader.rows(table).link(row, slot) }

    @inline(__always)
    mutating func setLink(_ table: Int, _ row: UInt32, _ slot: Int, _ value: UInt32) {
        let leaf = ownedLeaf(ownedGroup(table, row), slot, .linkLeaf)
        leaf.storeBytes(of: value, toByteOffset: PageLayout.linkValuesOffset &+ 4 &* Int(row & PageLayout.rowMask), as: UInt32.self)
    }

    @inline(__always)
    mutating func setFixed<T: BitwiseCopyable>(_ table: Int, _ row: UInt32, _ slot: Int, _ value: T) {
        let byteCount = PageLayout.fixedLeafByteCount(width: MemoryLayout<T>.stride)
        let leaf = ownedLeaf(ownedGroup(table, row), slot, .fixedLeaf, byteCount: byteCount)
        leaf.storeBytes(
            of: value, toByteOffset: PageLayout.valuesOffset &+ MemoryLayout<T>.stride &* Int(row & PageLayout.rowMask), as: T.self)
        Rows.setBit(leaf, PageLayout.presenceOffset, row, true)
    }

    /// Makes a fixed-width value null; its bytes become zero, so that equal leaves are equal bytes.
    mutating func clearFixed(_ table: Int, _ row: UInt32, _ slot: Int, width: Int) {
        guard reader.rows(table).isPresent(row, slot) else { return }
        let leaf = ownedLeaf(ownedGroup(table, row), slot, .fixedLeaf, byteCount: PageLayout.fixedLeafByteCount(width: width))
        memset(leaf + PageLayout.valuesOffset + width * Int(row & PageLayout.rowMask), 0, width)
        Rows.setBit(leaf, PageLayout.presenceOffset, row, false)
    }
}
