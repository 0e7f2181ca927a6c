import CambiumModel

/// One way to find rows of a table that may satisfy a condition, without reading the whole table.
indirect enum RowAccess {
    /// The rows of the objects whose ids or identities the condition states.
    case identity([UInt32])
    case index(OrderedIndex, [IndexRange])
    /// The rows from which a relationship leads to a target. The targets are the rows that another access finds and that satisfy a
    /// condition.
    case inverse(LinkStep, ConditionNode, RowAccess)
    /// The rows that at least one of several ways finds.
    case union([AccessPlanner.Candidate])

    /// Calls `body` with each row that this access finds. `body` may receive a row several times. Stops early if the task was cancelled.
    func forEach(_ context: QueryContext, _ counts: AccessCounts, _ body: (UInt32) -> Void) {
        switch self {
        case .identity(let rows):
            counts.read += rows.count
            rows.forEach(body)
        case .index(_, let ranges):
            for range in ranges where !context.isCancelled {
                range.forEach { place in
                    body(place.row)
                    return counts.add(context)
                }
            }
        case .inverse(let step, let node, let targets):
            let inverse = step.inverse
            let rows = context.reader.rows(step.targetTable.index)
            var seen: Set<UInt32> = []
            targets.forEach(context, counts) { target in
                guard !context.isCancelled, seen.insert(target).inserted else { return }
                if node.bits(context.group(of: target, rows), GroupBits(target)).isEmpty { return }
                _ = context.reader.visitMembers(inverse, owner: target) { owner in
                    body(owner)
                    return counts.add(context)
                }
            }
        case .union(let parts): for part in parts { part.access.forEach(context, counts, body) }
        }
    }

    /// The kind of the step in a query plan, and the name that the plan states for the step.
    var step: (kind: QueryPlan.Step.Kind, name: String?) {
        switch self {
        case .identity: (.identity, nil)
        case .index(let index, _): (.index, index.layout.name)
        case .inverse(let step, _, _): (.inverse, step.relationshipName)
        case .union(let parts): parts.first?.access.step ?? (.identity, nil)
        }
    }
}

/// Counts the rows that a `RowAccess` reads.
final class AccessCounts {
    var read = 0

    /// A bit mask for counting rows: an access checks at every 1024th row whether the task was cancelled.
    private static let cancellationMask = 1023

    /// Counts one row. Returns whether the access may continue, because the task was not cancelled.
    @inline(__always) func add(_ context: QueryContext) -> Bool {
        read += 1
        return read & Self.cancellationMask != 0 || !context.checkCancellation()
    }
}
