import CambiumGraph
import CambiumModel

/// Translates queries and conditions. A query or a condition can contain provisional ids of the edit, but the graph of a preview has other
/// ids.
extension EditPreview {
    /// Returns a query with the ids of the graph in place of provisional ids. Throws `.limitExceeded` if the condition of the query is
    /// nested too deeply.
    package borrowing func resolved(_ query: Query) throws(CambiumError) -> Query {
        let ids = ids
        if ids.isEmpty { return query }
        var resolved = query
        resolved.arguments = query.arguments.mapValues { $0.resolved(ids) }
        if let condition = query.condition {
            try condition.check()
            let own = condition.resolved(ids)
            // Assigning a condition removes the text of the query, which errors quote. So only a changed condition is assigned.
            if own != condition { resolved.condition = own }
        }
        return resolved
    }

    /// Returns a condition with the ids of the graph in place of provisional ids. Throws `.limitExceeded` if the condition is nested too
    /// deeply.
    borrowing func resolved(_ condition: Condition) throws(CambiumError) -> Condition {
        try condition.check()
        return condition.resolved(ids)
    }
}

extension QueryValue {
    /// Returns the value, with each object id that is a key of `ids` replaced with its value in `ids`.
    func replacing(_ ids: [ObjectID: ObjectID]) -> QueryValue {
        switch self {
        case .object(let id): .object(ids[id] ?? id)
        case .list(let values): .list(values.map { $0.replacing(ids) })
        case .value: self
        }
    }
}

extension Condition {
    /// Returns the condition with the ids of the graph in place of provisional ids. The method recurses once for each level of the
    /// condition.
    fileprivate func resolved(_ ids: [ObjectID: ObjectID]) -> Condition {
        switch form {
        case .constant: return self
        case .comparison(var comparison):
            comparison.left = comparison.left.resolved(ids)
            comparison.right = comparison.right.resolved(ids)
            return .comparison(comparison)
        case .and(let parts): return .and(parts.map { $0.resolved(ids) })
        case .or(let parts): return .or(parts.map { $0.resolved(ids) })
        case .not(let part): return .not(part.resolved(ids))
        case .related(let quantifier, let path, let part): return .related(quantifier, path, part.resolved(ids))
        }
    }
}

extension Operand {
    /// Returns the operand with the ids of the graph in place of provisional ids. A list contains no other list, so there is no recursion.
    fileprivate func resolved(_ ids: [ObjectID: ObjectID]) -> Operand {
        guard case .list(let elements) = form else { return withOwnID(ids) }
        var list = self
        list.form = .list(elements.map { $0.withOwnID(ids) })
        return list
    }

    private func withOwnID(_ ids: [ObjectID: ObjectID]) -> Operand {
        guard case .literal(.id(let id)) = form, let own = ids[id] else { return self }
        var operand = self
        operand.form = .literal(.id(own))
        return operand
    }
}
