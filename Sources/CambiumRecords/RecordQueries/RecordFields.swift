/// The properties of a record, for conditions: `$0` in `{ $0.age > 30 }`.
///
/// ```swift
/// let adults = RecordQuery<Person> { $0.age >= 18 && $0.city.name == "Paris" }
/// let others = adults.filtered { $0.ref != jane }
/// print(try graph.count(adults), try graph.count(others))
/// ```
@dynamicMemberLookup
public struct RecordFields<Record: EntityRecord>: Sendable {
    init() {}

    /// The property to which a key path of the record leads.
    ///
    /// If the record's schema does not list the property, each query with this property throws `.invalidInput`.
    public subscript<V: _PropertyValue>(dynamicMember keyPath: KeyPath<Record, V>) -> RecordField<V> {
        RecordField([Record.fieldName(of: keyPath)])
    }

    /// The object itself, which a condition compares with a ref.
    public var ref: RecordField<Ref<Record>> { RecordField([]) }
}

/// A property at the end of a path of to-one relationships, in a condition.
///
/// ```swift
/// let long = RecordQuery<Note> { note in note.items.count > 2 && note.items.any { $0.price > 100 } }
/// let notes = try graph.fetch(long.sorted(.descending) { $0.items.sum(\.price) })
/// ```
@dynamicMemberLookup
public struct RecordField<V: _PropertyValue>: Sendable {
    package let operand: Operand

    init(_ operand: Operand) { self.operand = operand }

    init(_ names: [String]) { operand = Operand(.path(QueryPath(names))) }

    /// The names of the properties on the operand's path. For an aggregate, the list has one name that no property has, because no path may
    /// continue after an aggregate. So `$0.items.max(\.note).title` throws `.invalidInput`, and does not mean the title of `$0`.
    private var names: [String] {
        switch operand.form {
        case .path(let path): path.names
        case .aggregate(let aggregate): ["\(aggregate.function.rawValue) of \(aggregate.path.names.joined(separator: "."))"]
        default: []
        }
    }
}

extension RecordField where V._Target: EntityRecord {
    /// A property of the record to which the relationship leads. Null if the relationship leads to no object.
    public subscript<W: _PropertyValue>(dynamicMember keyPath: KeyPath<V._Target, W>) -> RecordField<W> {
        RecordField<W>(names + [V._Target.fieldName(of: keyPath)])
    }
}

extension RecordField where V._Member: EntityRecord {
    private var path: QueryPath { QueryPath(names) }

    private func related(_ quantifier: Quantifier, _ condition: (RecordFields<V._Member>) -> Condition) -> Condition {
        .related(quantifier, path, condition(RecordFields()))
    }

    private func aggregate<W>(_ function: AggregateFunction, _ name: String?) -> RecordField<W> {
        RecordField<W>(Operand(.aggregate(RelatedAggregate(function, path, of: name.map { QueryPath([$0]) }))))
    }

    /// Whether at least one member satisfies a condition.
    public func any(_ condition: (RecordFields<V._Member>) -> Condition) -> Condition { related(.any, condition) }
    /// Whether each member satisfies a condition. True if there are no members.
    public func all(_ condition: (RecordFields<V._Member>) -> Condition) -> Condition { related(.all, condition) }
    /// Whether no member satisfies a condition.
    public func none(_ condition: (RecordFields<V._Member>) -> Condition) -> Condition { related(.none, condition) }

    /// The number of members.
    public var count: RecordField<Int> { aggregate(.count, nil) }
    /// Whether there are no members.
    public var isEmpty: Condition { count == 0 }

    /// The sum of a property of the members; 0 if there are no values.
    public func sum<W: _PropertyValue>(_ keyPath: KeyPath<V._Member, W>) -> RecordField<W> {
        aggregate(.sum, V._Member.fieldName(of: keyPath))
    }
    /// The least value of a property of the members; null if there are no values.
    public func min<W: _PropertyValue>(_ keyPath: KeyPath<V._Member, W>) -> RecordField<W> {
        aggregate(.min, V._Member.fieldName(of: keyPath))
    }
    /// The greatest value of a property of the members; null if there are no values.
    public func max<W: _PropertyValue>(_ keyPath: KeyPath<V._Member, W>) -> RecordField<W> {
        aggregate(.max, V._Member.fieldName(of: keyPath))
    }
    /// The mean of a property of the members; null if there are no values.
    public func average<W: _PropertyValue>(_ keyPath: KeyPath<V._Member, W>) -> RecordField<Double> {
        aggregate(.avg, V._Member.fieldName(of: keyPath))
    }
}
