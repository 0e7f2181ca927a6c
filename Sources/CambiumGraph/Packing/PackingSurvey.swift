/// What a plan is made from beside the graph: taken while nobody writes, and looked at while others do.
package struct PackingSurvey: Sendable {
    let limits: PackingLimits
    /// For each chunk that is not open, the granules of it that some version has.
    let live: [UInt16]
    let memory: PackingMemory
}

/// What packing found that it cannot do.
struct PackingMemory: Sendable {
    /// For tables of which nothing could be gathered, their sparse groups and live rows then.
    var vainCounts: [Int: (sparseGroups: Int, live: Int)] = [:]
    /// For chunks that could not be emptied, the granules that are left.
    var stuckChunks: [Int: Int] = [:]
    /// And with their blobs.
    var hopelessChunks: [Int: Int] = [:]
}

extension Timeline {
    /// Looks at what there is to pack. Only while nobody writes. Complexity: O(chunks).
    ///
    /// - Returns: nil if so few chunks are left that only changes may use them.
    package func survey(_ limits: PackingLimits) -> PackingSurvey? {
        if space.freeChunkCount < PackingLimits.freeChunkCountMin { return nil }
        var live = Array(UnsafeBufferPointer(start: space.live, count: space.chunkCount))
        for open in space.openChunks { live[Int(open)] = 0 }
        return PackingSurvey(limits: limits, live: live, memory: packing)
    }
}
