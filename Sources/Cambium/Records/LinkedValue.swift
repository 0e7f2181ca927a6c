/// A property type that leads to one object: a record, a `Ref`, or an optional of these.
public protocol LinkedValue: PropertyValue {
    /// The record of the object.
    associatedtype Record: EntityRecord
}

extension Optional: LinkedValue where Wrapped: LinkedValue { public typealias Record = Wrapped.Record }

/// A property type that leads to several objects: an array or a set of records or refs, or `ToMany`.
public protocol LinkedValues: PropertyValue {
    associatedtype Record: EntityRecord
}

extension ToMany: LinkedValues {}
extension Set: LinkedValues where Element: RelatedValue { public typealias Record = Element.Record }
extension Array: LinkedValues where Element: ArrayElement & RelatedValue { public typealias Record = Element.Record }
