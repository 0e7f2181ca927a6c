import Synchronization

/// The sizes of versions and pages, in numbers that any thread may read.
package struct TimelineTotals: Sendable, Equatable {
    /// The number of versions that newer versions replaced and that readers still hold.
    package let pinnedVersionCount: Int
    /// The number of bytes in pages that a replaced version still uses, but the newest version does not.
    package let pinnedByteCount: Int
    /// The number of bytes in all pages that are part of at least one version.
    package let pageByteCount: Int
    /// The number of bytes of memory for pages whose bytes are not in a file.
    package let heapByteCount: Int
    /// The total size, in bytes, of the chunks whose content is in a file.
    package let mappedByteCount: Int
}

/// The totals of a timeline. The writer of the timeline stores the totals, and any thread loads them. Each number is loaded separately, so
/// two numbers may describe different moments.
final class TimelineCounters: Sendable {
    private let pinnedVersionCount = Atomic(0)
    private let pinnedByteCount = Atomic(0)
    private let pageByteCount = Atomic(0)
    private let heapByteCount = Atomic(0)
    private let mappedByteCount = Atomic(0)

    var totals: TimelineTotals {
        TimelineTotals(
            pinnedVersionCount: pinnedVersionCount.load(ordering: .relaxed), pinnedByteCount: pinnedByteCount.load(ordering: .relaxed),
            pageByteCount: pageByteCount.load(ordering: .relaxed), heapByteCount: heapByteCount.load(ordering: .relaxed),
            mappedByteCount: mappedByteCount.load(ordering: .relaxed))
    }

    @inline(__always)
    func track(_ totals: TimelineTotals) {
        pinnedVersionCount.store(totals.pinnedVersionCount, ordering: .relaxed)
        pinnedByteCount.store(totals.pinnedByteCount, ordering: .relaxed)
        pageByteCount.store(totals.pageByteCount, ordering: .relaxed)
        heapByteCount.store(totals.heapByteCount, ordering: .relaxed)
        mappedByteCount.store(totals.mappedByteCount, ordering: .relaxed)
    }
}
