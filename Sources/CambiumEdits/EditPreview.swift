public import CambiumGraph
public import CambiumModel

/// The graph that would result from committing an edit. It answers queries until the closure that was passed to `Store.preview` returns.
///
/// In results and in the conditions of queries, the inserted objects have their provisional ids.
///
/// ```swift
/// let count = try store.preview(edit) { try $0.count(Query("Note", where: "rating >= 4")) }
/// ```
public struct EditPreview: ~Copyable {
    package let graph: Graph
    /// The ids that the inserted objects have in `graph`, by their provisional ids.
    let ids: [ObjectID: ObjectID]
    /// The provisional ids of the inserted objects, by their ids in `graph`.
    package let provisionalIDs: [ObjectID: ObjectID]
    /// The rules of the schema that a commit would report as broken.
    public let violations: [String]
    /// The state of the edit with which a save compares the records of the preview.
    package let moment: EditMoment

    fileprivate init(_ graph: Graph, _ edit: Edit, _ ids: [ObjectID: ObjectID], violations: [String]) {
        (self.graph, self.ids, self.violations) = (graph, ids, violations)
        moment = EditMoment(of: edit, isPreview: true)
        provisionalIDs = Dictionary(ids.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the objects of a query's answer, in the order of the query. Throws as `Graph.find(_:)` does. If the query has a cursor, the
    /// cursor must come from a graph and not from a preview, because the results of a preview contain provisional ids.
    public borrowing func find(_ query: Query) throws -> [ObjectID] {
        let provisionalIDs = provisionalIDs
        return try graph.find(resolved(query)).map { provisionalIDs[$0] ?? $0 }
    }

    /// Returns the number of objects in the answer to a query. Throws as `Graph.count(_:)` does.
    public borrowing func count(_ query: Query) throws -> Int { try graph.count(resolved(query)) }

    /// Returns one row for each group of the objects that satisfy the query. Throws as `Graph.aggregate(_:_:)` does.
    public borrowing func aggregate(_ query: Query, _ grouping: Grouping) throws -> [AggregateRow] {
        var own = grouping
        own.having = try grouping.having.map { try resolved($0) }
        let provisionalIDs = provisionalIDs
        return try graph.aggregate(resolved(query), own).map { row in
            AggregateRow(
                group: row.group.map { $0.replacing(provisionalIDs) }, values: row.values.map { $0.replacing(provisionalIDs) })
        }
    }

    /// The value of an attribute of an object. The attribute may be derived.
    ///
    /// Throws `.notFound` if there is no object `id`, and `.unknownName` if the object's entity has no attribute of this name.
    public subscript(_ id: ObjectID, _ attribute: String) -> Value {
        get throws(CambiumError) { try graph[ids[id] ?? id, attribute] }
    }
}

extension Store {
    /// Applies an edit to a transaction that is never committed, and calls `body` with the resulting graph. Nothing is written.
    ///
    /// The edit is compared with the newest graph, and `policy` resolves conflicts, as in `commit`. The call holds the writer's lock until
    /// `body` returns, so other writers wait. `body` must not write to the store.
    ///
    /// Throws the errors of `body` and the errors of `commit`, except that broken rules of the whole graph are reported as `violations` of
    /// the preview. Complexity: that of a commit.
    public func preview<Result>(
        _ edit: Edit, policy: EditPolicy = .error, _ body: (borrowing EditPreview) throws -> Result
    ) throws -> Result {
        var result: Result?
        do {
            _ = try transact(Author(), for: "preview") { transaction in
                let ids = try edit.apply(to: &transaction, policy)
                let violations = try transaction.brokenRules()
                result = try transaction.draft.withPreview(for: .queries) { try body(EditPreview($0, edit, ids, violations: violations)) }
                throw EndOfPreview()
            }
        } catch is EndOfPreview {}  // This error prevents the commit.
        guard let result else { preconditionFailure("A preview that did not throw has called its closure.") }
        return result
    }
}
