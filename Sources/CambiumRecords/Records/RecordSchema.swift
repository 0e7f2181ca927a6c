/// The entity of a record, and its stored properties.
///
/// ```swift
/// static let recordSchema = RecordSchema<Note>("Note", indexes: [["title"]]) {
///     RecordProperty("id", \.id, .identity)
///     RecordProperty("title", \.title)
/// }
/// ```
public struct RecordSchema<Record: EntityRecord>: Sendable {
    let description: RecordDescription
    let properties: [RecordProperty<Record>]
    private let indexByKeyPath: [PropertyKey: Int]

    /// The name of the entity.
    var entity: String { description.entity }

    /// Creates the schema of a record. `SchemaDefinition(of:)` checks the schema.
    ///
    /// - Parameters:
    ///   - entity: The name of the entity.
    ///   - parent: A record of the parent entity. A record of a sub-entity also lists the inherited properties.
    ///   - isAbstract: Whether only sub-entities have objects.
    ///   - unique: Lists of attributes and to-one relationships. No two objects have the same values and targets in all of a list.
    ///   - indexes: Lists of attributes, each with the most significant attribute first, such as `["name[c]", "-born"]`.
    ///   - userInfo: Texts that a program attaches to the entity.
    ///   - renamedFrom: For a migration, the name of the entity in the old schema.
    ///   - properties: The stored properties.
    public init(
        _ entity: String, parent: (any EntityRecord.Type)? = nil, isAbstract: Bool = false, unique: [[String]] = [],
        indexes: [[String]] = [], userInfo: [String: String] = [:], renamedFrom: String? = nil,
        @DefinitionBuilder<RecordProperty<Record>> properties: () -> [RecordProperty<Record>]
    ) {
        let properties = properties()
        self.properties = properties
        description = RecordDescription(
            entity: entity, parent: parent, isAbstract: isAbstract, unique: unique, indexes: indexes, userInfo: userInfo,
            formerName: renamedFrom, properties: properties.map(\.description), mistakes: properties.compactMap { Self.mistake(in: $0) })
        indexByKeyPath = Dictionary(properties.enumerated().map { (PropertyKey(keyPath: $1.keyPath), $0) }) { first, _ in first }
    }

    /// Returns a sentence about a property that cannot be stored, or `nil`.
    private static func mistake(in property: RecordProperty<Record>) -> String? {
        let place = "\(Record.self).\(property.description.name)"
        if isOwnRef(property.keyPath) {
            return "\(place) leads to the record's own 'ref', which refers to the object itself. Remove it from recordSchema. The store "
                + "sets 'ref' in each read and each save."
        }
        if Record.self is any BlankRecord.Type, !property.isVariable {
            return "\(place) cannot be set, so a BlankRecord cannot read it. Declare it with 'var', give a computed property a setter, or "
                + "conform to EntityRecord and implement init(from:)."
        }
        return nil
    }

    /// Returns whether a key path leads to the property `ref` of the record. In generic code, `\Record.ref` denotes the requirement of the
    /// protocol and differs from the key path of the stored property, so the type and the name are compared.
    private static func isOwnRef(_ keyPath: PartialKeyPath<Record>) -> Bool {
        guard keyPath is KeyPath<Record, Ref<Record>?> else { return false }
        let names = keyPath.debugDescription.split(separator: ".")
        return names.count == 2 && names[1] == "ref"
    }

    /// Returns the name of the property to which a key path leads; `nil` if that property is not a stored property of the record.
    func name(of keyPath: AnyKeyPath) -> String? {
        guard let index = indexByKeyPath[PropertyKey(keyPath: keyPath)] else { return nil }
        return description.properties[index].name
    }
}

/// A key path to a stored property, in a form that can be a key of a dictionary.
///
/// SENDABLE: the key paths that a record's schema stores are Sendable. The key that `name(of:)` creates for a lookup is used only within
/// that call.
private struct PropertyKey: Hashable, @unchecked Sendable {
    let keyPath: AnyKeyPath
}

/// The parts of a `RecordSchema` that do not depend on its type parameter.
struct RecordDescription: Sendable {
    let entity: String
    let parent: (any EntityRecord.Type)?
    let isAbstract: Bool
    let unique: [[String]]
    let indexes: [[String]]
    let userInfo: [String: String]
    let formerName: String?
    let properties: [Property]
    /// Sentences about properties that cannot be stored.
    let mistakes: [String]

