import CambiumModel

@testable import CambiumGraph

extension Timeline {
    /// Makes up to four plans and runs all of their steps, until a plan gains something.
    ///
    /// - Returns: `false` if no plan gains anything.
    func pack(_ limits: PackingLimits) throws -> Bool {
        for _ in 0..<4 {
            guard let survey = survey(limits), var plan = PackingPlan(head, survey) else { return false }
            while !plan.isDone { try pack(&plan) }
            finish(plan)
            if plan.hasGained { return true }
        }
        return false
    }
}
