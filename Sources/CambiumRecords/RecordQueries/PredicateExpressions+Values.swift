import FoundationEssentials

// Translates the variables, constants and key paths of Foundation predicates into operands of queries.

extension PredicateExpressions.Variable: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        guard let variable = translation.variables[key], variable.level == translation.level else {
            throw translation.refusal("is in a closure on members, but refers to an object outside of the closure")
        }
        return .path(variable.path)
    }
}

extension PredicateExpressions.Value: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        guard let part = PredicateConstant.part(value) else {
            throw translation.refusal("is a constant of type \(Output.self), which no attribute can have")
        }
        return part
    }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part { .value(.null) }
}

/// Translates the constants of a predicate.
private enum PredicateConstant {
    static func part(_ value: Any) -> PredicateTranslation.Part? {
        switch value {
        case let optional as any OptionalConstant: optional.wrapped.map { part($0) } ?? .value(.null)
        case let value as any AttributeValue: .value(value.attributeValue)
        case let reference as any ObjectConstant: reference.constantID.map { .object($0) }
        case let range as any RangeConstant: range.part
        case let sequence as any Collection: list(sequence)
        default: nil
        }
    }

    private static func list(_ values: any Collection) -> PredicateTranslation.Part? {
        var operands: [Operand] = []
        for value in values {
            switch part(value) {
            case .value(let value)?: operands.append(.value(value))
            case .object(let id)?: operands.append(.object(id))
            default: return nil
            }
        }
        return .list(operands)
    }
}

private protocol OptionalConstant { var wrapped: Any? { get } }
extension Optional: OptionalConstant { fileprivate var wrapped: Any? { self } }

private protocol ObjectConstant { var constantID: ObjectID? { get } }
extension Ref: ObjectConstant { fileprivate var constantID: ObjectID? { id } }
extension ObjectID: ObjectConstant { fileprivate var constantID: ObjectID? { self } }

private protocol RangeConstant { var part: PredicateTranslation.Part? { get } }
extension ClosedRange: RangeConstant {
    fileprivate var part: PredicateTranslation.Part? {
        guard let lower = lowerBound as? any AttributeValue, let upper = upperBound as? any AttributeValue else { return nil }
        return .range(.value(lower.attributeValue), .value(upper.attributeValue), isClosed: true)
    }
}
extension Range: RangeConstant {
    fileprivate var part: PredicateTranslation.Part? {
        guard let lower = lowerBound as? any AttributeValue, let upper = upperBound as? any AttributeValue else { return nil }
        return .range(.value(lower.attributeValue), .value(upper.attributeValue), isClosed: false)
    }
}

extension PredicateExpressions.KeyPath: TranslatableExpression {
    func part(_ translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        let base = try translation.part(root, "the owner of \(keyPath)")
        if let collection = Root.Output.self as? any CountedCollection.Type {
            return try members(of: base, collection.step(keyPath), translation)
        }
        guard case .path(let names) = base else {
            throw translation.refusal("has the key path \(keyPath) of something other than a record")
        }
        guard let record = Root.Output.self as? any EntityRecord.Type else {
            if let reference = Root.Output.self as? any ReferencePath.Type, reference.isID(keyPath) { return .path(names) }
            throw translation.refusal("has the key path \(keyPath), which leads to no stored property")
        }
        guard let name = record.storedName(of: keyPath) else {
            if record.mayBeReference(keyPath) {
                let field = names.isEmpty ? "ref" : names.joined(separator: ".")
                throw translation.refusal(
                    "has the key path \(keyPath), which leads to the ref of a record. Write the condition as a closure of RecordQuery, "
                        + "such as { $0.\(field) == ref }, or add it by .filtered { $0.\(field) == ref }")
            }
            throw CambiumError(
                .unknownName,
                "The predicate has the key path \(keyPath), which recordSchema of \(record) does not list. List the property there.")
        }
        return .path(names + [name])
    }

    private func members(
        of base: PredicateTranslation.Part, _ step: CollectionStep?, _ translation: PredicateTranslation
    ) throws -> PredicateTranslation.Part {
        switch (base, step) {
        case (.path(let names), .count?): return .aggregate(RelatedAggregate(.count, QueryPath(names)))
        case (.path(let names), .isEmpty?) where Root.Output.self == String.self:
            return .condition(.comparison(FieldComparison(Operand(.path(QueryPath(names))), .equal, .value(.string("")))))
        case (.path(let names), .isEmpty?):
            let count = Operand(.aggregate(RelatedAggregate(.count, QueryPath(names))))
            return .condition(PredicateTranslation.compared(count, .equal, .value(.int(0))))
        case (.members(let names, let condition), .isEmpty?):
            return .condition(PredicateTranslation.withOwner(of: names, .related(.none, QueryPath(names), condition)))
        case (.members, .count?):
            throw translation.refusal("counts filtered members, which queries cannot do. Test them with isEmpty, contains or allSatisfy")
        default: throw translation.refusal("has the key path \(keyPath) of a collection. Only 'count' and 'isEmpty' can be translated")
        }
    }
}

/// The collection properties that can be translated into queries.
enum CollectionStep { case count, isEmpty }

/// A collection type that recognizes its own key paths `count` and `isEmpty`. A key path equals only a key path of the same concrete type,
/// so each type compares with its own key paths.
private protocol CountedCollection { static func step(_ keyPath: AnyKeyPath) -> CollectionStep? }

extension Array: CountedCollection {
    fileprivate static func step(_ keyPath: AnyKeyPath) -> CollectionStep? {
        keyPath == \[Element].count ? .count : keyPath == \[Element].isEmpty ? .isEmpty : nil
    }
}

extension Set: CountedCollection {
    fileprivate static func step(_ keyPath: AnyKeyPath) -> CollectionStep? {
        keyPath == \Set<Element>.count ? .count : keyPath == \Set<Element>.isEmpty ? .isEmpty : nil
    }
}

extension ToMany: CountedCollection {
    fileprivate static func step(_ keyPath: AnyKeyPath) -> CollectionStep? {
        keyPath == \ToMany<Record>.count ? .count : keyPath == \ToMany<Record>.isEmpty ? .isEmpty : nil
    }
}

extension String: CountedCollection {
    fileprivate static func step(_ keyPath: AnyKeyPath) -> CollectionStep? { keyPath == \String.isEmpty ? .isEmpty : nil }
}

private protocol ReferencePath { static func isID(_ keyPath: AnyKeyPath) -> Bool }
extension Ref: ReferencePath { fileprivate static func isID(_ keyPath: AnyKeyPath) -> Bool { keyPath == \Self.id as AnyKeyPath } }

extension EntityRecord {
    /// Whether a key path that the schema does not list can lead to the property `ref`. The key path that a generic type has for a
    /// requirement of a protocol differs from the key path of the struct. So only the type of the property is compared.
    fileprivate static func mayBeReference(_ keyPath: AnyKeyPath) -> Bool { type(of: keyPath).valueType == Ref<Self>?.self }
}
