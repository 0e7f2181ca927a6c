/// A type that refers to an object: a record, or a `Ref` to a record. A property of this type is a relationship.
///
/// ```swift
/// let schema = RecordSchema<Person>("Person") {
///     RecordProperty("city", \.city)  // A `City?` is a record, so this is a relationship.
///     RecordProperty("boss", \.boss)  // A `Ref<Person>?` refers to a record, so this is one, too.
/// }
/// ```
public protocol RelatedValue: LinkedValue {
    /// Returns the value that refers to an object. Returns `nil` if the value would be a record that contains the current record.
    static func related(at place: ObjectPlace, of row: inout RecordReader) throws -> Self?

    /// Saves the value if it is a record, and returns its object.
    mutating func save(in row: inout RecordWriter, _ property: Int) throws -> ObjectID
}

extension RelatedValue {
    public static var propertyForm: PropertyForm { .relationship(to: Record.self, .toOne, isOptional: false) }
}

/// A type that can be the element of an array property. An array of related values is an ordered relationship, and an array of `UInt8` is
/// data.
///
/// ```swift
/// let schema = RecordSchema<Note>("Note") {
///     RecordProperty("items", \.items)  // An `[Item]` is an ordered relationship.
///     RecordProperty("photo", \.photo)  // A `[UInt8]` is an attribute of type `data`.
/// }
/// ```
public protocol ArrayElement: Sendable {
    static var arrayForm: PropertyForm { get }
    static func array(property: Int, of row: inout RecordReader) throws -> [Self]
    static func write(_ array: inout [Self], property: Int, to row: inout RecordWriter) throws
}

extension Array: PropertyValue where Element: ArrayElement {
    public static var propertyForm: PropertyForm { Element.arrayForm }

    @inlinable
    public init(property: Int, of row: inout RecordReader) throws { self = try Element.array(property: property, of: &row) }

    @inlinable
    public mutating func write(property: Int, to row: inout RecordWriter) throws {
        try Element.write(&self, property: property, to: &row)
    }
}

extension ArrayElement where Self: RelatedValue {
    public static var arrayForm: PropertyForm { .relationship(to: Record.self, .orderedToMany, isOptional: false) }

    public static func array(property: Int, of row: inout RecordReader) throws -> [Self] { try row.related(property) }

    public static func write(_ array: inout [Self], property: Int, to row: inout RecordWriter) throws {
        try row.writeMembers(property, of: Self.self) { row, ids in
            for index in array.indices { ids.append(try array[index].save(in: &row, property)) }
        }
        guard let container: Self = row.containerRef(property), let id = (container as? any ContainerRef)?.id else { return }
        if let index = array.firstIndex(where: { ($0 as? any ContainerRef)?.id == id }) {
            if row.isRolledBack(array[index]) { array[index] = container }
        } else {
            array.append(container)
        }
    }
}

/// An array of bytes, which is stored in an attribute of type `data`.
extension UInt8: ArrayElement {
    public static var arrayForm: PropertyForm { .attribute(.data, isOptional: false, allowed: nil) }

    public static func array(property: Int, of row: inout RecordReader) throws -> [UInt8] {
        let value = try row.value(property)
        guard case .data(let bytes) = value else { throw row.mismatch(property, value, ValueMismatch(of: [UInt8].self)) }
        return bytes
    }

    public static func write(_ array: inout [UInt8], property: Int, to row: inout RecordWriter) throws {
        if row.wantsAttributes { try row.put(property, .data(array)) }
    }
}

/// A set of related values is an unordered relationship. New records are inserted in the order of their identity, or of all attributes if
/// they have no identity, so that their ids do not depend on hashes.
extension Set: PropertyValue where Element: RelatedValue {
    public static var propertyForm: PropertyForm { .relationship(to: Element.Record.self, .toMany, isOptional: false) }

    /// Throws `.unexpectedValue` if two members are equal, because a set can hold only one of them, and a save would unlink the other one.
    public init(property: Int, of row: inout RecordReader) throws {
        let members: [Element] = try row.related(property)
        self = Set(members)
        guard count == members.count else {
            let reason = "two of its members are equal. Let == also compare 'ref', or declare the property as a Set of Ref"
            throw row.mismatch(property, nil, ValueMismatch(description: reason))
        }
    }

    public mutating func write(property: Int, to row: inout RecordWriter) throws {
        try row.writeMembers(property, of: Element.self, .kept) { row, ids in
            var saved: Set = []
            for var member in row.inOrder(self) {
                ids.append(try member.save(in: &row, property))
                saved.insert(member)
            }
            // Builds the set again, because the saved members have refs, which may change the hashes of the members.
            self = saved
        }
        guard let container: Element = row.containerRef(property) else { return }
        if let index = firstIndex(of: container), row.isRolledBack(self[index]) { remove(at: index) }
        insert(container)
    }
}
