import CambiumBytes
public import CambiumModel
import Synchronization

/// The versions of one graph, the pages that they share, and the way from one version to the next.
///
/// `head` may be read from any thread. Everything else is the writer's: whoever owns the timeline lets one thread at a time
/// make, change, publish or drop drafts.
///
/// SENDABLE: `head` is under a mutex; the rest belongs to the one writer, so no access overlaps another or has to be checked.
public final class Timeline: @unchecked Sendable {
    let space: PageSpace
    private let current: Guarded<Version>
    /// Superseded versions that a reader still held.
    @exclusivity(unchecked) private var pinned = PinnedVersions()
    private let counters = TimelineCounters()
    /// Versions that may yet be taken back.
    @exclusivity(unchecked) private var tentative = TentativeVersions()
    @exclusivity(unchecked) var packing = PackingMemory()
    /// The requests that drafts remember at most.
    @exclusivity(unchecked) package var requestCountMax = 1_000_000
    static let epochs = Atomic<UInt64>(0)

    /// The empty graph of a schema without entities.
    ///
    /// - Parameter key: what keys are hashed with in the indexes. Whoever knows it can choose keys that collide.
    package init(memory: MemoryBudget = .standard, key: HashKey) {
        space = PageSpace(budget: memory)
        let layout = GraphLayout(Schema.empty)
        let epoch = Self.nextEpoch()
        let page = space.allocate(
            granules: PageLayout.granules(DirectoryPage.byteCount(layout)), kind: .directory, birth: epoch)
        if let offset = DirectoryPage.registerOffset(layout) {
            space.chunks[page].storeBytes(of: 0, toByteOffset: offset, as: PageRef.self)
        }
        space.chunks[page].storeBytes(of: 0, toByteOffset: DirectoryPage.transactionOffset, as: UInt64.self)
        space.chunks[page].storeBytes(of: .empty, toByteOffset: DirectoryPage.sharedBlobsOffset, as: RadixVector.self)
        space.chunks[page].storeBytes(of: key, toByteOffset: DirectoryPage.hashKeyOffset, as: HashKey.self)
        current = Guarded(Version(epoch: epoch, directory: page, layout: layout, space: space))
        noteTotals()
    }

    /// The newest version. O(1).
    public var head: Graph { Graph(version: current.withLock { $0 }) }

    /// A draft of what follows the newest version.
    public func draft() -> Draft {
        Draft(of: current.withLock { $0 }, epoch: Self.nextEpoch(), requestCountMax: requestCountMax)
    }

    /// How many superseded versions readers hold. Complexity: as many.
    public var pinnedVersionCount: Int {
        reclaim()
        return pinned.count
    }

    /// Bytes in pages that only superseded versions reach. Complexity: O(such versions and the pages of those that nobody holds any more).
    public var pinnedByteCount: Int {
        reclaim()
        return pinned.deadGranules * PageLayout.granule
    }

    /// What there was when the last version was published, or chunks were used again. Any thread. O(1).
    package var totals: TimelineTotals { counters.totals }

    /// Has `totals` tell what there is now.
    func noteTotals() {
        counters.note(
            TimelineTotals(
                pinnedVersionCount: pinned.count, pinnedByteCount: pinned.deadGranules * PageLayout.granule, pageByteCount: pageByteCount,
                heapByteCount: reservedByteCount, mappedByteCount: space.memories.mappedCount * PageLayout.chunkByteCount))
    }

    /// Bytes in pages that some version can reach.
    public var pageByteCount: Int { space.liveGranules * PageLayout.granule }

    /// Bytes of memory taken from the system for pages that are no file's.
    public var reservedByteCount: Int { space.memory.heapByteCount }

    /// Has the system supply memory for so many bytes of pages beyond those in use, and waits until it has.
    public func reserve(byteCount: Int) {
        space.memory.finishPreparing()
        space.memory.prepare(byteCount: byteCount, freeByteCount: space.freeByteCount)
        space.memory.finishPreparing()
    }

