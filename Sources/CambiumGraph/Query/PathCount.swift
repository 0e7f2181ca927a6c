public import CambiumModel

extension Graph {
    /// Returns the number of paths along some relationships. Each counted path begins at an object of a query, and ends at an object that
    /// satisfies another condition.
    ///
    /// ```swift
    /// let follows = ["follows", "follows"]
    /// let paths = try graph.pathCount(from: Query("Person", where: "age < 30"), along: follows, to: "city == \"Paris\"")
    /// ```
    ///
    /// The paths are not followed one by one: their number is computed from the numbers of links. The sort keys, the limit, the offset and
    /// the cursor of the query have no effect. The result is a `DecimalNumber` if it is greater than `Int64.max`.
    ///
    /// Throws `.unknownName`, `.invalidInput` and `CancellationError` as `find(_:)` does. Also throws `.invalidInput` if `path` is empty or
    /// does not consist of relationships. Throws `.limitExceeded` if the number has more than 38 digits. Complexity: O(objects) for two
    /// steps without a condition, otherwise O(objects + links · steps).
    ///
    /// - Parameters:
    ///   - query: The objects at which the paths begin. Its arguments are also the values of the parameters in `condition`.
    ///   - path: The names of the relationships, one for each step.
    ///   - condition: The condition that the last object of a path must satisfy; `nil` for all objects.
    public func pathCount(from query: Query, along path: [String], to condition: String? = nil) throws -> Value {
        let end = try condition.map { try Condition(parsing: $0) }
        return try PathCount(query, QueryPath(path), end, text: condition, self).value()
    }

    package func pathCount(from query: Query, along path: [String], to condition: Condition) throws -> Value {
        try PathCount(query, QueryPath(path), condition, text: nil, self).value()
    }
}

/// Counts paths. Each row has a weight: the number of paths from all starts to the row, or from the row to all ends.
struct PathCount: ~Copyable {
    private let start: QueryRun
    private let links: [LinkStep]
    private let context: QueryContext
    private let end: ConditionNode?
    private let hasStart: Bool

    init(_ query: Query, _ path: QueryPath, _ condition: Condition?, text: String?, _ graph: Graph) throws(CambiumError) {
        var starts = query
        // A query refuses arguments that its condition does not use. So the query for the starts gets no arguments that only the condition
        // on the ends uses.
        let names = (condition?.parameterNames ?? []).subtracting(query.condition?.parameterNames ?? [])
        starts.arguments = query.arguments.filter { !names.contains($0.key) }
        let start = try QueryRun(starts, graph)
        let context = start.context
        let hasStart = query.condition != nil || start.table.entities.count > 1
        try path.check()
        try condition?.check()
        let binder = ConditionBinder(context: context, arguments: query.arguments)
        let links: [LinkStep]
        var end: ConditionNode?
        do throws(QueryMistake) {
            let resolved = try binder.resolve(path, start.entity, at: TextOffset(nil))
            guard case .object(let target) = resolved.end, !resolved.links.isEmpty else {
                throw QueryMistake("'\(path)' does not consist of relationships. Name one or more relationships.", at: TextOffset(nil))
            }
            links = resolved.links
            if let condition { end = try binder.bind(condition, target) }
        } catch {
            throw error.error(in: text)
        }
        (self.context, self.hasStart, self.links, self.end) = (context, hasStart, links, end)
        self.start = start
    }

    /// The weight of each row of a table: the number of paths from all starts to the row, or from the row to all ends.
    private typealias Weights = [UInt64]

    func value() throws -> Value {
        let value = try counted()
        // In a cancelled task, conditions stop early, so the number may be wrong.
        if context.checkCancellation() { throw CancellationError() }
        return value
    }

    private func counted() throws -> Value {
        // The first step of each path leads to exactly one object. For each such object, the number of first steps to the object is
        // multiplied by the number of paths that continue from it.
        if let number = numberOfSameStep() { return try Self.value(number) }
        let forward = weightsAfterFirstStep()
        var backward = lastWeights()
        for step in links.dropFirst().dropLast().reversed() { backward = try weights(before: step, backward) }
        var total: UInt128 = 0
        for row in forward.indices where row < backward.count {
            let (product, isTooLarge) = UInt128(forward[row]).multipliedReportingOverflow(by: UInt128(backward[row]))
            let (sum, isOverflowing) = total.addingReportingOverflow(product)
            if isTooLarge || isOverflowing { throw Self.tooMany }
            total = sum
        }
        return try Self.value(total)
    }

    private static func value(_ total: UInt128) throws -> Value {
        if let number = Int64(exactly: total) { return .int(number) }
        guard let number = DecimalNumber(String(total)) else { throw tooMany }
        return .decimal(number)
    }

