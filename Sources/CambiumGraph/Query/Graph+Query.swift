public import CambiumModel

/// The objects that a query found.
///
/// ```swift
/// let answer = try graph.answer(Query("Note", sort: "title", limit: 20))
/// print(answer.ids.count, answer.plan.steps.map(\.kind), answer.cursor?.description ?? "")
/// ```
public struct QueryAnswer: Sendable {
    /// The objects, in the order of the query.
    public let ids: [ObjectID]
    /// The end of the answer, from which another query can continue; `nil` if there are no objects.
    public let cursor: QueryCursor?
    /// The steps by which the query found the objects.
    public let plan: QueryPlan
    /// The places of the objects in the graph on which the query ran.
    package let places: [ObjectPlace]
}

extension Graph {
    /// Returns the objects of a query's answer, in the order of the query.
    ///
    /// ```swift
    /// let adults = try graph.find(Query("Person", where: "age >= 18", sort: "name", limit: 20))
    /// ```
    ///
    /// Throws `.unknownName` if there is no such entity, and `.invalidInput` with a position if the condition does not fit the schema.
    /// Throws `.invalidInput` for a negative limit or offset, a cursor of another query, and arguments that do not fit the parameters.
    /// Throws `.limitExceeded` if the query is too large. Throws `CancellationError` if the task was cancelled. Complexity: O(objects that
    /// the plan reads + found · log limit).
    public func find(_ query: Query) throws -> [ObjectID] {
        try measuring(query) {
            var run = try QueryRun(query, self)
            let rows = try run.rows()
            return run.ids(rows)
        }
    }

    /// Returns the first object of the answer, or `nil` if the answer is empty. Throws as `find(_:)` does. Complexity: as for `find(_:)`
    /// with limit 1.
    public func first(_ query: Query) throws -> ObjectID? {
        var first = query
        first.limit = min(1, query.limit ?? 1)
        return try find(first).first
    }

    /// Returns the only object of the answer, or `nil` if the answer is empty. Throws `.ruleViolated` if the answer has several objects.
    /// Also throws as `find(_:)` does. Complexity: as for `find(_:)` with limit 2.
    public func only(_ query: Query) throws -> ObjectID? {
        var two = query
        two.limit = min(2, query.limit ?? 2)
        let found = try find(two)
        if found.count > 1 {
            throw CambiumError(.ruleViolated, "More than one '\(query.entity)' satisfies the condition. Make the condition narrower.")
        }
        return found.first
    }

    /// Returns whether the answer has at least one object. Throws as `find(_:)` does. Complexity: as for `find(_:)` with limit 1.
    public func contains(_ query: Query) throws -> Bool { try first(query) != nil }

    /// Returns the number of objects in the answer. Unless the query has a cursor, the objects are not sorted, and only the properties in
    /// the condition are read. Throws as `find(_:)` does. Complexity: O(objects that the plan reads).
    public func count(_ query: Query) throws -> Int {
        try measuring(query) { try counted(query, isExplained: false).count }
    }

    /// Returns the answer with the steps of its plan, and with a cursor from which another query can continue. Throws as `find(_:)` does.
    /// Complexity: as for `find(_:)`.
    public func answer(_ query: Query) throws -> QueryAnswer { try answer(query, isExplained: true) }

    /// Returns the answer of a query. The plan states each part of an `or` only if `isExplained` is true.
    package func answer(_ query: Query, isExplained: Bool) throws -> QueryAnswer {
        try measuring(query) { try answered(query, isExplained: isExplained) }
    }

    private func answered(_ query: Query, isExplained: Bool) throws -> QueryAnswer {
        let start = ContinuousClock.now
        var run = try QueryRun(query, self, isExplained: isExplained)
        let rows = try run.rows()
        var plan = run.plan
        plan.duration = ContinuousClock.now - start
        let cursor = rows.last.map { run.cursor(after: $0) }
        if run.context.isCancelled { throw CancellationError() }
        let table = run.table.index
        return QueryAnswer(
            ids: run.ids(rows), cursor: cursor, plan: plan, places: rows.map { ObjectPlace(table: table, row: $0) })
    }
}

