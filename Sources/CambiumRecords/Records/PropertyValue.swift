/// A type that a stored property of a record can have. Programs conform their types to `AttributeValue` or `JSONAttribute` instead.
///
/// Conforming types are the attribute types, records, `Ref`, `ToMany`, optionals of these, and arrays and sets of records and refs.
public protocol _PropertyValue: Sendable {
    /// The type of the values with which a condition compares the property: the type itself, or the type inside of an optional.
    associatedtype ComparedValue: Sendable = Self
    /// The record of the object to which the property leads; `Void` if the property is not a to-one relationship.
    associatedtype _Target = Void
    /// The record of the objects to which the property leads; `Void` if the property is not a to-many relationship.
    associatedtype _Member = Void

    /// The form that the property has in a schema.
    static var _form: _PropertyForm { get }

    /// Reads the property that has the given index in the record's schema.
    init(_property: Int, of row: inout RecordReader) throws

    /// Writes the property that has the given index in the record's schema.
    mutating func _write(_ property: Int, to row: inout RecordWriter) throws
}

/// The form that a property has in a schema: an attribute or a relationship, and whether it may be null.
public enum _PropertyForm: Sendable {
    /// - Parameter allowed: The only values that the attribute may have; `nil` for any value of the type.
    case attribute(AttributeType, isOptional: Bool, allowed: [Value]?)
    case relationship(to: any EntityRecord.Type, RelationshipDefinition.Cardinality, isOptional: Bool)

    /// The form of an optional property of the same type.
    var optional: Self {
        switch self {
        case .attribute(let type, _, let allowed): .attribute(type, isOptional: true, allowed: allowed)
        case .relationship(let record, let cardinality, _): .relationship(to: record, cardinality, isOptional: true)
        }
    }
}

typealias PropertyForm = _PropertyForm

extension Optional: _PropertyValue where Wrapped: _PropertyValue {
    public typealias ComparedValue = Wrapped.ComparedValue
    public typealias _Target = Wrapped._Target
    public typealias _Member = Wrapped._Member

    public static var _form: _PropertyForm { Wrapped._form.optional }

    @inlinable
    public init(_property property: Int, of row: inout RecordReader) throws {
        self = try row.isNil(property, Wrapped.self) ? nil : Wrapped(_property: property, of: &row)
    }

    @inlinable
    public mutating func _write(_ property: Int, to row: inout RecordWriter) throws {
        if self == nil {
            self = try row.writeNull(property, Wrapped.self)
        } else if row.omitsContainer(property, Wrapped.self) {
            self = nil
        } else {
            try self?._write(property, to: &row)
        }
    }
}
