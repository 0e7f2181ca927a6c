/// A type that refers to an object: a record, or a `Ref` to a record. A property of this type is a relationship.
public protocol _RelatedValue: _PropertyValue where _Target: EntityRecord {
    /// Returns the value that refers to an object. Returns `nil` if the value would be a record that contains the current record.
    static func _related(at place: ObjectPlace, of row: inout RecordReader) throws -> Self?

    /// Saves the value if it is a record, and returns its object.
    mutating func _save(in row: inout RecordWriter, _ property: Int) throws -> ObjectID
}

extension _RelatedValue {
    public static var _form: _PropertyForm { .relationship(to: _Target.self, .toOne, isOptional: false) }
}

/// A type that can be the element of an array property. An array of related values is an ordered relationship, and an array of `UInt8` is
/// data.
public protocol _ArrayElement: Sendable {
    /// The record to which the element refers; `Void` for a byte.
    associatedtype _Target = Void

    static var _arrayForm: _PropertyForm { get }
    static func _array(_ property: Int, of row: inout RecordReader) throws -> [Self]
    static func _write(_ array: inout [Self], _ property: Int, to row: inout RecordWriter) throws
}

extension Array: _PropertyValue where Element: _ArrayElement {
    public typealias _Member = Element._Target

    public static var _form: _PropertyForm { Element._arrayForm }

    @inlinable
    public init(_property property: Int, of row: inout RecordReader) throws { self = try Element._array(property, of: &row) }

    @inlinable
    public mutating func _write(_ property: Int, to row: inout RecordWriter) throws { try Element._write(&self, property, to: &row) }
}

extension _ArrayElement where Self: _RelatedValue {
    public static var _arrayForm: _PropertyForm { .relationship(to: _Target.self, .orderedToMany, isOptional: false) }

    public static func _array(_ property: Int, of row: inout RecordReader) throws -> [Self] { try row.related(property) }

    public static func _write(_ array: inout [Self], _ property: Int, to row: inout RecordWriter) throws {
        try row.writeMembers(property, of: Self.self) { row, ids in
            for index in array.indices { ids.append(try array[index]._save(in: &row, property)) }
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
extension UInt8: _ArrayElement {
    public static var _arrayForm: _PropertyForm { .attribute(.data, isOptional: false, allowed: nil) }

    public static func _array(_ property: Int, of row: inout RecordReader) throws -> [UInt8] {
        let value = try row.value(property)
        guard case .data(let bytes) = value else { throw row.mismatch(property, value, ValueMismatch(of: [UInt8].self)) }
        return bytes
    }

    public static func _write(_ array: inout [UInt8], _ property: Int, to row: inout RecordWriter) throws {
        if row.wantsAttributes { try row.put(property, .data(array)) }
    }
}

/// A set of related values is an unordered relationship. New records are inserted in the order of their identity, or of all attributes if
/// they have no identity, so that their ids do not depend on hashes.
extension Set: _PropertyValue where Element: _RelatedValue {
    public typealias _Member = Element._Target

    public static var _form: _PropertyForm { .relationship(to: Element._Target.self, .toMany, isOptional: false) }

    /// Throws `.unexpectedValue` if two members are equal, because a set can hold only one of them, and a save would unlink the other one.
    public init(_property property: Int, of row: inout RecordReader) throws {
        let members: [Element] = try row.related(property)
        self = Set(members)
        guard count == members.count else {
            let reason = "two of its members are equal. Let == also compare 'ref', or declare the property as a Set of Ref"
            throw row.mismatch(property, nil, ValueMismatch(description: reason))
        }
    }

    public mutating func _write(_ property: Int, to row: inout RecordWriter) throws {
        try row.writeMembers(property, of: Element.self, .kept) { row, ids in
            var saved: Set = []
            for var member in row.inOrder(self) {
                ids.append(try member._save(in: &row, property))
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