extension QueryRun {
    /// Returns the ids of the objects in the given rows.
    fileprivate func ids(_ rows: [UInt32]) -> [ObjectID] {
        let (reader, root) = (context.reader.rows(table.index), entity.root)
        return rows.map { ObjectID(root: root, serial: reader.serial($0)) }
    }

    /// Returns a cursor for the position after a row.
    func cursor(after row: UInt32) -> QueryCursor {
        QueryCursor(key: order.key(row), serial: context.reader.rows(table.index).serial(row), order: order.hash(of: query))
    }
}

extension Graph {
    /// Groups the objects that satisfy the condition, and returns one row for each group. The rows are ordered by the sort keys of the
    /// query, or by the key values of the groups. If there are no keys, there is one row for all objects.
    ///
    /// The query's limit and offset apply to the groups. Throws the errors of `find(_:)`. Also throws `.invalidInput` if the query has a
    /// cursor. Complexity: O(objects that the plan reads + groups · log groups).
    public func aggregate(_ query: Query, _ grouping: Grouping) throws -> [AggregateRow] {
        try measuring(query) { try grouped(query, grouping, isExplained: false).rows }
    }

    /// Returns the rows of `aggregate(_:_:)`, and the plan. The steps of the plan find the objects, and then choose and sort the groups.
    package func explainedAggregate(_ query: Query, _ grouping: Grouping) throws -> (rows: [AggregateRow], plan: QueryPlan) {
        try measuring(query) { try grouped(query, grouping, isExplained: true) }
    }

    private func grouped(
        _ query: Query, _ grouping: Grouping, isExplained: Bool
    ) throws -> (rows: [AggregateRow], plan: QueryPlan) {
        let start = ContinuousClock.now
        try grouping.having?.check()
        var run = try GroupRun(query, grouping, self, isExplained: isExplained)
        let order: GroupOrder
        do throws(QueryMistake) {
            order = try GroupOrder(grouping, run.binder, run.entity)
        } catch {
            throw error.error(in: nil)
        }
        // Mistakes are reported before objects are read, because reading objects may take a long time.
        let condition: GroupCondition?
        do throws(QueryMistake) { condition = try order.condition() } catch { throw grouping.located(error) }
        do throws(QueryMistake) { for key in query.sort { _ = try order.place(key) } } catch { throw error.error(in: nil) }
        var rows = try run.rows()
        let foundCount = rows.count
        do throws(QueryMistake) { rows = try order.kept(rows, condition) } catch { throw grouping.located(error) }
        do throws(QueryMistake) { rows = try order.sorted(rows, by: query.sort) } catch { throw error.error(in: nil) }
        let part = Array(rows.dropFirst(query.offset).prefix(query.limit ?? .max))
        var plan = run.plan
        if isExplained, let having = grouping.having { plan.addStep(of: having, groupCount: foundCount, rows.count) }
        plan.addSteps(of: query, groupCount: rows.count, part.count)
        plan.duration = ContinuousClock.now - start
        return (part, plan)
    }
}

extension QueryPlan {
    /// Adds the step that omits the groups that do not satisfy the condition on groups.
    fileprivate mutating func addStep(of having: Condition, groupCount: Int, _ keptCount: Int) {
        steps.append(Step(kind: .limit, name: "having \(having)", estimatedCount: nil, objectCount: keptCount, readCount: groupCount))
    }

    /// Adds the steps that sort all groups, and that omit groups before the offset and after the limit.
    fileprivate mutating func addSteps(of query: Query, groupCount: Int, _ returnedCount: Int) {
        if !query.sort.isEmpty {
            let name = query.sort.map(\.description).joined(separator: ",")
            steps.append(Step(kind: .sort, name: name, estimatedCount: nil, objectCount: groupCount, readCount: groupCount))
        }
        if query.limit != nil || query.offset != 0 {
            steps.append(Step(kind: .limit, name: nil, estimatedCount: nil, objectCount: returnedCount, readCount: groupCount))
        }
    }
}

