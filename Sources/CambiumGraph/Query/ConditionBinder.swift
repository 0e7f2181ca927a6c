import CambiumModel

/// Turns conditions into nodes, which can be evaluated on the objects of an entity: resolves names, converts constants, and chooses the
/// columns to read.
struct ConditionBinder {
    let context: QueryContext
    /// The values of the parameters.
    let arguments: [String: Operand]

    var layout: GraphLayout { context.layout }
    var schema: Schema { layout.schema }

    /// A condition on the object that a path leads to, and the result of the condition if the path leads to no object.
    struct Part {
        let node: ConditionNode
        let isTrueIfMissing: Bool
    }

    /// Returns the node for a condition that `Condition.check()` has accepted. That method limits the depth of the condition, so the depth
    /// of this recursion is limited, too.
    func bind(_ condition: Condition, _ entity: Entity) throws(QueryMistake) -> ConditionNode {
        switch condition.form {
        case .constant(let isTrue): return ConstantNode(isTrue)
        case .and(let parts): return AndNode(try bind(parts, entity))
        case .or(let parts): return OrNode(try bind(parts, entity))
        case .not(let part):
            let node = try bind(part, entity)
            // The planner finds no index for a negation. So a negation of a negation, such as `not (size != 5)`, becomes its part.
            return (node as? NotNode)?.part ?? NotNode(node)
        case .comparison(let comparison):
            do throws(QueryMistake) {
                return try bind(comparison, entity)
            } catch {
                // The message of a mistake names a parameter only if the parameter occurs in the comparison. To keep short queries fast,
                // all other parameters are removed only after a mistake was found.
                do throws(QueryMistake) {
                    return try narrowed(to: comparison).bind(comparison, entity)
                } catch {
                    throw error.advisingQuotes(in: comparison)
                }
            }
        case .related(let quantifier, let path, let inner):
            return try quantified(quantifier, path, entity, at: path.offset) { end throws(QueryMistake) in
                guard case .object(let entity) = end else {
                    throw QueryMistake("'\(path)' does not lead to objects. Name a relationship before 'where'.", at: path.offset)
                }
                return Part(node: try bind(inner, entity), isTrueIfMissing: quantifier == .all)
            }
        }
    }

    private func bind(_ parts: [Condition], _ entity: Entity) throws(QueryMistake) -> [ConditionNode] {
        var nodes: [ConditionNode] = []
        for part in parts { nodes.append(try bind(part, entity)) }
        return nodes
    }

    // MARK: Messages

    /// Returns this binder with only the values of the parameters that occur in a comparison. Otherwise, a message about a constant could
    /// name a parameter of another comparison that has the same value. Complexity: O(operands of the comparison).
    func narrowed(to comparison: Comparison) -> ConditionBinder {
        if arguments.isEmpty { return self }
        var used: [String: Operand] = [:]
        for name in Condition.comparison(comparison).parameterNames { used[name] = arguments[name] }
        return ConditionBinder(context: context, arguments: used)
    }

    /// Returns the text of a constant, for messages. A long text is cut. If the constant is the value of a parameter, the text also names
    /// the parameter.
    func text(of literal: QueryLiteral) -> String {
        let operand = Operand(.literal(literal))
        let named = arguments.filter { argument in
            if case .list(let elements) = argument.value.form { elements.contains(operand) } else { argument.value == operand }
        }
        return named.keys.min().map { "\(literal.excerpt) (the value of $\($0.excerpt))" } ?? literal.excerpt
    }

    // MARK: Paths

    typealias PathEnd = SchemaPath.End

    /// Returns the node for a condition on the end of a path. If the path leads to several objects, the quantifier states how many must
    /// satisfy the condition.
    func quantified(
        _ quantifier: Quantifier?, _ path: QueryPath, _ entity: Entity, at offset: TextOffset,
        _ end: (PathEnd) throws(QueryMistake) -> Part
    ) throws(QueryMistake) -> ConditionNode {
        let found = try SchemaPath(path, from: entity, schema, at: offset)
        try found.check(quantifier, at: offset)
        var part = try end(found.end)
        for relationship in found.relationships.reversed() {
            part = linked(LinkStep(relationship, layout), part, isAll: quantifier == .all)
        }
        return quantifier == Quantifier.none ? NotNode(part.node) : part.node
    }

    /// Turns a condition on the target of a step (one relationship of a path) into a condition on the object at which the step begins.
    private func linked(_ step: LinkStep, _ part: Part, isAll: Bool) -> Part {
        if let slot = step.linkSlot, !step.isToMany {
            let node = ToOneNode(step, slot: slot, part.node, isTrueIfMissing: part.isTrueIfMissing, context)
            return Part(node: node, isTrueIfMissing: part.isTrueIfMissing)
        }
        if isAll { return Part(node: NotNode(SomeNode(step, NotNode(part.node), context)), isTrueIfMissing: true) }
        return Part(node: SomeNode(step, part.node, context), isTrueIfMissing: false)
    }

    /// The steps along the relationships of a path, and the property or object at its end.
    struct ResolvedPath {
        var links: [LinkStep] = []
        var end: PathEnd
    }

    func resolve(_ path: QueryPath, _ entity: Entity, at offset: TextOffset) throws(QueryMistake) -> ResolvedPath {
        let found = try SchemaPath(path, from: entity, schema, at: offset)
        return ResolvedPath(links: found.relationships.map { LinkStep($0, layout) }, end: found.end)
    }
}

extension ConditionBinder {
    /// Resolves the sort keys of a query.
    func order(_ keys: [SortKey], _ entity: Entity, _ table: TableLayout) throws(QueryMistake) -> SortSpecification {
        var bound: [SortSpecification.Key] = []
        for key in keys {
            // The operand's position is dropped. A sort key is not part of the text of the condition, so an error must not state a position
            // in this text.
            var key = key
            key.operand = Operand(key.operand.form)
            bound.append(try self.key(key, entity))
        }
        return SortSpecification(bound, table, context)
    }

    /// Resolves a sort key. The position in an error is that of the key's operand.
    func key(_ key: SortKey, _ entity: Entity) throws(QueryMistake) -> SortSpecification.Key {
        let operand = key.operand
        let reader = try reader(operand, entity)
        let path = reader as? PathReader
        if let path, path.links.contains(where: \.isToMany) {
            throw QueryMistake("'\(operand)' leads to several values. Sort by an aggregate such as \(operand).@count.", at: operand.offset)
        }
        if !key.folding.isEmpty, reader.kind != .text {
            throw .noCase(operand, reader.kind, at: operand.offset)
        }
        let counted = try countedLink(operand, entity)
        return SortSpecification.Key(
            reader: reader, field: path?.links.isEmpty == true ? path?.field : nil, isDescending: key.direction == .descending,
            nullsFirst: key.nulls == .first, folding: key.folding, isMemberCount: counted != nil, countSlot: counted?.countSlot)
    }

    /// Returns the relationship whose members the operand counts. Returns `nil` for any other operand.
    private func countedLink(_ operand: Operand, _ entity: Entity) throws(QueryMistake) -> LinkStep? {
        guard case .aggregate(let aggregate) = operand.form, aggregate.function == .count else { return nil }
        let links = try resolve(aggregate.path, entity, at: operand.offset).links
        return links.count == 1 ? links[0] : nil
    }
}
