import CambiumModel

/// Chooses the cheapest way to find the rows that may satisfy a condition.
struct AccessPlanner {
    let context: QueryContext
    let graph: Graph

    /// A way to find rows, and the expected number of these rows.
    struct Candidate {
        let access: RowAccess
        let estimate: Int

        /// Whether the access finds at most `estimate` rows. The estimate of a relationship is usually an average, but a target may have
        /// very many links.
        var isUpperBound: Bool {
            switch access {
            case .identity, .index: true
            case .inverse(_, _, .identity(let rows)): rows.count <= AccessPlanner.countedTargetMax
            case .inverse: false
            case .union(let parts): parts.allSatisfy(\.isUpperBound)
            }
        }
    }

    /// Finding one row without a scan costs as much as reading about this many rows in a scan.
    static let singleCost = 8
    /// The maximum number of separate lookups: the parts of an `or`, or the combinations of identity values. If there are more, a scan is
    /// used. A condition that states more values of the identity may also have as many combinations as values. If the values of an index
    /// have more combinations, fewer of its attributes are used.
    private static let unionCountMax = 256

    /// Returns a way to find the objects of an entity that may satisfy a condition; `nil` if a scan is probably cheaper.
    func access(_ node: ConditionNode, _ entity: Entity) -> Candidate? {
        guard let candidate = candidate(node, entity, depth: 0) else { return nil }
        // Looking up a few objects by their ids or identities is cheaper than any scan.
        if case .identity(let rows) = candidate.access, rows.count <= Self.countedTargetMax { return candidate }
        let scanned = context.reader.liveCount(context.layout.tableIndex(ofKnown: entity.root))
        return candidate.estimate <= scanned / Self.singleCost ? candidate : nil
    }

    /// Returns a way to find rows without a scan: all rows that satisfy the condition, and possibly other rows. Returns `nil` if there is
    /// no such way.
    private func candidate(_ node: ConditionNode, _ entity: Entity, depth: Int) -> Candidate? {
        switch node {
        case let rows as RowSetNode: return Candidate(access: .identity(rows.rows), estimate: rows.rows.count)
        case let constant as ConstantNode where !constant.isTrue: return Candidate(access: .identity([]), estimate: 0)
        case let all as AndNode: return best(of: all.parts, entity, depth: depth)
        case let some as OrNode where some.match == nil: return union(of: some.parts, entity, depth: depth)
        case let one as ToOneNode where !one.isTrueIfMissing: return inverse(one.step, one.target, depth: depth)
        case let some as SomeNode: return inverse(some.step, some.target, depth: depth)
        default: return node.match == nil ? nil : indexed([node], entity)
        }
    }

    private func best(of parts: [ConditionNode], _ entity: Entity, depth: Int) -> Candidate? {
        var candidates = parts.compactMap { $0.match == nil ? candidate($0, entity, depth: depth) : nil }
        if let indexed = indexed(parts.filter { $0.match != nil }, entity) { candidates.append(indexed) }
        return candidates.min { $0.estimate < $1.estimate }
    }

    private func union(of parts: [ConditionNode], _ entity: Entity, depth: Int) -> Candidate? {
        guard parts.count <= Self.unionCountMax else { return nil }
        var candidates: [Candidate] = []
        var estimate = 0
        for part in parts {
            guard let found = candidate(part, entity, depth: depth) else { return nil }
            // The parts of an inner union become parts of the outer union, so that the plan has a step for each of them.
            if case .union(let inner) = found.access { candidates += inner } else { candidates.append(found) }
            estimate = estimate.addingReportingOverflow(found.estimate).overflow ? .max : estimate + found.estimate
        }
        return Candidate(access: .union(candidates), estimate: estimate)
    }

    /// The maximum number of relationships that a plan follows from their targets back to the objects.
    private static let inverseDepthMax = 8

    private func inverse(_ step: LinkStep, _ target: ConditionNode, depth: Int) -> Candidate? {
        guard depth < Self.inverseDepthMax, let entity = context.layout.schema.entity(step.target),
            let targets = candidate(target, entity, depth: depth + 1)
        else { return nil }
        return Candidate(access: .inverse(step, target, targets.access), estimate: estimate(step, targets))
    }

    /// The maximum number of targets whose links are counted. For more targets, the number of links is estimated.
    private static let countedTargetMax = 64

    /// Returns the expected number of objects from which a step, one relationship of a path, leads to a target.
    private func estimate(_ step: LinkStep, _ targets: Candidate) -> Int {
        guard case .identity(let rows) = targets.access, rows.count <= Self.countedTargetMax else {
            // The estimate of a path with many steps is a product that may exceed any `Int`.
            let (product, isOverflowing) = targets.estimate.multipliedReportingOverflow(by: averageDegree(step))
            return isOverflowing ? .max : product
        }
        return rows.reduce(0) { $0 + context.reader.memberCount(step.inverse, owner: $1) }
    }

    /// An upper bound of the average number of objects that link to one target.
    private func averageDegree(_ step: LinkStep) -> Int {
        let targets = max(1, context.reader.liveCount(step.targetTable.index))
        let links =
            switch step.end.layout {
            case .pair: targets
            case .list(let list, let childEnd):
                step.end.end == childEnd ? context.reader.liveCount(list.memberTable) : targets
            case .edges(let table, _, _): context.reader.liveCount(table)
            }
        return max(1, (links + targets - 1) / targets)
    }

    // MARK: Indexes

