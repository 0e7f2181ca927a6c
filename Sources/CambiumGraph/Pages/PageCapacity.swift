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

    /// Whether only the reserve for deletions is left.
    @inline(__always) var isInReserve: Bool { freeChunkCount < capacity.reserveChunkCount }
}
