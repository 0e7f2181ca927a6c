/// The facts that a plan needs in addition to the graph. They are collected while no thread writes, and read while other threads write.
package struct PackingSurvey: Sendable {
    let limits: PackingLimits
    /// For each chunk, the number of granules that some version has in it; 0 for an open chunk.
    let live: [UInt16]
    let memory: PackingMemory
}

/// The work that packing has found to be impossible.
struct PackingMemory: Sendable {
    /// For each table of which nothing could be gathered, the numbers of its sparse groups and live rows at that time.
    var vainCounts: [Int: (sparseGroups: Int, live: Int)] = [:]
    /// For each chunk that could not be emptied, the number of granules that are left.
    var stuckChunks: [Int: Int] = [:]
    /// The same for chunks that could not be emptied although their blobs were copied, too.
    var hopelessChunks: [Int: Int] = [:]
}

extension Timeline {
    /// Collects the facts for a plan. Call it only while no thread writes. Complexity: O(chunks).
    ///
    /// - Returns: `nil` if so few chunks are left that only changes may use them.
    package func survey(_ limits: PackingLimits) -> PackingSurvey? {
        if space.freeChunkCount < PackingLimits.freeChunkCountMin { return nil }
        var live = Array(UnsafeBufferPointer(start: space.live, count: space.chunkCount))
        for open in space.openChunks { live[Int(open)] = 0 }
        return PackingSurvey(limits: limits, live: live, memory: packing)
    }
}
