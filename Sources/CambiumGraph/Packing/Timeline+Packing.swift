package import CambiumModel

/// Packing changes the positions of objects and pages, not the content of the graph. So packing creates a version with the transaction
/// number of the preceding version.
extension Timeline {
    /// Does one step of a plan. The caller must ensure that no draft is in progress and no thread writes.
    ///
    /// If the newest version is unconfirmed, the version that packing creates is unconfirmed, too.
    ///
    /// Complexity: bounded by the limits of the plan, independent of the size of the graph.
    ///
    /// - Parameter show: Receives the new version, unless it is unconfirmed.
    package func pack(_ plan: inout PackingPlan, show: (Graph) -> Void = { _ in }) throws(CambiumError) {
        // A plan is valid only for its layout. A step also needs free chunks, because it copies pages before it releases any.
        guard head.layout === plan.layout, space.canOpen(PackingLimits.freeChunkCountMin) else {
            plan.isAbandoned = true
            return
        }
        var draft = packingDraft()
        let hasChanged: Bool
        switch plan.work {
        case .rows(var gathering):
            let gainedCount = gathering.gainedCount
            plan.rowCount += Packer.gather(&draft, &gathering, rowCountMax: plan.limits.rowCountMax)
            hasChanged = gathering.gainedCount > gainedCount
            plan.work = .rows(gathering)
        case .pages(var evacuation):
            let byteCount = Packer.evacuate(&draft, &evacuation, byteCountMax: plan.limits.byteCountMax)
            plan.byteCount += byteCount
            hasChanged = byteCount > 0
            plan.work = .pages(evacuation)
        }
        if !hasChanged { return }
        let mayBeRolledBack = isUnconfirmed
        try publish(draft, isUnconfirmed: mayBeRolledBack) { if !mayBeRolledBack { show($0) } }
    }

    /// Remembers which chunks or rows a packing plan could not pack, so that no later plan tries them again until something changes. Call
    /// this method only while no thread writes.
    ///
    /// Complexity: O(chunks of the plan).
    package func finish(_ plan: PackingPlan) {
        if !plan.isDone || plan.isAbandoned { return }
        switch plan.work {
        case .rows(let gathering):
            let vain = (gathering.sources.count, gathering.liveCount)
            packing.vainCounts[plan.layout.root(ofTable: gathering.table.index)] = gathering.gainedCount == 0 ? vain : nil
        case .pages(let evacuation):
            for (chunk, live) in evacuation.live {
                let rest = live - evacuation.moved[chunk, default: 0]
                packing.stuckChunks[chunk] = rest > 0 ? rest : nil
                packing.hopelessChunks[chunk] = evacuation.withBlobs && rest > 0 ? rest : nil
            }
        }
    }
}
