import CambiumModel

@testable import CambiumGraph

extension Timeline {
    /// Makes plans and does all of their steps, until one has gained something.
    ///
    /// - Returns: false if none has.
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
