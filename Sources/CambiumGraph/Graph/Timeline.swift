public import CambiumModel
import Synchronization

/// The versions of one graph, the pages that they share, and the way from one version to the next.
///
/// `head` may be read from any thread. Everything else is the writer's: whoever owns the timeline lets one thread at a time
/// make, change, publish or drop drafts.
///
/// SENDABLE: `head` is under a mutex; the rest belongs to the one writer, so no access overlaps another or has to be checked.
public final class Timeline: @unchecked Sendable {
    let space = PageSpace()
    private let current: Mutex<Version>
    /// Superseded versions that a reader still held, oldest first.
    @exclusivity(unchecked) private var pinned: [Version] = []
    /// Where in `pinned` is looked next for a version that can be dropped.
    @exclusivity(unchecked) private var reclaimPlace = 0
    private static let reclaimCount = 4
    /// Versions that may yet be taken back.
    @exclusivity(unchecked) private var tentative: Tentative?
    private static let epochs = Atomic<UInt64>(0)

    /// The empty graph of a schema without entities.
    public init() {
        let layout = GraphLayout(Schema.empty)
        let epoch = Self.nextEpoch()
        let page = space.allocate(
            granules: PageLayout.granules(DirectoryPage.tablesOffset), kind: .directory, birth: epoch)
        space.chunks[page].storeBytes(of: 0, toByteOffset: DirectoryPage.transactionOffset, as: UInt64.self)
        current = Mutex(Version(epoch: epoch, directory: page, layout: layout, space: space))
    }

    /// The newest version. O(1).
    public var head: Graph { Graph(version: current.withLock { $0 }) }

    /// A draft of what follows the newest version.
    public func draft() -> Draft { Draft(of: current.withLock { $0 }, epoch: Self.nextEpoch()) }

    /// How many superseded versions readers hold. Complexity: as many.
    public var pinnedVersionCount: Int {
        reclaim()
        return pinned.count
    }

    /// Bytes in pages that some version can reach.
    public var pageByteCount: Int { space.liveGranules * PageLayout.granule }

    /// Bytes of memory taken from the system for pages.
    public var reservedByteCount: Int { space.reservedByteCount }

    /// Makes the draft the newest version and returns it. Complexity: O(superseded pages).
    ///
    /// - Parameter isTentative: whether `rollBack` may take the version back until it is confirmed.
    /// - Parameter show: called with the new version before pages of the old one are freed: who lets go of the old one in
    ///   it spares the next transaction the work.
    /// Throws `.notWritable` where another draft was published since this one was made; the draft is dropped then.
    @discardableResult
    public func publish(
        _ draft: consuming Draft, isTentative: Bool = false, show: (Graph) -> Void = { _ in }
    ) throws(CambiumError) -> Graph {
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
        if isTentative {
            if tentative == nil { tentative = Tentative(base: previous) }
            tentative?.born.append((draft.epoch, born))
        } else {
            space.giveBack(&born)
        }
        var superseded = draft.takeSuperseded()
        draft.markPublished()
        _ = consume draft
        show(Graph(version: version))
        retire(&previous, superseded)
        space.giveBack(&superseded)
        return Graph(version: version)
    }

    // MARK: Taking back

    /// What is needed to take versions back: the last one that stays, which is kept, and the pages of those after it.
    private struct Tentative {
        var base: Version
        var born: [(epoch: UInt64, pages: PageList)] = []
    }

    /// The version and those before it stay.
    public func confirm(_ graph: Graph) {
        guard var kept = tentative, graph.version.epoch > kept.base.epoch else { return }
        tentative = nil
        for index in kept.born.indices where kept.born[index].epoch <= graph.version.epoch { space.giveBack(&kept.born[index].pages) }
        let count = kept.born.count
        kept.born.removeAll { $0.epoch <= graph.version.epoch }
        kept.base = graph.version
        let confirmedCount = count - kept.born.count
        if !kept.born.isEmpty { tentative = kept }
        reclaimSome(confirmedCount)
    }

    /// Makes the last version that is confirmed the newest one again, and frees the pages of those after it, which nobody may
    /// read any more. Complexity: O(pages that they made).
    @discardableResult
    public func rollBack() -> Graph {
        guard let taken = tentative else { return head }
        tentative = nil
        takeBack(to: taken.base, taken.born[...])
        return Graph(version: taken.base)
    }

    /// As `rollBack`, to a version after the last one that is confirmed, which has to have been held since it was the newest one:
    /// only those after it are taken back, and it may yet be taken back itself.
    @discardableResult
    public func rollBack(to graph: Graph) -> Graph {
        guard var taken = tentative, graph.version.epoch > taken.base.epoch else { return rollBack() }
        let stayingCount = taken.born.prefix { $0.epoch <= graph.version.epoch }.count
        takeBack(to: graph.version, taken.born[stayingCount...])
        taken.born.removeLast(taken.born.count - stayingCount)
        tentative = taken
        return graph
    }

    private func takeBack(to version: Version, _ born: ArraySlice<(epoch: UInt64, pages: PageList)>) {
        current.withLock { $0 = version }
        // What later versions superseded of this one is its own again.
        pinned.removeAll { $0.epoch >= version.epoch }
        version.dead = []
        // A page that was released since has another birth, and may stand here twice.
        for (epoch, pages) in born {
            for page in pages.elements where space.chunks.birth(page) == epoch { space.release(page) }
        }
    }

    /// Frees what no version can reach: a page superseded at D and born at B is needed while a version lives in [B, D).
    private func retire(_ previous: inout Version, _ superseded: PageList) {
        // Nobody can take `previous` any more; if it is unique, no reader holds it. The draft held it and is gone.
        if isKnownUniquelyReferenced(&previous) {
            let count = pinned.count
            for page in superseded.elements { bury(page, below: count) }
        } else {
            // All that the draft superseded was born before it, and so is what this version reaches.
            previous.dead = Array(superseded.elements)
            pinned.append(previous)
        }
        reclaimSome(1)
    }

    @inline(__always)
    private func bury(_ page: PageRef, below count: Int) {
        if count > 0, space.chunks.birth(page) <= pinned[count - 1].epoch {
            pinned[count - 1].dead.append(page)
        } else {
            space.release(page)
        }
    }

    /// Drops all pinned versions that readers have let go of, the newest first. Complexity: O(pinned versions and their pages).
    func reclaim() {
        for index in pinned.indices.reversed() { _ = drop(index) }
    }

    /// Looks at a few of the pinned versions, in turn, so that a transaction's time does not depend on how many readers there are:
    /// at more for each transaction than it can have pinned.
    private func reclaimSome(_ transactionCount: Int) {
        for _ in 0..<min(pinned.count, Self.reclaimCount * transactionCount) {
            if reclaimPlace >= pinned.count { reclaimPlace = 0 }
            if pinned.isEmpty { return }
            if !drop(reclaimPlace) { reclaimPlace += 1 }
        }
    }

    /// Drops a pinned version if readers have let go of it, handing what older ones may need down to them.
    private func drop(_ index: Int) -> Bool {
        guard isKnownUniquelyReferenced(&pinned[index]) else { return false }
        let dead = pinned[index].dead
        pinned.remove(at: index)
        for page in dead { bury(page, below: index) }
        return true
    }

    var pinnedVersions: [Version] { pinned }

    private static func nextEpoch() -> UInt64 {
        epochs.wrappingAdd(1, ordering: .relaxed).newValue
    }
}
