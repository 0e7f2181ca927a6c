/// The facts that a packing plan needs in addition to the graph. These facts are collected while no thread writes, so that the plan can be
/// made while other threads write.
package struct PackingSurvey: Sendable {
    let limits: PackingLimits
    /// For each chunk, the number of granules (16 bytes each) in use; 0 for a chunk to which writers may still add pages.
    let live: [UInt16]
    let memory: PackingMemory
}

extension Timeline {
    /// Collects the facts for a plan. Call this method only while no thread writes. Complexity: O(chunks).
    ///
    /// - Returns: `nil` if too few chunks are free. Packing needs free chunks, and must leave some of them for other changes.
    package func survey(_ limits: PackingLimits) -> PackingSurvey? {
        if !space.canOpen(PackingLimits.freeChunkCountMin) { return nil }
        var live = Array(UnsafeBufferPointer(start: space.live, count: space.chunkCount))
        for open in space.openChunks { live[Int(open)] = 0 }
        return PackingSurvey(limits: limits, live: live, memory: packing)
    }
}
