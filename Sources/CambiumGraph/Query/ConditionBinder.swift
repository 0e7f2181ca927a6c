import CambiumModel

/// Binds conditions to the objects of an entity: resolves names, converts constants, and chooses the columns to read.
struct ConditionBinder {
    let context: QueryContext
    /// The values of the parameters.
    let arguments: [String: Operand]

    var layout: GraphLayout { context.layout }
    var schema: Schema { layout.schema }

    /// A condition on the object at one position of a path, and its result for a row without such an object.
    struct Part {
        let node: ConditionNode
        let isTrueIfMissing: Bool
    }

    /// Binds a condition that `Condition.check()` has accepted, so the depth of the recursion is limited.
    func bind(_ condition: Condition, _ entity: Entity) throws(QueryMistake) -> ConditionNode {
        switch condition {
        case .constant(let isTrue): return ConstantNode(isTrue)
        case .and(let parts): return AndNode(try bind(parts, entity))
        case .or(let parts): return OrNode(try bind(parts, entity))
        case .not(let part): return NotNode(try bind(part, entity))
        case .comparison(let comparison): return try bind(comparison, entity)
        case .related(let quantifier, let path, let inner):
            return try quantified(quantifier, path, entity, at: TextOffset(nil)) { end throws(QueryMistake) in
                guard case .object(let entity) = end else {
                    throw QueryMistake("'\(path)' does not lead to objects. Name a relationship before 'where'.", at: TextOffset(nil))
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

    // MARK: Paths

    /// The property at the end of a path.
    enum PathEnd {
        case attribute(Attribute)
        /// An object of the entity, or of one of its sub-entities.
        case object(Entity)
        /// The name of the entity of an object.
        case entityName(Entity)
    }

    /// Binds a condition on the end of a path. If the path leads to several objects, the quantifier states how many must satisfy it.
    func quantified(
        _ quantifier: Quantifier?, _ path: QueryPath, _ entity: Entity, at offset: TextOffset,
        _ end: (PathEnd) throws(QueryMistake) -> Part
    ) throws(QueryMistake) -> ConditionNode {
        let steps = try resolve(path, entity, at: offset)
        let isToMany = steps.links.contains(where: \.isToMany)
        if isToMany, quantifier == nil {
            throw QueryMistake("'\(path)' leads to several values. Write any, all or none before it, or count with @count.", at: offset)
        }
        if !isToMany, let quantifier {
            throw QueryMistake("'\(path)' leads to one value only. Remove '\(quantifier.rawValue)' before it.", at: offset)
        }
        var part = try end(steps.end)
        for step in steps.links.reversed() { part = linked(step, part, isAll: quantifier == .all) }
        return quantifier == Quantifier.none ? NotNode(part.node) : part.node
    }

    /// Returns the condition on an object from which a step starts.
    private func linked(_ step: LinkStep, _ part: Part, isAll: Bool) -> Part {
        if let slot = step.linkSlot, !step.isToMany {
            let node = ToOneNode(step, slot: slot, part.node, isTrueIfMissing: part.isTrueIfMissing, context)
            return Part(node: node, isTrueIfMissing: part.isTrueIfMissing)
        }
        if isAll { return Part(node: NotNode(SomeNode(step, NotNode(part.node), context)), isTrueIfMissing: true) }
        return Part(node: SomeNode(step, part.node, context), isTrueIfMissing: false)
    }

    /// The links of a path, and the end of the path.
    struct ResolvedPath {
        var links: [LinkStep] = []
        var end: PathEnd
    }

    func resolve(_ path: QueryPath, _ entity: Entity, at offset: TextOffset) throws(QueryMistake) -> ResolvedPath {
        var resolved = ResolvedPath(end: .object(entity))
        for (index, name) in path.names.enumerated() {
            guard case .object(let entity) = resolved.end else {
                throw QueryMistake("'\(path)' continues after a value. End the path before '\(name)'.", at: offset)
            }
            switch name {
            case "_id": resolved.end = .object(entity)
            case "_entity": resolved.end = .entityName(entity)
            default: try resolve(name, after: index, entity, &resolved, at: offset)
            }
        }
        return resolved
    }

    private func resolve(
        _ name: String, after index: Int, _ entity: Entity, _ resolved: inout ResolvedPath, at offset: TextOffset
    ) throws(QueryMistake) {
        if let attribute = entity.attribute(name) {
            resolved.end = .attribute(attribute)
        } else if let relationship = entity.relationship(name), let target = schema.entity(relationship.destination) {
            resolved.links.append(LinkStep(relationship, layout))
            resolved.end = .object(target)
        } else {
            let names = (entity.attributes.map(\.name) + entity.relationships.map(\.name)).sorted()
            throw QueryMistake(
                "'\(entity.name)' has no attribute or relationship '\(name)'. \(Self.known(names))", at: offset, after: index)
        }
    }

    /// The number of names that an error lists.
    private static let listedCountMax = 12

    private static func known(_ names: [String]) -> String {
        if names.isEmpty { return "The entity has only _id and _entity." }
        let listed = names.prefix(listedCountMax).joined(separator: ", ")
        return "Use one of its names: \(listed)\(names.count > listedCountMax ? ", ..." : "")."
    }
}
