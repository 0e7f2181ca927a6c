/// The name of an entity or a property, as a hash. The hash shows whether an entity or a property with the same number in another schema is
/// really the same one.
///
/// The value takes 16 bytes without references, so that handles and tables can hold it.
package struct SchemaName: Sendable, Equatable {
    /// The FNV-1a hash of the name.
    private let hash: UInt64
    private let isRenamed: Bool

    package init(_ name: String, formerName: String?) {
        hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        isRenamed = formerName != nil
    }

    /// Whether two entities or properties with the same number are the same. If a schema renames one of them, the names may differ.
    @inline(__always)
    package func isSame(as other: SchemaName) -> Bool { hash == other.hash || isRenamed || other.isRenamed }
}
