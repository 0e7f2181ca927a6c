/// The name of an entity or a property, as a hash. Another schema may give the same number to a different entity or property. Comparing the
/// names detects this difference.
///
/// The value is 16 bytes long and contains no references, so handles and tables can hold it.
package struct SchemaName: Sendable, Equatable {
    /// The hash of the name. Two names that Swift regards as equal, such as a composed and a decomposed "é", have the same hash. Another
    /// process computes a different hash, so the hash must not be stored in a file.
    private let hash: Int
    private let isRenamed: Bool

    package init(_ name: String, formerName: String?) {
        hash = name.hashValue
        isRenamed = formerName != nil
    }

    /// Whether two names with the same number can belong to the same entity or property. If a schema states a former name, the names may
    /// differ.
    @inline(__always)
    package func isSame(as other: SchemaName) -> Bool { hash == other.hash || isRenamed || other.isRenamed }
}
