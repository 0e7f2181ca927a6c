/// How objects are written. The defaults are those of the command line.
///
///     var options = ExportOptions()
///     options.references = .identity  // What an import of another store reads.
public struct ExportOptions: Sendable, Hashable {
    public enum Format: String, Sendable, CaseIterable {
        /// JSON Lines: an object a line.
        case lines
        /// One JSON array.
        case array
        /// A record for each object behind one with the names of the columns.
        case csv
    }

    /// What is written in place of an object that is not nested.
    public enum Reference: String, Sendable, CaseIterable {
        /// Its id, such as `Note/42`, which is only known to this store.
        case id
        /// Its identity, by which imports find it. Objects have no id then, and come in an order that does not depend on ids.
        case identity
    }

    public enum Content: String, Sendable, CaseIterable {
        case objects
        /// Only what tells objects apart: the id, or the identity.
        case names
    }

    /// What becomes of attributes and to-one relationships that are null. In CSV they are empty fields.
    public enum NullValue: String, Sendable, CaseIterable { case write, omit }

    /// How an object at the end of a to-one relationship nests: as an object, or as keys with a dot in them. CSV is flat. With a mapping:
    /// whether a path is objects in each other, or one key that is spelled as the whole path.
    public enum KeyPaths: String, Sendable, CaseIterable { case nested, flat }

    public var format = Format.lines
    public var references = Reference.id
    public var content = Content.objects
    public var nulls = NullValue.write
    public var keyPaths = KeyPaths.nested
    public var include = IncludeTree()
    /// Rows are what an import by this mapping reads as the same objects. References are identities then.
    public var mapping: ImportMapping?

    public init() {}
}
