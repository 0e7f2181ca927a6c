import CambiumModel

/// The values of one property: in the base of an edit, in the edit, and in the graph with which the edit was compared.
///
/// ```swift
/// for conflict in edit.conflicts(with: store.graph) {
///     guard let titles = try conflict.values(of: \Note.title) else { continue }
///     print("was \(titles.base), here \(titles.mine), in the store \(titles.theirs)")
/// }
/// ```
public struct EditConflictValues<V: Sendable>: Sendable {
    /// The value in the graph on which the edit builds.
    public let base: V
    /// The value in the edit.
    public let mine: V
    /// The value in the graph with which the edit was compared.
    public let theirs: V
}

/// Reads conflicts by the properties of records.
///
/// ```swift
/// for conflict in edit.conflicts(with: store.graph) {
///     if let titles = try conflict.values(of: \Note.title) { print(titles.base, titles.mine, titles.theirs) }
/// }
/// ```
extension EditConflict {
    /// Whether the conflict is about this property of a record.
    ///
    /// If a migration has renamed the property, the record may use the new name or the former name. If both schemas have a property of this
    /// name, the name means the property of the newer schema.
    ///
    /// ```swift
    /// try store.commit(&edit, policy: .byProperty { $0.concerns(\Note.title) ? .mine : .theirs })
    /// ```
    ///
    /// - Parameter keyPath: A property that the record's schema lists.
    public func concerns<Record: EntityRecord>(_ keyPath: PartialKeyPath<Record>) -> Bool {
        let (record, name) = (Record.recordSchema.entity, Record.fieldName(of: keyPath))
        return isSubject(name, of: record, laterSchema) ?? isSubject(name, of: record, schema) ?? false
    }

    /// Returns whether the subject of the conflict is the property that has this name in a schema. Returns `nil` if the schema has no such
    /// property.
    private func isSubject(_ property: String, of record: String, _ schema: Schema) -> Bool? {
        guard let found = schema.entity(record),
            let number = found.attribute(property)?.number ?? found.relationship(property)?.number
        else { return nil }
        guard found.family.contains(entity.number) else { return false }
        switch subject {
        case .attribute(let attribute): return attribute.number == number
        case .relationship(let relationship): return relationship.number == number
        case .object: return false
        }
    }

    /// Returns the values of a property, or `nil` if the conflict is not about this property.
    ///
    /// Throws `.unexpectedValue` for a value that the type cannot hold. If a migration has widened the type of the attribute, all three
    /// values have the wider type. The record's property must have this type, too.
    public func values<Record: EntityRecord, V: AttributeValue>(of keyPath: KeyPath<Record, V>) throws -> EditConflictValues<V>? {
        try values(keyPath) { state in
            guard let value: V = try value(state) else {
                throw CambiumError(
                    .unexpectedValue,
                    "\(place) is null on one side, but the record's property is not optional. Declare the property as optional.")
            }
            return value
        }
    }

    /// Returns the values of an optional property, or `nil` if the conflict is not about this property. Throws as `values(of:)` does for a
    /// property that is not optional.
    public func values<Record: EntityRecord, V: AttributeValue>(of keyPath: KeyPath<Record, V?>) throws -> EditConflictValues<V?>? {
        try values(keyPath, value)
    }

    /// Returns the objects that a to-one relationship leads to, or `nil` if the conflict is not about this property.
    public func values<Record: EntityRecord, V: _PropertyValue>(
        of keyPath: KeyPath<Record, V>
    ) -> EditConflictValues<Ref<V._Target>?>? where V._Target: EntityRecord {
        values(keyPath) { refs($0, V._Target.self).first }
    }

    /// Returns the members of a to-many relationship, or `nil` if the conflict is not about this property.
    public func values<Record: EntityRecord, V: _PropertyValue>(
        of keyPath: KeyPath<Record, V>
    ) -> EditConflictValues<[Ref<V._Member>]>? where V._Member: EntityRecord {
        values(keyPath) { refs($0, V._Member.self) }
    }

    private func values<Record: EntityRecord, V: Sendable>(
        _ keyPath: PartialKeyPath<Record>, _ read: (State) throws -> V
    ) rethrows -> EditConflictValues<V>? {
        guard concerns(keyPath) else { return nil }
        return EditConflictValues(base: try read(base), mine: try read(mine), theirs: try read(theirs))
    }

    private func value<V: AttributeValue>(_ state: State) throws -> V? {
        guard case .value(let value) = state, !value.isNull else { return nil }
        do { return try V(attributeValue: value) } catch {
            throw CambiumError(
                .unexpectedValue, "\(place) is \(value.text.prefix(100)), which \(V.self) cannot hold: \(error).", underlying: error)
        }
    }

    private func refs<Record: EntityRecord>(_ state: State, _ type: Record.Type) -> [Ref<Record>] {
        guard case .members(let ids) = state else { return [] }
        let origin = RefOrigin(storeKey: storeKey)
        return ids.map { Ref($0, origin) }
    }
}
