/// The form in which an export writes objects. The command line has the same defaults.
///
/// ```swift
/// var options = ExportOptions()
/// options.references = .identity  // An import of another store can read these.
/// ```
public struct ExportOptions: Sendable, Hashable {
    /// The format of the bytes.
    public enum Format: String, Sendable, CaseIterable {
        /// JSON Lines: one object per line.
        case lines
        /// One JSON array.
        case array
        /// A record with the names of the columns, then a record for each object.
        case csv
    }

    /// The form in which an export refers to an object that is not nested.
    public enum Reference: String, Sendable, CaseIterable {
        /// The id of the object, such as `Note/42`. An id is valid only in this store.
        case id
        /// The identity of the object, by which an import finds the object. With identities, the export writes no ids, and the order of the
        /// objects does not depend on ids.
        case identity
    }

    /// The part of each object that an export writes.
    public enum Content: String, Sendable, CaseIterable {
        /// The attributes and relationships of each object.
        case objects
        /// Only the id or the identity of each object.
        case names
    }

    /// Whether JSON contains attributes and to-one relationships that are null. In CSV, null is always an empty field.
    public enum NullValue: String, Sendable, CaseIterable { case write, omit }

    /// The form of an object at the end of a to-one relationship: a nested object, or keys such as `country.name`. CSV is always flat.
    ///
    /// With a mapping, the form of a path: nested objects, or one key that contains the whole path.
    public enum KeyPaths: String, Sendable, CaseIterable { case nested, flat }

    /// The format of the bytes: JSON Lines by default.
    public var format = Format.lines
    /// The form of references: ids by default.
    public var references = Reference.id
    /// The part of each object that is written: the whole object by default.
    public var content = Content.objects
    /// Whether null is written. By default, it is.
    public var nulls = NullValue.write
    /// The form of objects at the end of to-one relationships: nested by default.
    public var keyPaths = KeyPaths.nested
    /// The relationships whose objects are nested: none by default.
    public var include = IncludeTree()
    /// The mapping of an import. The export writes rows that an import with this mapping reads back as the same objects. With a mapping,
    /// references are identities.
    public var mapping: ImportMapping?

    /// Creates the default options.
    public init() {}
}
