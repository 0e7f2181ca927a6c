/// The values of one property in one graph. The column of the property is already looked up, so a loop over many objects need not look it
/// up for each object.
///
/// ```swift
/// let ages = try graph.column(\Person.age)
/// for place in try graph.places(of: Person.self) { sum += ages[place] ?? 0 }
/// ```
public struct RecordColumn<V: AttributeValue> {
    @usableFromInline let column: Column

    init(_ column: Column) { self.column = column }

    /// The value of an object; `nil` if the value is null, or if the type cannot hold the value.
    @inlinable
    public subscript(place: ObjectPlace) -> V? { V._value(of: column, at: place) }
}

extension Graph {
    /// Looks up the column of a record's property, so that a loop over many objects need not look it up for each object.
    ///
    /// Throws `.unknownName` if the record type does not fit the store's schema, or if the type's own `recordSchema` does not list the
    /// property.
    /// Complexity: O(objects of the hierarchy / 128).
    ///
    /// - Parameter keyPath: A property that is an attribute. If its type is optional, the values of the column have the wrapped type.
    public func column<Record: EntityRecord, V: _PropertyValue>(
        _ keyPath: KeyPath<Record, V>
    ) throws -> RecordColumn<V.ComparedValue> where V.ComparedValue: AttributeValue {
        RecordColumn(column(try attribute(keyPath)))
    }

    /// Returns the places (row positions in this graph) of the objects of a record type's entity, by ascending id. Throws as `column(_:)`
    /// does.
    public func places<Record: EntityRecord>(of type: Record.Type) throws -> PlaceSequence { places(of: try binding(type).entity) }

    private func attribute<Record: EntityRecord>(_ keyPath: PartialKeyPath<Record>) throws -> Attribute {
        try binding(Record.self).entity.requiredAttribute(Record.fieldName(of: keyPath))
    }
}
