/// The name of an entity or a property, as a hash. The hash shows whether an entity or a property with the same number in another schema is
/// really the same one.
///
/// The value takes 16 bytes without references, so that handles and tables can hold it.
package struct SchemaName: Sendable, Equatable {
    /// The hash of the name. Two names that Swift regards as equal, such as a composed and a decomposed "é", have the same hash. Another
    /// process has another hash, so no file may contain it.
    private let hash: Int
    private let isRenamed: Bool

    package init(_ name: String, formerName: String?) {
        hash = name.hashValue
        isRenamed = formerName != nil
    }

    /// Whether two names with the same number belong to the same entity or property. If a schema renames one of them, the names may differ.
    @inline(__always)
    package func isSame(as other: SchemaName) -> Bool { hash == other.hash || isRenamed || other.isRenamed }
}
