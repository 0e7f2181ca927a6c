import CambiumModel

extension ConditionBinder {
    /// Returns the node for a comparison that a single column cannot decide, such as a comparison of two attributes.
    func general(_ comparison: Comparison, _ entity: Entity) throws(QueryMistake) -> ConditionNode {
        if comparison.relation == .like || comparison.relation == .matches {
            throw .noPattern(comparison)
        }
        let left = try reader(comparison.left, entity)
        if case .path(let path) = comparison.left.form, comparison.quantifier != nil {
            try SchemaPath(path, from: entity, schema, at: comparison.left.offset).check(comparison.quantifier, at: comparison.left.offset)
        }
        let right: ValueReader
        if case .literal(let literal) = comparison.right.form {
            if left.isEntityName {
                try checkNames([literal], comparison.relation, comparison.folding, at: comparison.right.offset)
            }
            right = ConstantReader(try constant(literal, like: left, at: comparison.right.offset), kind: left.kind)
        } else {
            right = try reader(comparison.right, entity)
            if isToMany(right) {
                throw QueryMistake("The right side leads to several values. Write that path on the left side.", at: comparison.right.offset)
            }
        }
        var (relation, quantifier) = (comparison.relation, comparison.quantifier)
        if isToMany(left), quantifier == nil {
            guard relation == .contains else {
                throw QueryMistake(
                    "'\(comparison.left)' leads to several values. Write any, all or none before the path, or count with @count.",
                    at: comparison.left.offset)
            }
            (relation, quantifier) = (.isIn, .any)
        }
        try check(left.kind, relation, right.kind, comparison)
        return GeneralNode(left, relation, right, comparison.folding, quantifier, context)
    }

    private func isToMany(_ reader: ValueReader) -> Bool { (reader as? PathReader)?.links.contains(where: \.isToMany) ?? false }

    private func check(
        _ left: ValueKind, _ relation: Comparison.Relation, _ right: ValueKind, _ comparison: Comparison
    ) throws(QueryMistake) {
        guard left == right else {
            throw QueryMistake(
                "'\(comparison.left)' is \(schema.text(of: left)), but '\(comparison.right)' is \(schema.text(of: right)). "
                    + "Compare values of the same kind.", at: comparison.right.offset)
        }
        if left.allows(relation) { return }
        throw QueryMistake("'\(relation.text)' cannot compare \(left.text). Use == or !=.", at: comparison.left.offset)
    }

    /// Returns an object that reads the values of a path or of an aggregate.
    func reader(_ operand: Operand, _ entity: Entity) throws(QueryMistake) -> ValueReader {
        switch operand.form {
        case .path(let path): return PathReader(try resolve(path, entity, at: operand.offset), entity, context)
        case .aggregate(let aggregate): return try reader(aggregate, entity, at: operand.offset)
        case .literal, .list, .parameter:
            throw QueryMistake("'\(operand)' is not a path. Write the name of an attribute or a relationship.", at: operand.offset)
        }
    }

    private func reader(_ aggregate: RelatedAggregate, _ entity: Entity, at offset: TextOffset) throws(QueryMistake) -> ValueReader {
        let path = PathReader(try resolve(aggregate.path, entity, at: offset), entity, context)
        guard case .object = path.kind, let target = path.links.last.flatMap({ schema.entity($0.target) }) else {
            throw QueryMistake(
                "'\(aggregate.path)' does not lead to objects. Name a relationship before '@\(aggregate.function.rawValue)'.", at: offset)
        }
        guard let valuePath = aggregate.value else { return AggregateReader(aggregate.function, path, of: nil, context) }
        let value = PathReader(try resolve(valuePath, target, at: offset), target, context)
        let needsNumbers = aggregate.function == .sum || aggregate.function == .avg
        if needsNumbers, value.kind != .number {
            throw QueryMistake(
                "'\(valuePath)' is \(value.kind.text), but @\(aggregate.function.rawValue) needs numbers. Name another attribute.",
                at: offset)
        }
        if case .object = value.kind, aggregate.function != .countDistinct {
            throw QueryMistake(
                "'\(valuePath)' leads to objects, but @\(aggregate.function.rawValue) needs values. Name an attribute.", at: offset)
        }
        return AggregateReader(aggregate.function, path, of: value, context)
    }

    /// Converts a literal to a value that can be compared with the values of a reader.
    func constant(_ literal: QueryLiteral, like reader: ValueReader, at offset: TextOffset) throws(QueryMistake) -> QueryValue {
        if literal == .null || literal == .value(.null) { return .null }
        switch reader.kind {
        case .number: if let number = literal.number(like: reader.type) { return .value(number) }
        case .text: if let text = literal.stringText { return .value(.string(text)) }
        case .bool: if let value = literal.boolValue { return .value(.bool(value)) }
        case .date: if let value = literal.value(of: .date) { return .value(value) }
        case .uuid: if let value = literal.value(of: .uuid) { return .value(value) }
        case .data: if let value = literal.value(of: .data) { return .value(value) }
        case .object: break
        }
        let found = self.text(of: literal)
        throw QueryMistake("Expected \(reader.kind.text), but found \(found). Write a value of that kind.", at: offset)
    }
}
