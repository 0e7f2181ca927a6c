/// A record type in which every property has an initial value. To conform, a struct needs only a schema.
///
/// ```swift
/// struct Note: BlankRecord {
///     var id = 0
///     var title = ""
///     var items: [Item] = []
///     var ref: Ref<Note>?
///
///     static let recordSchema = RecordSchema<Note>("Note") {
///         RecordProperty("id", \.id, .identity)
///         RecordProperty("title", \.title)
///         RecordProperty("items", \.items, .inverse("note"), .onDelete(.cascade))
///     }
/// }
/// ```
///
/// Each property has an initial value or is an optional variable. If the struct declares no initializer itself, Swift gives it the
/// initializer without parameters. The initial values are not the defaults of the schema. A property that the schema does not list has its
/// initial value whenever a record is read.
public protocol BlankRecord: EntityRecord {
    /// Creates a record with the initial values.
    init()
}

extension BlankRecord {
    /// Reads each property that `recordSchema` lists, by its key path. An initializer that reads the properties directly takes less time.
    ///
    /// Throws `.misuse` if the schema lists a constant.
    public init(from row: inout RecordReader) throws {
        self.init()
        for (index, property) in Self.recordSchema.properties.enumerated() { try property.read(&self, index, &row) }
        ref = row.ref()
    }
}
