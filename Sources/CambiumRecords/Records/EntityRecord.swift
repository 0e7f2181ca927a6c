/// A struct whose values are views of the objects of one entity.
///
/// The macro `@Entity` (package trait `Macros`) generates the conformance. Without the macro, the struct declares the schema, and an
/// initializer that reads the properties. A `BlankRecord` needs only the schema.
///
/// ```swift
/// struct Note: EntityRecord {
///     var id: Int
///     var title: String
///     var items: [Item]
///     var ref: Ref<Note>?
///
///     static let recordSchema = RecordSchema<Note>("Note") {
///         RecordProperty("id", \.id, .identity)
///         RecordProperty("title", \.title, .default(""))
///         RecordProperty("items", \.items, .inverse("note"), .onDelete(.cascade))
///     }
///     init(from row: inout RecordReader) throws {
///         id = try row.read("id")
///         title = try row.read("title")
///         items = try row.read("items")
///         ref = row.ref()
///     }
/// }
/// ```
///
/// A struct may have only some of the properties of its entity: a save leaves the other properties unchanged. Several structs may be views
/// of one entity. A property whose type is another `EntityRecord` is a nested record: it is read and saved with its owner.
public protocol EntityRecord: _RelatedValue, _ArrayElement where _Target == Self {
    /// The entity and the stored properties, in the order of the struct's declaration.
    static var recordSchema: RecordSchema<Self> { get }

    /// A ref to the object of this value; `nil` until the value is saved for the first time, and again after the object is deleted.
    var ref: Ref<Self>? { get set }

    /// Reads each property of the object at which `row` is positioned. If a read fails, the error names the object and the property.
    init(from row: inout RecordReader) throws

    /// Writes each property. A save calls this method once or twice, and the values must be the same in both calls. By default, the method
    /// writes the properties that `recordSchema` lists.
    mutating func write(to row: inout RecordWriter) throws
}

extension EntityRecord {
    /// Writes each property that `recordSchema` lists, by its key path. A method that writes the properties directly takes less time.
    /// Throws as `RecordWriter.write(_:_:)` does.
    public mutating func write(to row: inout RecordWriter) throws {
        for (index, property) in Self.recordSchema.properties.enumerated() { try property.write(&self, index, &row) }
    }

    @inlinable
    public init(_property property: Int, of row: inout RecordReader) throws { self = try row.readTarget(property) }

    @inlinable
    public mutating func _write(_ property: Int, to row: inout RecordWriter) throws { try row.writeTarget(property, &self) }

    public static func _related(at place: ObjectPlace, of row: inout RecordReader) throws -> Self? { try row.nested(at: place) }

    public mutating func _save(in row: inout RecordWriter, _ property: Int) throws -> ObjectID { try row.saveNested(&self, property) }

    /// Returns the stored name of a property. If the schema does not list a key path, the name is the description of the key path. No
    /// entity has a property of this name, so a query with this name throws `.invalidInput`.
    static func fieldName(of keyPath: AnyKeyPath) -> String { recordSchema.name(of: keyPath) ?? "\(keyPath)" }
}
