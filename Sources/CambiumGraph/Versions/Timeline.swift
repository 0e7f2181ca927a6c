import CambiumBytes
package import CambiumModel
import Synchronization

/// The versions of one graph, and the common space of their pages. Publishing a draft adds a version.
///
/// Any thread may read `head`. Everything else belongs to the writer: the owner of the timeline must let only one thread at a time create,
/// change, publish or drop drafts.
///
/// SENDABLE: `head` is under a mutex. Only one thread at a time writes, so no two accesses to the other properties overlap, and the runtime
/// need not check them.
package final class Timeline: @unchecked Sendable {
    let space: PageSpace
    private let current: Guarded<Version>
    /// The replaced versions that readers may still hold.
    @exclusivity(unchecked) private var pinned = PinnedVersions()
    private let counters = TimelineCounters()
    /// The unconfirmed versions, which may still be rolled back.
    @exclusivity(unchecked) private var unconfirmed = UnconfirmedVersions()
    @exclusivity(unchecked) var packing = PackingMemory()
    /// The maximum number of applied requests in the register. If another request is recorded, the register forgets the oldest request.
    @exclusivity(unchecked) package var requestCountMax = 1_000_000
    /// The part of the work of replaying the newest version that depends on the graph: `Draft.replayWork`, with the ordered indexes.
    @exclusivity(unchecked) package private(set) var publishedReplayWork = 0
    /// The number of members and groups of rows that the published drafts read for derived attributes.
    @exclusivity(unchecked) package private(set) var derivedWork = 0
    static let epochs = Atomic<UInt64>(0)

    /// Creates the empty graph of a schema without entities.
    ///
    /// - Parameter key: The key for the hashes of the indexes. An attacker who knows the key can choose values whose hashes collide.
    package init(memory: MemoryBudget = .standard, key: HashKey) {
        space = PageSpace(budget: memory)
        let layout = GraphLayout(Schema.empty)
        let epoch = Self.nextEpoch()
        let page = space.allocate(
            granules: PageLayout.granules(layout.directoryByteCount), kind: .directory, birth: epoch)
        let directory = DirectoryPage(space.chunks[page])
        (directory.transaction, directory.schemaTransaction) = (0, 0)
        (directory.sharedBlobs, directory.hashKey) = (.empty, key)
        if let place = layout.registerPlace { directory[place] = 0 }
        space.setHashNumbers(HashNumbers(key))
        current = Guarded(Version(epoch: epoch, directory: page, layout: layout, space: space))
        updateTotals()
    }

    /// Counts the slow queries on the graphs of this timeline.
    package var slowQueries: SlowQueries { space.slowQueries }

    /// The newest version. Complexity: O(1).
    package var head: Graph { Graph(version: current.withLock { $0 }) }

    /// Returns a draft based on the newest version.
    package func draft() -> Draft {
        space.memory.unpublishedChunkCount = 0
        return Draft(of: current.withLock { $0 }, epoch: Self.nextEpoch(), requestCountMax: requestCountMax)
    }

    /// The number of replaced versions that readers still hold. Complexity: O(replaced versions + pages of the released versions).
    package var pinnedVersionCount: Int {
        reclaim()
        return pinned.count
    }

    /// The number of bytes in pages that a replaced version still uses, but the newest version does not. Complexity: O(replaced versions +
    /// pages of the released versions).
    package var pinnedByteCount: Int {
        reclaim()
        return pinned.deadGranules * PageLayout.granule
    }

    /// Returns the number of bytes in pages that are kept only because a reader holds `graph`: the pages that the next version replaced.
    /// Only the writer may call this method. Complexity: O(pages that the next version replaced).
    package func supersededByteCount(of graph: Graph) -> Int {
        graph.version.dead.elements.reduce(0) { $0 + space.chunks.granules($1) } * PageLayout.granule
    }

    /// The totals when the last version was published, or when chunks last became available. Any thread may read them. Complexity: O(1).
    package var totals: TimelineTotals { counters.totals }

    /// Updates `totals` to the current state.
    func updateTotals() {
        counters.track(
            TimelineTotals(
                pinnedVersionCount: pinned.count, pinnedByteCount: pinned.deadGranules * PageLayout.granule, pageByteCount: pageByteCount,
                heapByteCount: reservedByteCount, mappedByteCount: space.memories.mappedCount * PageLayout.chunkByteCount))
    }

    /// The number of bytes in pages that some version can reach.
    package var pageByteCount: Int { space.liveGranules * PageLayout.granule }

    /// The number of bytes of memory for pages whose bytes are not in a file.
    package var reservedByteCount: Int { space.memory.heapByteCount }

    /// Lets the kernel supply memory for this many bytes of pages in addition to the pages in use, and waits for the memory.
    package func reserve(byteCount: Int) {
        space.memory.finishPreparing()
        space.memory.prepare(byteCount: byteCount, freeByteCount: space.freeByteCount)
        space.memory.finishPreparing()
    }

    /// Publishes a draft: makes it the newest version, and returns this version.
    ///
    /// Throws `.notWritable` if another draft was published after this draft was created, or if a change in the draft failed after its
    /// first write. In both cases, the draft is dropped. Complexity: O(superseded pages).
    ///
    /// - Parameter indexing: The approximate number of rows to add to incomplete ordered indexes; `nil` for the usual number.
    /// - Parameter isUnconfirmed: Whether `rollBack` may remove the version until it is confirmed.
    /// - Parameter show: Receives the new version before pages of the old version are freed. If the caller releases the old version in
    ///   `show`, these pages can be freed at once, and the next transaction has less work.
    @discardableResult
    package func publish(
        _ draft: consuming Draft, isUnconfirmed: Bool = false, indexing: Int? = nil, show: (Graph) -> Void = { _ in }
    ) throws(CambiumError) -> Graph {
        try draft.checkUsable()
        try DerivedNotes.updateDerived(&draft)
        derivedWork += draft.derivedWork
        OrderedWriter.updateIndexes(&draft, rowCountMax: indexing ?? Self.indexedRowCount)
        draft.tableWriter.stamp()
        publishedReplayWork = draft.replayWork
        let version = Version(epoch: draft.epoch, directory: draft.directory, layout: draft.layout, space: space)
        var previous = version
        let isNewest = current.withLock { newest in
            if newest !== draft.base { return false }
            swap(&newest, &previous)
            return true
        }
        guard isNewest else {
            throw CambiumError(.notWritable, "The draft is not based on the newest version. Repeat the changes in a new draft.")
        }
        var born = draft.pageWriter.takeBorn()
        if isUnconfirmed { unconfirmed.append(epoch: draft.epoch, born, after: previous) }
        space.recycle(&born)
        var superseded = draft.pageWriter.takeSuperseded()
        draft.pageWriter.markPublished()
        _ = consume draft
        show(Graph(version: version))
        retire(&previous, &superseded)
        pinned.reclaimSome(space)
        space.recycle(&superseded)
        space.memory.refill { space.freeByteCount }
        updateTotals()
        return Graph(version: version)
    }

    // MARK: Rolling back

    /// Confirms a version and all versions before it, so that they are never rolled back.
    package func confirm(_ graph: Graph) {
        unconfirmed.confirm(graph.version)
        pinned.reclaimSome(space)
        updateTotals()
    }

    /// Makes the last confirmed version the newest version again, and frees the pages of all later versions. No reader may use the later
    /// versions any longer. Complexity: O(pages that these versions created).
    @discardableResult
    package func rollBack() -> Graph { removeUnconfirmed(to: nil) }

    /// Rolls back only the versions after `graph`. The caller must have held `graph` since it was the newest version. If `graph` is
    /// unconfirmed, a later call may roll it back.
    @discardableResult
    package func rollBack(to graph: Graph) -> Graph { removeUnconfirmed(to: graph.version) }

    private func removeUnconfirmed(to version: Version?) -> Graph {
        let newest = unconfirmed.rollBack(to: version) { page, epoch in
            // Releasing a page changes the epoch in its header. So pages that the draft itself released are skipped. If the draft allocated
            // a page twice, the list of its pages contains the page twice. The page is still released only once.
            if space.chunks.birth(page) == epoch { space.release(page) }
        }
        guard let newest else { return head }
        current.withLock { $0 = newest }
        // `newest` is the newest version again, so it needs the pages that later versions replaced.
        pinned.removeAll(from: newest.epoch, space)
        newest.dead.removeAll()
        updateTotals()
        return Graph(version: newest)
    }

    /// Frees the pages that the new version replaced and that no version can reach. A page that was born at epoch B and replaced at epoch D
    /// is needed by versions from B up to, but not including, D.
    private func retire(_ previous: inout Version, _ superseded: inout PageList) {
        // No thread can get `previous` any longer, and the draft that held it no longer exists. So if there is only this reference, no
        // reader holds the version.
        if isKnownUniquelyReferenced(&previous) {
            pinned.bury(superseded, space)
        } else {
            // All replaced pages were born before the draft, so `previous` can reach all of them, and keeps them.
            previous.dead = superseded
            superseded = PageList()
            pinned.append(previous, space)
        }
    }

    /// Drops all replaced versions that readers have released. Complexity: O(pinned versions and their pages).
    func reclaim() {
        pinned.reclaim(space)
        updateTotals()
    }

    var pinnedVersions: [Version] { pinned.elements }
    /// Whether the newest version may still be rolled back.
    package var isUnconfirmed: Bool { unconfirmed.base != nil }

    init(_ space: PageSpace, _ version: Version) {
        self.space = space
        current = Guarded(version)
        updateTotals()
    }

    static func nextEpoch() -> UInt64 {
        epochs.wrappingAdd(1, ordering: .relaxed).newValue
    }
}

