/// A property type that leads to one object: a record, a `Ref`, or an optional of these.
///
/// ```swift
/// let parisians = try graph.fetch(Person.self) { $0.city.name == "Paris" }  // `Person.city` is a `City?`.
/// let items = try graph.fetch(Item.self) { $0.note.title == "Packing" }  // `Item.note` is a `Ref<Note>?`.
/// ```
public protocol LinkedValue: PropertyValue {
    /// The record of the object.
    associatedtype Record: EntityRecord
}

extension Optional: LinkedValue where Wrapped: LinkedValue { public typealias Record = Wrapped.Record }

/// A property type that leads to several objects: an array or a set of records or refs, or `ToMany`.
///
/// ```swift
/// // `Note.items` is an `[Item]`, so a condition counts and tests its members.
/// let packed = try graph.fetch(Note.self) { !$0.items.isEmpty && $0.items.all { $0.isDone == true } }
/// ```
public protocol LinkedValues: PropertyValue {
    associatedtype Record: EntityRecord
}

extension ToMany: LinkedValues {}
extension Set: LinkedValues where Element: RelatedValue { public typealias Record = Element.Record }
extension Array: LinkedValues where Element: ArrayElement & RelatedValue { public typealias Record = Element.Record }
