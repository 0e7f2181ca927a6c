/// A plan for packing the pages of a graph, and the progress of the plan. Packing moves the rows of sparse groups into shared groups, or
/// copies pages out of chunks that are mostly unused.
///
/// A plan is made from an immutable graph while other threads write. Each step examines the next places again, does a bounded part of the
/// work, and stores its position in the plan. A place that has changed since the plan was made is left to the next plan. See
/// Docs/Formats/CHECKPOINTS.md, "Packing".
package struct PackingPlan {
    let limits: PackingLimits
    let layout: GraphLayout
    var work: Work
    /// Whether the plan was abandoned, because the schema has changed or too few chunks are left.
    var isAbandoned = false
    /// The number of rows that were moved.
    package internal(set) var rowCount = 0
    /// The number of bytes in pages that were copied.
    package internal(set) var byteCount = 0

    enum Work {
        case rows(RowGathering)
        case pages(PageEvacuation)
    }

    /// Creates a plan. Complexity: O(chunks x log chunks + pages), or O(objects) if values of more than 255 bytes must be found.
    ///
    /// - Parameter graph: A confirmed graph of the timeline that made the survey.
    /// - Returns: `nil` if packing would save too little.
    package init?(_ graph: Graph, _ survey: PackingSurvey) {
        limits = survey.limits
        layout = graph.layout
        if let gathering = RowGathering(graph, survey) {
            work = .rows(gathering)
        } else if let evacuation = PageEvacuation(graph, survey) {
            work = .pages(evacuation)
        } else {
            return nil
        }
    }

    /// Whether all steps are done or the plan was abandoned.
    package var isDone: Bool {
        if isAbandoned { return true }
        return switch work {
        case .rows(let gathering): gathering.isDone
        case .pages(let evacuation): evacuation.isDone
        }
    }

    /// Whether the steps have saved any space.
    package var hasGained: Bool {
        switch work {
        case .rows(let gathering): gathering.gainedCount > 0
        case .pages: byteCount > 0
        }
    }
}

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
