import CambiumModel

/// One execution of a request for aggregates.
struct GroupRun: ~Copyable {
    private var run: QueryRun
    private let grouping: Grouping
    let binder: ConditionBinder
    private let codes: GroupCodes
    private let sums: [GroupSums]

    /// The maximum number of keys, and also of functions, in one request.
    private static let partCountMax = 64

    init(_ query: Query, _ grouping: Grouping, _ graph: Graph, isExplained: Bool) throws(CambiumError) {
        guard grouping.keys.count <= Self.partCountMax, grouping.aggregates.count <= Self.partCountMax else {
            throw CambiumError(
                .limitExceeded,
                "A query has at most \(Self.partCountMax) group keys, and at most \(Self.partCountMax) functions. Remove some of them.")
        }
        if query.cursor != nil {
            throw CambiumError(.invalidInput, "A cursor continues a list of objects, but this query returns groups. Remove the cursor.")
        }
        for key in grouping.keys { try key.check() }
        for aggregate in grouping.aggregates { try aggregate.operand?.check() }
        var rows = query
        // A query refuses arguments that its condition does not use. So the query for the rows gets no arguments that only the condition on
        // the groups uses.
        let names = (grouping.having?.parameterNames ?? []).subtracting(query.condition?.parameterNames ?? [])
        rows.arguments = query.arguments.filter { !names.contains($0.key) }
        try rows.check()
        // The sort keys, the limit and the offset apply to the groups, so they are removed from the query for the rows.
        (rows.sort, rows.limit, rows.offset) = ([], nil, 0)
        let run = try QueryRun(rows, graph, isExplained: isExplained)
        let binder = ConditionBinder(context: run.context, arguments: query.arguments)
        var sums: [GroupSums] = []
        let codes: GroupCodes
        do throws(QueryMistake) {
            codes = try binder.codes(grouping.keys, run.entity, run.table)
            for aggregate in grouping.aggregates { sums.append(try binder.sums(aggregate, run.entity)) }
        } catch {
            throw error.error(in: nil)
        }
        (self.grouping, self.binder, self.codes, self.sums) = (grouping, binder, codes, sums)
        self.run = run
    }

    /// The steps that read the least or greatest values from indexes.
    private var firstSteps: [QueryPlan.Step] = []

    var plan: QueryPlan {
        var plan = run.plan
        plan.steps += firstSteps
        return plan
    }

    var entity: Entity { run.entity }

    mutating func rows() throws -> [AggregateRow] {
        let (codes, sums) = (codes, sums)
        var groupCount = codes.count
        for sum in sums { sum.grow(to: groupCount) }
        if grouping.keys.isEmpty, let firsts = try firstRows() {
            for (sum, rows) in zip(sums, firsts) { for row in rows { add(row, to: sum) } }
            return [AggregateRow(group: [], values: sums.map { .value($0.result(0)) })]
        }
        var numbers = [Int32](repeating: 0, count: PageLayout.fanOut)
        try run.forEachMatch { view, bits in
            codes.number(bits, view, &numbers)
            if codes.count > groupCount {
                groupCount = codes.count
                for sum in sums { sum.grow(to: groupCount) }
            }
            for sum in sums { sum.add(bits, view, numbers) }
        }
        if run.context.isCancelled { throw CancellationError() }
        return (0..<codes.count).map { code in
            AggregateRow(group: codes.values(code), values: sums.map { .value($0.result(code)) })
        }
    }

    /// Returns for each function the row with the least or the greatest value, or no row if no object satisfies the condition. Returns
    /// `nil` unless all functions are `min` or `max` of attributes in whose order indexes have the objects.
    private mutating func firstRows() throws -> [[UInt32]]? {
        guard !grouping.aggregates.isEmpty, grouping.aggregates.allSatisfy({ $0.isEnd }) else { return nil }
        var (found, steps): ([[UInt32]], [QueryPlan.Step]) = ([], [])
        for aggregate in grouping.aggregates {
            guard let operand = aggregate.operand else { return nil }
            var first = run.query
            first.sort = [SortKey(operand, aggregate.function == .max ? .descending : .ascending, nulls: .last)]
            let ordered = try QueryRun(first, run.graph)
            guard let rows = try ordered.rowsInIndexOrder(1) else { return nil }
            found.append(rows.rows)
            steps.append(rows.step)
        }
        firstSteps = steps
        return found
    }

    private func add(_ row: UInt32, to sum: GroupSums) {
        let view = run.context.group(of: row, run.context.reader.rows(run.table.index))
        sum.add(GroupBits(row), view, [Int32](repeating: 0, count: PageLayout.fanOut))
    }
}

extension Aggregate {
    /// Whether the result is the value of the first object in an order: the function is `min` or `max`, and its operand may be an attribute
    /// of the object itself.
    fileprivate var isEnd: Bool {
        guard function == .min || function == .max, case .path(let path)? = operand?.form else { return false }
        return path.names.count == 1
    }
}

extension ConditionBinder {
    /// Returns the `GroupCodes` that assign a number to each group of rows with equal values of `keys`.
    func codes(_ keys: [Operand], _ entity: Entity, _ table: TableLayout) throws(QueryMistake) -> GroupCodes {
        if keys.isEmpty { return SingleGroup() }
        var readers: [ValueReader] = []
        for key in keys {
            let reader = try reader(key, entity)
            if let path = reader as? PathReader, path.links.contains(where: \.isToMany) {
                throw QueryMistake("'\(key)' leads to several values. Group by a path that leads to one value.", at: key.offset)
            }
            readers.append(reader)
        }
        if readers.count == 1, let path = readers[0] as? PathReader {
            if path.links.isEmpty, let field = path.field { return ColumnGroups(field, path, context.reader.rows(table.index)) }
            if path.links.count == 1, case .object = path.kind, let slot = path.links[0].linkSlot {
                return LinkGroups(path.links[0], slot: slot, path, context)
            }
        }
        return GeneralGroups(readers)
    }

    func sums(_ aggregate: Aggregate, _ entity: Entity) throws(QueryMistake) -> GroupSums {
        guard let operand = aggregate.operand else {
            if aggregate.function == .count { return RowCounts() }
            throw QueryMistake("'\(aggregate.function.rawValue)' needs an attribute. Name an attribute.", at: TextOffset(nil))
        }
        let reader = try reader(operand, entity)
        let needsNumbers = aggregate.function == .sum || aggregate.function == .avg
        if needsNumbers, reader.kind != .number {
            throw QueryMistake(
                "'\(operand)' is \(reader.kind.text), but '\(aggregate.function.rawValue)' needs numbers. Name another attribute.",
                at: operand.offset)
        }
        if aggregate.function == .min || aggregate.function == .max, case .object = reader.kind {
            throw QueryMistake("'\(operand)' leads to objects, which have no order. Name an attribute.", at: operand.offset)
        }
        if needsNumbers, let path = reader as? PathReader, path.links.isEmpty, let field = path.field, ColumnSums.adds(field.type) {
            return ColumnSums(aggregate.function, field)
        }
        return GeneralSums(aggregate.function, reader)
    }
}
