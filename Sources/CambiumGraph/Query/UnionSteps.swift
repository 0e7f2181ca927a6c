/// The steps of a plan for the parts of an `or`: one step for each index, relationship or other way to find rows.
///
/// Only an explained query counts the rows of each part separately. Other queries add the rows of all parts to one set.
struct UnionSteps {
    private struct Part {
        let step: (kind: QueryPlan.Step.Kind, name: String?)
        var estimate = 0
        var read = 0
        var rows: [UInt32: GroupBits] = [:]
        var count = 0
    }

    private var parts: [Part] = []
    /// The rows that the parts found, by the index of their group.
    private(set) var rows: [UInt32: GroupBits] = [:]

    /// Finds the rows of each part. Returns `nil` if the access is not a union of parts.
    init?(_ access: RowAccess, _ context: QueryContext) {
        guard case .union(let candidates) = access, !candidates.isEmpty else { return nil }
        for candidate in candidates {
            let step = candidate.access.step
            let place = parts.firstIndex { $0.step == step } ?? parts.endIndex
            if place == parts.endIndex { parts.append(Part(step: step)) }
            let counts = AccessCounts()
            candidate.access.forEach(context, counts) { row in
                parts[place].rows[row &>> PageLayout.rowShift, default: .none] |= GroupBits(row)
            }
            let (sum, isOverflowing) = parts[place].estimate.addingReportingOverflow(candidate.estimate)
            parts[place].estimate = isOverflowing ? .max : sum
            parts[place].read += counts.read
        }
        for part in parts { rows.merge(part.rows) { $0 | $1 } }
    }

    /// Counts the rows of a group that satisfy the whole condition, for each part that found them.
    mutating func count(_ matching: GroupBits, ofGroup index: UInt32) {
        for place in parts.indices { parts[place].count += (matching & parts[place].rows[index, default: .none]).count }
    }

    /// The steps, in the order of the parts in the condition. A row that several parts found counts for each of these parts.
    var steps: [QueryPlan.Step] {
        parts.map { part in
            QueryPlan.Step(
                kind: part.step.kind, name: part.step.name, estimatedCount: part.estimate, objectCount: part.count,
                readCount: part.read)
        }
    }
}
