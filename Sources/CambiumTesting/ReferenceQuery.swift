package import CambiumModel

/// Answers queries by testing each object of a reference graph. The code uses the engine's syntax trees, but not the code with which the
/// engine executes queries.
package struct ReferenceQuery: Sendable {
    let graph: ReferenceGraph

    /// A result of following a path of property names from an object: a value or an object.
    enum Item: Hashable {
        case value(Value)
        case object(ObjectID)

        static let null = Item.value(.null)
    }

    package init(_ graph: ReferenceGraph) { self.graph = graph }

    /// Returns the objects that satisfy a condition, in the order of the sort keys.
    package func ids(of entity: Entity, where condition: Condition?, sort: [SortKey] = []) -> [ObjectID] {
        let found = graph.ids(of: entity).filter { id in condition.map { holds($0, id) } ?? true }
        if sort.isEmpty { return found }
        let keys = Dictionary(uniqueKeysWithValues: found.map { id in (id, sort.map { item($0.operand, id) }) })
        return found.sorted { left, right in
            for (index, key) in sort.enumerated() {
                let order = order(keys[left]?[index] ?? .null, keys[right]?[index] ?? .null, key)
                if order != 0 { return order < 0 }
            }
            return left < right
        }
    }

    /// Returns the number of ways to follow a path of relationships from an object that satisfies `start` to an object that satisfies
    /// `end`.
    package func pathCount(of entity: Entity, where start: Condition, along path: [String], to end: Condition) -> Int {
        ids(of: entity, where: start).reduce(0) { sum, id in
            sum
                + items(QueryPath(path), id).count { item in
                    if case .object(let object) = item { return holds(end, object) }
                    return false
                }
        }
    }

    private func order(_ left: Item, _ right: Item, _ key: SortKey) -> Int {
        if left == .null || right == .null {
            if left == right { return 0 }
            return (left == .null) == (key.nulls == .first) ? -1 : 1
        }
        let order = ReferenceComparison.order(left, right, key.folding) ?? 0
        return key.direction == .ascending ? order : -order
    }

    // MARK: Conditions

    package func holds(_ condition: Condition, _ id: ObjectID) -> Bool {
        switch condition.form {
        case .constant(let isTrue): return isTrue
        case .and(let parts): return parts.allSatisfy { holds($0, id) }
        case .or(let parts): return parts.contains { holds($0, id) }
        case .not(let part): return !holds(part, id)
        case .related(let quantifier, let path, let inner):
            // Omits to-one relationships without a target.
            let ends = items(path, id).compactMap { item in
                if case .object(let end) = item { return holds(inner, end) }
                return nil
            }
            return satisfies(quantifier, ends)
        case .comparison(let comparison): return holds(comparison, id)
        }
    }

    private func satisfies(_ quantifier: Quantifier, _ results: [Bool]) -> Bool {
        switch quantifier {
        case .any: results.contains(true)
        case .all: !results.contains(false)
        case .none: !results.contains(true)
        }
    }

    private func holds(_ comparison: Comparison, _ id: ObjectID) -> Bool {
        var comparison = comparison
        if case .literal = comparison.left.form {
            let relations: [Comparison.Relation: Comparison.Relation] = [
                .less: .greater, .lessOrEqual: .greaterOrEqual, .greater: .less, .greaterOrEqual: .lessOrEqual,
            ]
            (comparison.left, comparison.right) = (comparison.right, comparison.left)
            comparison.relation = relations[comparison.relation] ?? comparison.relation
        }
        guard case .path(let path) = comparison.left.form else {
            return test(item(comparison.left, id), comparison, id)
        }
        let found = items(path, id)
        if isToMany(path, id), comparison.quantifier == nil {
            comparison.relation = .equal
            return found.contains { test($0, comparison, id) }
        }
        guard let quantifier = comparison.quantifier else { return test(found.first ?? .null, comparison, id) }
        return satisfies(quantifier, found.map { test($0, comparison, id) })
    }

    private func test(_ item: Item, _ comparison: Comparison, _ id: ObjectID) -> Bool {
        let wanted: [ReferenceComparison.Wanted]
        switch comparison.right.form {
        case .list(let elements): wanted = elements.map { constant($0, id) }
        default: wanted = [constant(comparison.right, id)]
        }
        return ReferenceComparison(graph.schema, comparison.relation, comparison.folding).holds(item, wanted)
    }

    private func constant(_ operand: Operand, _ id: ObjectID) -> ReferenceComparison.Wanted {
        if case .literal(let literal) = operand.form { return .literal(literal) }
        return .item(item(operand, id))
    }

    // MARK: Values

    /// Returns the value of an operand that has exactly one value.
    private func item(_ operand: Operand, _ id: ObjectID) -> Item {
        switch operand.form {
        case .path(let path): return items(path, id).first ?? .null
        case .aggregate(let aggregate): return .value(value(aggregate, id))
        case .literal, .list, .parameter: return .null
        }
    }

    private func isToMany(_ path: QueryPath, _ id: ObjectID) -> Bool {
        var entity = graph.entity(of: id)
        for name in path.names {
            guard let relationship = entity?.relationship(name) else { return false }
            if relationship.isToMany { return true }
            entity = graph.schema.entity(relationship.destination)
        }
        return false
    }

    /// Returns all values or objects at the end of a path.
    private func items(_ path: QueryPath, _ id: ObjectID) -> [Item] {
        var items: [Item] = [.object(id)]
        for (index, name) in path.names.enumerated() {
            items = items.flatMap { item -> [Item] in
                guard case .object(let object) = item, let entity = graph.entity(of: object) else {
                    // If a to-many relationship follows in the path, a missing target has no values. Otherwise, its value is null.
                    return isToMany(path, from: index, of: id) ? [] : [.null]
                }
                if name == "_id" { return [item] }
                if name == "_entity" { return [.value(.string(entity.name))] }
                if let attribute = entity.attribute(name) { return [.value(graph.value(of: attribute, of: object) ?? .null)] }
                guard let relationship = entity.relationship(name) else { return [.null] }
                let members = graph.members(relationship, of: object).map(Item.object)
                return relationship.isToMany ? members : members.isEmpty ? [.null] : members
            }
        }
        return items
    }

    /// Whether a path has a to-many relationship at an index or later.
    private func isToMany(_ path: QueryPath, from start: Int, of id: ObjectID) -> Bool {
        var entity = graph.entity(of: id)
        for (index, name) in path.names.enumerated() {
            guard let relationship = entity?.relationship(name) else { return false }
            if relationship.isToMany, index >= start { return true }
            entity = graph.schema.entity(relationship.destination)
        }
        return false
    }

    private func value(_ aggregate: RelatedAggregate, _ id: ObjectID) -> Value {
        let objects = items(aggregate.path, id).filter { $0 != .null }
        guard let path = aggregate.value else { return .int(Int64(objects.count)) }
        var values: [Value] = []
        for case .object(let object) in objects {
            for case .value(let value) in items(path, object) where !value.isNull { values.append(value) }
        }
        return ReferenceComparison.aggregate(aggregate.function, values)
    }
}
