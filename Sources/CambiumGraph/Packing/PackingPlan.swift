/// What packing is to do, and how far it is.
///
/// A plan is made from a graph that nobody changes, while others write. Each step looks at what is planned once more, does a bounded
/// part of it, and remembers where it is. What has changed since the plan was made is left to the next plan.
/// Docs/CHECKPOINTS.md, "Packing".
package struct PackingPlan {
    let limits: PackingLimits
    let layout: GraphLayout
    var work: Work
    /// Whether the schema has changed, or too few chunks are left.
    var isAbandoned = false
    /// Rows that were moved, and bytes of pages that were copied.
    package internal(set) var rowCount = 0
    package internal(set) var byteCount = 0

    enum Work {
        case rows(RowGathering)
        case pages(PageEvacuation)
    }

    /// Complexity: O(groups), or O(objects) if values of more than 255 bytes have to be found.
    ///
    /// - Parameter graph: of the timeline of the survey; nobody takes it back.
    /// - Returns: nil if nothing is worth its while.
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

    /// Whether no step is left.
    package var isDone: Bool {
        if isAbandoned { return true }
        return switch work {
        case .rows(let gathering): gathering.isDone
        case .pages(let evacuation): evacuation.isDone
        }
    }

    /// Whether something was gained.
    package var hasGained: Bool {
        switch work {
        case .rows(let gathering): gathering.gainedCount > 0
        case .pages: byteCount > 0
        }
    }
}