    struct Property: Sendable {
        let name: String
        let form: PropertyForm
        let options: [PropertyOption]
        /// Whether the values of the property contain records, and not only refs.
        let holdsRecords: Bool
    }
}

/// A stored property of a record.
///
/// ```swift
/// RecordProperty("sku", \.sku, .identity)
/// RecordProperty("price", \.price, .min(0), .default(Decimal(0)))
/// RecordProperty("shelf", \.shelf)
/// ```
public struct RecordProperty<Record>: Sendable {
    let keyPath: any PartialKeyPath<Record> & Sendable
    let description: RecordDescription.Property
    /// Whether the key path can set the property.
    let isVariable: Bool
    /// Writes the property of a record. The second parameter is the index of the property in the record's schema.
    let write: @Sendable (inout Record, Int, inout RecordWriter) throws -> Void
    /// Reads the property of a record. Throws `.misuse` if the property is a constant.
    let read: @Sendable (inout Record, Int, inout RecordReader) throws -> Void

    /// Creates a stored property of a record. A save writes it, and a load reads it, through the key path.
    ///
    /// - Parameters:
    ///   - name: The name of the property in the store.
    ///   - keyPath: The property of the struct.
    ///   - options: The rules of the property.
    public init<V: _PropertyValue>(_ name: String, _ keyPath: any KeyPath<Record, V> & Sendable, _ options: PropertyOption...) {
        self.keyPath = keyPath
        isVariable = keyPath is WritableKeyPath<Record, V>
        description = RecordDescription.Property(name: name, form: V._form, options: options, holdsRecords: holdsRecords(V.self))
        write = { record, index, row in
            if let variable = keyPath as? WritableKeyPath<Record, V> {
                try row.write(index, &record[keyPath: variable])
            } else {
                try row.write(index, constant: record[keyPath: keyPath])
            }
        }
        read = { record, index, row in
            let variable = try Self.variable(keyPath, name)
            record[keyPath: variable] = try row.read(index)
        }
    }

    /// Creates a property of any Codable type, which is stored in an attribute of type `json`. The attribute is optional if the type is
    /// optional. The record reads it with `readJSON` and writes it with `writeJSON`.
    public init<V: Codable & Sendable>(json name: String, _ keyPath: any KeyPath<Record, V> & Sendable, _ options: PropertyOption...) {
        self.keyPath = keyPath
        isVariable = keyPath is WritableKeyPath<Record, V>
        let form = PropertyForm.attribute(.json, isOptional: V.self is any OptionalType.Type, allowed: nil)
        description = RecordDescription.Property(name: name, form: form, options: options, holdsRecords: false)
        write = { record, index, row in try row.writeJSON(index, record[keyPath: keyPath]) }
        read = { record, index, row in
            let variable = try Self.variable(keyPath, name)
            record[keyPath: variable] = try row.readJSON(index)
        }
    }

    /// Returns the key path of a property that can be set. Throws `.misuse` for a constant.
    private static func variable<V>(_ keyPath: KeyPath<Record, V>, _ name: String) throws -> WritableKeyPath<Record, V> {
        if let variable = keyPath as? WritableKeyPath<Record, V> { return variable }
        throw CambiumError(
            .misuse,
            "The property '\(name)' of \(Record.self) cannot be set after the record was created. Declare it with 'var', or implement "
                + "init(from:).")
    }
}

/// An optional of any type.
private protocol OptionalType {}
extension Optional: OptionalType {}

/// A type whose values may contain values of another type.
private protocol WrappingType { static var wrappedType: Any.Type { get } }
extension Optional: WrappingType { fileprivate static var wrappedType: Any.Type { Wrapped.self } }
extension Array: WrappingType { fileprivate static var wrappedType: Any.Type { Element.self } }
extension Set: WrappingType { fileprivate static var wrappedType: Any.Type { Element.self } }

/// Returns whether a type is a record, or an optional, an array or a set of records.
private func holdsRecords(_ type: Any.Type) -> Bool {
    if type is any EntityRecord.Type { return true }
    return (type as? any WrappingType.Type).map { holdsRecords($0.wrappedType) } ?? false
}
