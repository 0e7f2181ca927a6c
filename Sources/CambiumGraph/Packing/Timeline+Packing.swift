package import CambiumModel

/// Packing changes where things are, not what is there: the version that it makes has the number of the one before.
extension Timeline {
    /// Does one step of a plan. Only while nobody writes, and between two drafts.
    ///
    /// If the newest version may yet be taken back, so may what packing makes of it.
    ///
    /// Complexity: bounded by the limits of the plan, whatever the size of the graph.
    ///
    /// - Parameter show: called with the new version if it cannot be taken back.
    package func pack(_ plan: inout PackingPlan, show: (Graph) -> Void = { _ in }) throws(CambiumError) {
        // What is planned has numbers of one layout. A step copies pages before it frees any.
        guard head.layout === plan.layout, space.freeChunkCount >= PackingLimits.freeChunkCountMin else {
            plan.isAbandoned = true
            return
        }
        var draft = packingDraft()
        let hasChanged: Bool
        switch plan.work {
        case .rows(var gathering):
            let gainedCount = gathering.gainedCount
            plan.rowCount += draft.gather(&gathering, rowCountMax: plan.limits.rowCountMax)
            hasChanged = gathering.gainedCount > gainedCount
            plan.work = .rows(gathering)
        case .pages(var evacuation):
            let byteCount = draft.evacuate(&evacuation, byteCountMax: plan.limits.byteCountMax)
            plan.byteCount += byteCount
            hasChanged = byteCount > 0
            plan.work = .pages(evacuation)
        }
        if !hasChanged { return }
        let mayBeTakenBack = isTentative
        try publish(draft, isTentative: mayBeTakenBack) { if !mayBeTakenBack { show($0) } }
    }

    /// A draft of the same transaction.
    func packingDraft() -> Draft {
        var draft = draft()
        draft.transaction = draft.original.transaction.rawValue
        return draft
    }

    /// Remembers what a plan could not do, so that it is not tried again before something has changed. Only while nobody writes.
    ///
    /// Complexity: O(chunks of the plan).
    package func finish(_ plan: PackingPlan) {
        if !plan.isDone || plan.isAbandoned { return }
        switch plan.work {
        case .rows(let gathering):
            let vain = (gathering.sources.count, gathering.liveCount)
            packing.vainCounts[gathering.table.index] = gathering.gainedCount == 0 ? vain : nil
        case .pages(let evacuation):
            for (chunk, live) in evacuation.live {
                let rest = live - evacuation.moved[chunk, default: 0]
                packing.stuckChunks[chunk] = rest > 0 ? rest : nil
                packing.hopelessChunks[chunk] = evacuation.withBlobs && rest > 0 ? rest : nil
            }
        }
    }
}