extension Timeline {
    /// Limits the graph to fewer pages than a page reference can address.
    package func limit(to capacity: PageCapacity) { space.capacity = capacity }

    /// Whether so few pages are left that only deletions may use them. The caller must not read this property while a draft is being
    /// written.
    package var isInReserve: Bool { space.isInReserve }

    /// Returns a draft with the transaction number of the newest version, because packing and building indexes are not transactions.
    func packingDraft() -> Draft {
        var draft = draft()
        draft.transaction = draft.original.transaction.rawValue
        return draft
    }
}

// MARK: - Ordered indexes

extension Timeline {
    /// The maximum number of rows that a transaction adds to incomplete indexes.
    package static let indexedRowCount = 512

    /// Continues to build the ordered indexes that are incomplete. The caller must have no draft in progress, and the newest version must
    /// be confirmed.
    ///
    /// - Parameter rowCountMax: The approximate maximum number of rows that are added to all incomplete indexes together.
    /// - Returns: Whether the indexes are still incomplete and this call has added rows. Otherwise, another call is useless.
    package func buildIndexes(
        rowCountMax: Int = Timeline.indexedRowCount, show: (Graph) -> Void = { _ in }
    ) throws(CambiumError) -> Bool {
        reclaim()
        let before = head.indexedGroupCounts
        if !head.hasIncompleteIndexes || space.isInReserve { return false }
        try publish(packingDraft(), indexing: rowCountMax, show: show)
        return head.hasIncompleteIndexes && head.indexedGroupCounts != before
    }
}