    /// Makes the draft the newest version and returns it. Complexity: O(superseded pages).
    ///
    /// - Parameter indexing: about how many rows an ordered index that is not complete gets; `nil` for the usual number.
    /// - Parameter isTentative: whether `rollBack` may take the version back until it is confirmed.
    /// - Parameter show: called with the new version before pages of the old one are freed: who lets go of the old one in
    ///   it spares the next transaction the work.
    /// Throws `.notWritable` if another draft was published since this one was made, or if a change of the draft failed
    /// half-way; the draft is dropped then.
    @discardableResult
    public func publish(
        _ draft: consuming Draft, isTentative: Bool = false, indexing: Int? = nil, show: (Graph) -> Void = { _ in }
    ) throws(CambiumError) -> Graph {
        try draft.checkUsable()
        draft.updateIndexes(rowCountMax: indexing ?? Self.indexedRowCount)
        draft.stamp()
        let version = Version(epoch: draft.epoch, directory: draft.directory, layout: draft.layout, space: space)
        var previous = version
        let isNewest = current.withLock { newest in
            if newest !== draft.base { return false }
            swap(&newest, &previous)
            return true
        }
        guard isNewest else {
            throw CambiumError(.notWritable, "The draft was made from a version that is no longer the newest; make it again.")
        }
        var born = draft.takeBorn()
        if isTentative { tentative.append(epoch: draft.epoch, born, after: previous) }
        space.giveBack(&born)
        var superseded = draft.takeSuperseded()
        draft.markPublished()
        _ = consume draft
        show(Graph(version: version))
        retire(&previous, &superseded)
        pinned.reclaimSome(space)
        space.giveBack(&superseded)
        space.memory.refill { space.freeByteCount }
        noteTotals()
        return Graph(version: version)
    }

    // MARK: Taking back

    /// The version and those before it stay.
    public func confirm(_ graph: Graph) {
        tentative.confirm(graph.version)
        pinned.reclaimSome(space)
        noteTotals()
    }

    /// Makes the last version that is confirmed the newest one again, and frees the pages of those after it, which nobody may
    /// read any more. Complexity: O(pages that they made).
    @discardableResult
    public func rollBack() -> Graph { takeBack(to: nil) }

    /// As `rollBack`, to a version after the last one that is confirmed, which has to have been held since it was the newest one:
    /// only those after it are taken back, and it may yet be taken back itself.
    @discardableResult
    public func rollBack(to graph: Graph) -> Graph { takeBack(to: graph.version) }

    private func takeBack(to version: Version?) -> Graph {
        let newest = tentative.takeBack(to: version) { page, epoch in
            // A page that was released since has another birth, and may be told twice.
            if space.chunks.birth(page) == epoch { space.release(page) }
        }
        guard let newest else { return head }
        current.withLock { $0 = newest }
        // What later versions superseded of this one is its own again.
        pinned.removeAll(from: newest.epoch, space)
        newest.dead.removeAll()
        noteTotals()
        return Graph(version: newest)
    }

    /// Frees what no version can reach: a page superseded at D and born at B is needed while a version lives in [B, D).
    private func retire(_ previous: inout Version, _ superseded: inout PageList) {
        // Nobody can take `previous` any more; if it is unique, no reader holds it. The draft held it and is gone.
        if isKnownUniquelyReferenced(&previous) {
            pinned.bury(superseded, space)
        } else {
            // All that the draft superseded was born before it, and so is what this version reaches.
            previous.dead = superseded
            superseded = PageList()
            pinned.append(previous, space)
        }
    }

    /// Drops all superseded versions that readers have let go of. Complexity: O(pinned versions and their pages).
    func reclaim() {
        pinned.reclaim(space)
        noteTotals()
    }

    var pinnedVersions: [Version] { pinned.elements }
    /// Whether the newest version may be taken back.
    package var isTentative: Bool { tentative.base != nil }

    init(_ space: PageSpace, _ version: Version) {
        self.space = space
        current = Guarded(version)
        noteTotals()
    }

    private static func nextEpoch() -> UInt64 {
        epochs.wrappingAdd(1, ordering: .relaxed).newValue
    }
}