    private static var tooMany: CambiumError {
        CambiumError(.limitExceeded, "The number of paths is too large. Count shorter paths.")
    }

    private func empty(_ table: TableLayout) -> Weights {
        Weights(repeating: 0, count: context.reader.groupCount(table.index) << PageLayout.fanOutShift)
    }

    /// Returns the number of paths if there are two steps along the same relationship, and conditions on both the starts and the ends. In
    /// this case, one pass over the links is enough. Otherwise, returns `nil`.
    private func numberOfSameStep() -> UInt128? {
        guard let end, hasStart, links.count == 2, links[0].end === links[1].end else { return nil }
        let step = links[0]
        // A row has fewer than 2^32 links, so 32 bits are enough. Small elements fit better into the processor's cache.
        var forward = [UInt32](repeating: 0, count: context.reader.groupCount(step.targetTable.index) << PageLayout.fanOutShift)
        var backward = [UInt32](repeating: 0, count: context.reader.groupCount(step.ownerTable.index) << PageLayout.fanOutShift)
        let (starts, ends) = (context.rows(start.table, where: start.node), context.rows(step.targetTable, where: end))
        forward.withUnsafeMutableBufferPointer { forward in
            backward.withUnsafeMutableBufferPointer { backward in
                LinkedRows(context.reader).forEachLink(step) { owner, target in
                    guard Int(owner) < backward.count, Int(target) < forward.count else { return }
                    forward[Int(target)] &+= starts.bit(owner)
                    backward[Int(owner)] &+= ends.bit(target)
                }
            }
        }
        // Each product is less than 2^64, and there are fewer than 2^32 products. So the sum fits into 128 bits.
        return zip(forward, backward).reduce(0) { $0 &+ UInt128(UInt64($1.0) &* UInt64($1.1)) }
    }

    /// Returns the weight of each row after the first step: the number of links from a start to the row.
    private func weightsAfterFirstStep() -> Weights {
        let step = links[0]
        var weights = empty(step.targetTable)
        if !hasStart {
            fillDegrees(step.inverse, step.targetTable, &weights)
            return weights
        }
        let starts = context.rows(start.table, where: start.node)
        LinkedRows(context.reader).forEachLink(step) { owner, target in
            if Int(target) < weights.count { weights[Int(target)] &+= UInt64(starts.bit(owner)) }
        }
        return weights
    }

    /// Returns the weight of each row before the last step: the number of links from the row to an end. If there is only one step, returns
    /// 1 for each end.
    private func lastWeights() -> Weights {
        guard let step = links.last, links.count > 1 else {
            var weights = empty(links[0].targetTable)
            let ends = end.map { context.rows(links[0].targetTable, where: $0) }
            for row in weights.indices where ends?.contains(UInt32(row)) ?? true { weights[row] = 1 }
            return weights
        }
        var weights = empty(step.ownerTable)
        guard let end else {
            fillDegrees(step.end, step.ownerTable, &weights)
            return weights
        }
        let ends = context.rows(step.targetTable, where: end)
        LinkedRows(context.reader).forEachLink(step) { owner, target in
            if Int(owner) < weights.count { weights[Int(owner)] &+= UInt64(ends.bit(target)) }
        }
        return weights
    }

    private func fillDegrees(_ end: EndLayout, _ table: TableLayout, _ weights: inout Weights) {
        let reader = context.reader
        guard let slot = end.countSlot else {
            return reader.forEachRow(of: table) { row in
                if Int(row) < weights.count { weights[Int(row)] = UInt64(reader.memberCount(end, owner: row)) }
            }
        }
        context.forEachGroup(table) { group in
            let leaf = group.leaf(slot)
            group.live.forEach { index in
                let row = Int(group.row(index))
                let count = LinkLeaf(leaf)[index]
                if row < weights.count { weights[row] = UInt64(count) }
                return true
            }
            return true
        }
    }

    /// Returns the weights of the owners of a step. The weight of a row is the number of paths from the row to all ends. So the weight of
    /// an owner is the sum of the weights of its targets.
    private func weights(before step: LinkStep, _ targets: Weights) throws -> Weights {
        var owners = empty(step.ownerTable)
        var isTooLarge = false
        LinkedRows(context.reader).forEachLink(step) { owner, target in
            guard Int(owner) < owners.count, Int(target) < targets.count else { return }
            let (next, isOverflowing) = owners[Int(owner)].addingReportingOverflow(targets[Int(target)])
            owners[Int(owner)] = next
            isTooLarge = isTooLarge || isOverflowing
        }
        if isTooLarge { throw Self.tooMany }
        return owners
    }
}