    private func indexed(_ parts: [ConditionNode], _ entity: Entity) -> Candidate? {
        let matches = parts.compactMap(\.match)
        if let found = identified(matches, entity) { return found }
        return graph.orderedIndexes(of: entity).compactMap { ranges(matches, $0) }.min { $0.estimate < $1.estimate }
    }

    /// Finds objects by their identity, if the condition states a value for each attribute of the identity.
    private func identified(_ matches: [ColumnMatch], _ entity: Entity) -> Candidate? {
        // If several objects have the same identity, a lookup would find only one of them. So the planner must not use a lookup.
        if graph.version.mayHaveDuplicates { return nil }
        var values: [[Value]] = []
        for component in entity.identity {
            // A condition on a relationship's target is planned as a way back from the target.
            guard let attribute = component.attribute else { return nil }
            guard case .equal(let equal)? = Self.match(matches, attribute.number, isFolded: false)?.values, !equal.contains(.null) else {
                return nil
            }
            values.append(equal.map { Self.typed($0, attribute.type) })
        }
        // The planner looks up the combinations at once, so their number must not exceed the length of the condition by much.
        let countMax = max(Self.unionCountMax, values.reduce(0) { $0 + $1.count })
        let combinations = values.reduce([[]]) { known, more in
            known.count * more.count > countMax ? [] : known.flatMap { first in more.map { first + [$0] } }
        }
        guard !values.isEmpty, !combinations.isEmpty || values.contains(where: \.isEmpty) else { return nil }
        let rows = combinations.compactMap { context.reader.find(entity, identity: $0, context.layout)?.row }
        return Candidate(access: .identity(rows), estimate: rows.count)
    }

    /// Returns a value that can be compared with an attribute of this type: a text becomes a URI or a JSON value if `type` is `uri` or
    /// `json`.
    private static func typed(_ value: Value, _ type: AttributeType) -> Value {
        guard case .string(let text) = value else { return value }
        return type == .uri ? .uri(text) : type == .json ? .json(text) : value
    }

    /// Returns ranges of an index that together contain all objects that satisfy the condition. Returns `nil` if the index does not help.
    /// The condition must state the values of the first component (attribute of the index). If it states several values for some of the
    /// first components, each combination of these values has its own ranges.
    private func ranges(_ matches: [ColumnMatch], _ index: OrderedIndex) -> Candidate? {
        let used = used(matches, index)
        guard let last = used.last else { return nil }
        var combinations: [[Value]] = [[]]
        for match in used.dropLast() {
            guard case .equal(let values) = match.values else { return nil }
            combinations = combinations.flatMap { first in values.map { first + [$0] } }
        }
        let values = last.values(within: matches)
        let isDescending = index.components[used.count - 1].direction == .descending
        var ranges: [IndexRange] = []
        for leading in combinations {
            guard let more = index.ranges(values, after: leading, isDescending: isDescending) else { return nil }
            ranges += more
        }
        return candidate(index, combinations.count > 1 ? index.merged(ranges) : ranges)
    }

    /// Returns the conditions on the first components of an index by which its objects are found. Only the last condition may accept a
    /// range of values.
    private func used(_ matches: [ColumnMatch], _ index: OrderedIndex) -> [ColumnMatch] {
        var used: [ColumnMatch] = []
        // The number of combinations of the values of all used conditions.
        var count = 1
        for component in index.components {
            let isFolded = component.comparison == .folded
            guard let match = Self.match(matches, component.attribute, isFolded: isFolded) else { break }
            guard case .equal(let values) = match.values else { return count > Self.unionCountMax ? used : used + [match] }
            // The planner looks up all combinations at once. But a list alone may have any length.
            if count > 1, count * max(1, values.count) > Self.unionCountMax { break }
            used.append(match)
            count *= values.count
        }
        return used
    }

    /// Returns the condition on an attribute that states its values, or otherwise the first condition on the attribute.
    private static func match(_ matches: [ColumnMatch], _ attribute: PropertyNumber, isFolded: Bool) -> ColumnMatch? {
        var first: ColumnMatch?
        for match in matches where match.attribute == attribute && match.isFolded == isFolded {
            if case .equal = match.values { return match }
            first = first ?? match
        }
        return first
    }

    private func candidate(_ index: OrderedIndex, _ ranges: [IndexRange]) -> Candidate {
        Candidate(access: .index(index, ranges), estimate: ranges.reduce(0) { $0 + $1.outer.count })
    }
}

extension OrderedIndex {
    /// Returns the ranges of the objects with the values `leading` in the first attributes of the index, and one of `values` in the next
    /// attribute.
    func ranges(_ values: ColumnMatch.Values, after leading: [Value], isDescending: Bool) -> [IndexRange]? {
        switch values {
        case .equal(let values): return ranges(in: values, after: leading)
        case .prefix(let text): return range(prefix: text, after: leading).map { [$0] }
        case .between(let lower, let upper):
            func key(_ value: Value) -> [Value] { leading.isEmpty ? [value] : leading + [value] }
            // Null precedes all values in ascending order, and follows them in descending order. The ranges must exclude null.
            let (first, last) = isDescending ? (upper, lower) : (lower, upper)
            let from: Bound
            if let first {
                from = first.isIncluded ? .before(key(first.value)) : .after(key(first.value))
            } else {
                from = isDescending ? .before(leading) : .after(key(.null))
            }
            let to: Bound
            if let last {
                to = last.isIncluded ? .after(key(last.value)) : .before(key(last.value))
            } else {
                to = isDescending ? .before(key(.null)) : .after(leading)
            }
            return range(from: from, to: to).map { [$0] }
        }
    }
}
