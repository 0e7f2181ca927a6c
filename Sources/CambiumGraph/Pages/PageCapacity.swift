import CambiumModel

/// The number of chunks that the pages of a graph may take.
///
/// One in 32 of these chunks is kept in reserve, for deletions only. When the other chunks are used up, the graph refuses changes with an
/// error, but deletions still get the pages that they need.
package struct PageCapacity: Sendable {
    package let chunkCountMax: Int
    let reserveChunkCount: Int

    /// The number of further chunks for the tables of checkpoints, so that even a full graph can be stored.
    static let tableChunkCount = 4096

    /// The largest capacity: 64 GiB, less the chunks for tables. About 2 GiB of this capacity are the reserve.
    package static let standard = PageCapacity(chunkCountMax: PageLayout.chunkCountMax)

    /// - Parameter chunkCountMax: The maximum number of chunks of 64 KiB. A number above 1,044,480 counts as 1,044,480. One in 32 of these
    ///   chunks is kept in reserve, for deletions only.
    package init(chunkCountMax: Int) {
        self.chunkCountMax = min(chunkCountMax, PageLayout.chunkCountMax - Self.tableChunkCount)
        reserveChunkCount = self.chunkCountMax / 32
    }

    private static let remedy = "Delete objects, release graphs of earlier moments, or remove old checkpoints with 'compact'."

    /// Returns the error for a change that needs more chunks than are free.
    func exhausted(_ change: String, remedy: String = Self.remedy) -> CambiumError {
        let byteCount = chunkCountMax * PageLayout.chunkByteCount
        let limit = byteCount >= 1 << 30 ? "\(byteCount >> 30) GiB" : "\(byteCount >> 20) MiB"
        return CambiumError(.limitExceeded, "A graph holds at most \(limit) of pages, and \(change). \(remedy)")
    }
}

extension PageSpace {
    /// The number of chunks that drafts can still open.
    @inline(__always) var freeChunkCount: Int { emptyChunks.count + max(0, capacity.chunkCountMax - chunkCount) }

    /// Whether only the reserve for deletions is left, or the limits of the process leave too little memory for another change.
    @inline(__always) var isInReserve: Bool { hasOnlyReserve || !holdsMemory }

    /// Whether only the reserve for deletions is left.
    @inline(__always) var hasOnlyReserve: Bool { freeChunkCount < capacity.reserveChunkCount }

    /// Whether enough chunks have an address for any change that no other check covers, or the process has no limit of memory.
    @inline(__always) var holdsMemory: Bool { holdsMemory(forValueOf: 0) }

    /// Whether enough chunks have an address for such a change and a value of this many bytes.
    @inline(__always) func holdsMemory(forValueOf byteCount: Int) -> Bool {
        !memory.isLimited || memory.hold(Self.heldChunkCountMin + chunkCount / 32 + byteCount / (PageLayout.chunkByteCount / 2))
    }

    /// 2 MiB.
    private static let heldChunkCountMin = 32

    /// Returns whether a draft can open this many chunks. If the process has a limit of memory, the chunks get their addresses now.
    func canOpen(_ count: Int, leaving reserve: Int = 0) -> Bool { count <= freeChunkCount - reserve && memory.hold(count) }

    /// Returns the error for a change that needs this many chunks, for which `canOpen` returned `false`.
    func exhausted(_ count: Int, leaving reserve: Int = 0, _ change: String, remedy: String? = nil) -> CambiumError {
        if count <= freeChunkCount - reserve { return .outOfMemory("\(count) chunks of pages, 64 KiB each") }
        return remedy.map { capacity.exhausted(change, remedy: $0) } ?? capacity.exhausted(change)
    }
}
