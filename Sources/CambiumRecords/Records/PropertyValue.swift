/// A type that a stored property of an `EntityRecord` can have.
///
/// ```swift
/// func greatest<Record: EntityRecord, V: PropertyValue>(_ key: KeyPath<Record, V>, _ graph: Graph) throws -> Record? {
///     try graph.first(RecordQuery<Record>().sorted(by: key, .descending))
/// }
/// let oldest = try greatest(\Person.age, graph)
/// ```
///
/// Conforming types are the attribute types (see `AttributeValue`), other records, `Ref`, `ToMany`, optionals of these, and arrays and sets
/// of records and refs. A program's own types conform to `AttributeValue`, which has fewer requirements.
public protocol PropertyValue: Sendable {
    /// The type of the values with which a condition compares the property: the type itself, or the type inside of an optional.
    associatedtype ComparedValue: Sendable = Self

    /// The form that the property has in a schema.
    static var propertyForm: PropertyForm { get }

    /// Reads the property that has the given index in the record's schema.
    init(property: Int, of row: inout RecordReader) throws

    /// Writes the property that has the given index in the record's schema.
    mutating func write(property: Int, to row: inout RecordWriter) throws
}

/// The form that a property has in a schema: an attribute or a relationship, and whether it may be null.
///
/// ```swift
/// if case .attribute(let type, let isOptional, _) = String?.propertyForm { print(type, isOptional) }  // string true
/// ```
public enum PropertyForm: Sendable {
    /// - Parameter allowed: The only values that the attribute may have; `nil` for any value of the type.
    case attribute(AttributeType, isOptional: Bool, allowed: [Value]?)
    case relationship(to: any EntityRecord.Type, RelationshipDefinition.Cardinality, isOptional: Bool)

    /// The form of an optional property of the same type.
    var optional: PropertyForm {
        switch self {
        case .attribute(let type, _, let allowed): .attribute(type, isOptional: true, allowed: allowed)
        case .relationship(let record, let cardinality, _): .relationship(to: record, cardinality, isOptional: true)
        }
    }
}

extension Optional: PropertyValue where Wrapped: PropertyValue {
    public typealias ComparedValue = Wrapped.ComparedValue

    public static var propertyForm: PropertyForm { Wrapped.propertyForm.optional }

    @inlinable
    public init(property: Int, of row: inout RecordReader) throws {
        self = try row.isNil(property, Wrapped.self) ? nil : Wrapped(property: property, of: &row)
    }

    @inlinable
    public mutating func write(property: Int, to row: inout RecordWriter) throws {
        if self == nil {
            self = try row.writeNull(property, Wrapped.self)
        } else if row.omitsContainer(property, Wrapped.self) {
            self = nil
        } else {
            try self?.write(property: property, to: &row)
        }
    }
}
