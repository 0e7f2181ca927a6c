import CambiumModel

/// How many chunks the pages of a graph may take.
///
/// The last part is a reserve that only deletions may use. A graph that has used up the rest refuses changes with an error, and deletions
/// still have the pages that they need.
package struct PageCapacity: Sendable {
    package let chunkCountMax: Int
    let reserveChunkCount: Int

    /// Chunks beyond those of any graph, for the tables of checkpoints: a graph that is full can be stored.
    static let tableChunkCount = 4096

    /// 64 GiB without the chunks of tables, of which some 2 GiB are the reserve.
    package static let standard = PageCapacity(chunkCountMax: PageLayout.chunkCountMax)

    /// - Parameter chunkCountMax: chunks of 64 KiB, at most 1,044,480. One in 32 of them belongs to the reserve.
    package init(chunkCountMax: Int) {
        self.chunkCountMax = min(chunkCountMax, PageLayout.chunkCountMax - Self.tableChunkCount)
        reserveChunkCount = self.chunkCountMax / 32
    }

    private static let remedy = "Delete objects, or release graphs and checkpoints of earlier moments ('compact' does the latter)."

    /// The error if a change needs more chunks than there are.
    func exhausted(_ change: String, remedy: String = Self.remedy) -> CambiumError {
        let byteCount = chunkCountMax * PageLayout.chunkByteCount
        let limit = byteCount >= 1 << 30 ? "\(byteCount >> 30) GiB" : "\(byteCount >> 20) MiB"
        return CambiumError(.limitExceeded, "A graph holds at most \(limit) of pages, and \(change). \(remedy)")
    }
}

extension PageSpace {
    /// Chunks that a draft can still open.
    @inline(__always) var freeChunkCount: Int { emptyChunks.count + max(0, capacity.chunkCountMax - chunkCount) }

    /// Whether only the reserve for deletions is left.
    @inline(__always) var isInReserve: Bool { freeChunkCount < capacity.reserveChunkCount }
}