extension Grouping {
    /// Returns the error for a mistake in the condition on the groups.
    fileprivate func located(_ mistake: QueryMistake) -> CambiumError {
        var error = mistake.error(in: havingText)
        error.place?.file = havingOption
        return error
    }
}

extension Graph {
    /// Returns the number of objects in the answer, and the steps by which the query found them.
    package func explainedCount(_ query: Query) throws -> (count: Int, plan: QueryPlan) {
        try measuring(query) { try counted(query, isExplained: true) }
    }

    private func counted(_ query: Query, isExplained: Bool) throws -> (count: Int, plan: QueryPlan) {
        let start = ContinuousClock.now
        if query.cursor != nil {
            let answer = try answered(query, isExplained: isExplained)
            return (answer.ids.count, answer.plan)
        }
        var run = try QueryRun(query, self, isExplained: isExplained)
        let count = min(max(0, try run.count() - query.offset), query.limit ?? .max)
        var plan = run.plan
        plan.duration = ContinuousClock.now - start
        return (count, plan)
    }

    /// Returns a cursor for the position after an object, in the order of a query. Throws `.invalidInput` if the object belongs to another
    /// hierarchy.
    package func cursor(_ query: Query, after place: ObjectPlace) throws -> QueryCursor {
        let run = try QueryRun(query, self)
        guard Int(place.table) == run.table.index else {
            let name = name(of: id(of: place)) ?? "The object"
            throw CambiumError(.invalidInput, "\(name) is not an object of '\(query.entity)'. Continue after an object of the answer.")
        }
        return run.cursor(after: place.row)
    }
}

extension Query {
    /// Returns a query that finds those objects of this query whose ids are in `ids`.
    package func narrowed(to ids: [ObjectID]) -> Query {
        let list = Operand(.list(ids.map { .object($0) }))
        let isListed = Condition.comparison(Comparison(Operand(.path(QueryPath(["_id"]))), .isIn, list))
        var narrowed = self
        narrowed.condition = condition.map { .and([isListed, $0]) } ?? isListed
        return narrowed
    }

    /// Returns a query for the objects of this query that also satisfy the condition in `text`. `arguments` contains the values for this
    /// condition.
    ///
    /// Throws `.invalidInput` if the condition does not fit the schema. The error states the position in `text`.
    package func narrowed(by text: String, _ arguments: [String: Operand], _ graph: Graph) throws(CambiumError) -> Query {
        var added = try Query(entity, where: text)
        added.keepArguments(arguments)
        try graph.check(added)
        var narrowed = self
        if let condition = added.condition { narrowed.condition = self.condition.map { .and([$0, condition]) } ?? condition }
        narrowed.arguments.merge(added.arguments) { own, _ in own }
        return narrowed
    }

    /// Returns a query for the objects in the answer of this query, without sort keys, limit, offset and cursor. `aggregate(_:_:)` would
    /// apply the limit and the offset to groups instead of objects. This query may have arguments that only another condition uses, such as
    /// a condition on the groups.
    ///
    /// Throws as `Graph.find(_:)` does if the query has a limit, an offset or a cursor. In this case, the answer must have at most 65,536
    /// objects.
    package func withoutOrder(in graph: Graph) throws -> Query {
        var objects = self
        if limit != nil || offset != 0 || cursor != nil {
            var answer = self
            answer.keepArguments(arguments)
            objects = narrowed(to: try graph.find(answer))
        }
        (objects.sort, objects.limit, objects.offset, objects.cursor) = ([], nil, 0, nil)
        return objects
    }

    /// Sets the arguments to `values`, without the values of parameters that do not occur in the condition.
    package mutating func keepArguments(_ values: [String: Operand]) {
        let names = condition?.parameterNames ?? []
        arguments = values.filter { names.contains($0.key) }
    }
}
