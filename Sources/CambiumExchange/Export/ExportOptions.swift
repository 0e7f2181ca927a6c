/// The form in which objects are written. The command line has the same defaults.
///
///     var options = ExportOptions()
///     options.references = .identity  // An import of another store can read these.
public struct ExportOptions: Sendable, Hashable {
    public enum Format: String, Sendable, CaseIterable {
        /// JSON Lines: one object per line.
        case lines
        /// One JSON array.
        case array
        /// A record with the names of the columns, then a record for each object.
        case csv
    }

    /// The form in which an export writes an object that is not nested.
    public enum Reference: String, Sendable, CaseIterable {
        /// The id of the object, such as `Note/42`, which is valid only in this store.
        case id
        /// The identity of the object, by which imports find it. Objects are then written without ids, and their order does not depend on
        /// ids.
        case identity
    }

    public enum Content: String, Sendable, CaseIterable {
        case objects
        /// Only the id or the identity of each object.
        case names
    }

    /// The treatment of null attributes and to-one relationships. In CSV, they are empty fields.
    public enum NullValue: String, Sendable, CaseIterable { case write, omit }

    /// The nesting of an object at the end of a to-one relationship: as an object, or as keys with a dot in them. CSV is always flat. With
    /// a mapping, the nesting of a path: as nested objects, or as one key that contains the whole path.
    public enum KeyPaths: String, Sendable, CaseIterable { case nested, flat }

    public var format = Format.lines
    public var references = Reference.id
    public var content = Content.objects
    public var nulls = NullValue.write
    public var keyPaths = KeyPaths.nested
    public var include = IncludeTree()
    /// The mapping of an import: the export writes rows that this import reads back as the same objects. With a mapping, references are
    /// identities.
    public var mapping: ImportMapping?

    public init() {}
}
