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

    var plan: QueryPlan { run.plan }
    var entity: Entity { run.entity }

    mutating func rows() throws -> [AggregateRow] {
        let (codes, sums) = (codes, sums)
        var groupCount = codes.count
        for sum in sums { sum.grow(to: groupCount) }
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
