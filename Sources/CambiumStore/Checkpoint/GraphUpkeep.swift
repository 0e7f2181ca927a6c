internal import CambiumBytes
import CambiumGraph
import CambiumModel

/// Packs the pages of the newest graph (moves rows together so that pages become free), and builds its indexes. Works in short steps,
/// between which other threads write.
package struct GraphUpkeep: Sendable {
    let writer: WriterState
    private var timeline: Timeline { writer.timeline }

    /// Builds incomplete ordered indexes in short steps, between which other threads write. Stops if the newest transactions may still be
    /// rolled back. The remaining parts are then built by later transactions, because each transaction also builds a part of the indexes.
    func buildIndexes() throws {
        while true {
            let hasMore = try writer.lock.hold(as: .indexing) {
                if writer.isClosed || timeline.isUnconfirmed { return false }
                return try timeline.buildIndexes { writer.showPacked($0) }
            }
            if !hasMore { return }
            writer.lock.letOthersIn()
        }
    }

    /// Packs the pages (moves rows together so that pages become free) in short steps, between which other threads write. Other threads
    /// also write while a packing plan is made.
    ///
    /// - Returns: whether packing saved anything.
    package func pack(_ limits: PackingLimits, stepCountMax: Int) throws -> Bool {
        let begin = TickClock.now
        var found = MetricsRecord.Upkeep()
        var (hasGained, vainCount) = (false, 0)
        // A plan either gathers the rows of one table, or empties chunks. Gathering moves rows together, so that pages become free. The
        // plans that gather rows come first. Each table can have one such plan that saves nothing. The limit allows for these plans, so
        // that the plans that empty chunks are reached.
        let vainCountMax = Self.vainPlanCountMax + writer.graph.schema.entities.count
        while found.packingStepCount < stepCountMax, vainCount < vainCountMax, var plan = packingPlan(limits) {
            while !plan.isDone, found.packingStepCount < stepCountMax {
                try writer.lock.hold(as: .packing) { try step(&plan) }
                found.packingStepCount += 1
                writer.lock.letOthersIn()
            }
            writer.lock.hold(as: .packing) { timeline.finish(plan) }
            (found.packedRowCount, found.packedByteCount) = (found.packedRowCount + plan.rowCount, found.packedByteCount + plan.byteCount)
            hasGained = hasGained || plan.hasGained
            vainCount = plan.hasGained ? 0 : vainCount + 1
        }
        writer.metrics.upkeep.withLock { $0.trackPacking(found, ticks: TickClock.ticks(since: begin)) }
        return hasGained
    }

    /// Makes a packing plan while other threads write. Returns `nil` if packing is not worthwhile or not possible, or if the store was
    /// closed.
    private func packingPlan(_ limits: PackingLimits) -> PackingPlan? {
        guard let survey = writer.lock.hold(as: .packing, { writer.isClosed ? nil : timeline.survey(limits) }) else { return nil }
        var planned: Graph? = writer.graph
        let plan = planned.flatMap { PackingPlan($0, survey) }
        // Releases the planned graph while the lock is held, so that this thread's reads of its pages precede later writes to them.
        // Reference counts also ensure this order, but the thread sanitizer does not see it.
        writer.lock.hold(as: .packing) { planned = nil }
        return plan
    }

    /// The maximum number of packing steps before a checkpoint. These steps move several hundred thousand rows, or copy 256 MiB of pages.
    static let stepCountMax = 1024

    /// The maximum number of consecutive packing plans that save nothing, in addition to one useless plan for each entity. Without this
    /// limit, packing might never end while writers change everything.
    private static let vainPlanCountMax = 4

    /// Executes one step of a packing plan. Call this method only while the writer's lock is held.
    private func step(_ plan: inout PackingPlan) throws {
        try writer.checkOpen()
        // A version that readers see is never rolled back. So the timeline can confirm it, and packing can then move its rows.
        if timeline.head.transaction == writer.graph.transaction { timeline.confirm(timeline.head) }
        try timeline.pack(&plan) { writer.showPacked($0) }
        timeline.prepareNext()
    }
}
