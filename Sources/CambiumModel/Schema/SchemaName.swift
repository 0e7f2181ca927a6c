/// The name of an entity or a property: what tells it from one of an unrelated schema that happens to have the same number.
///
/// It is 16 bytes without references, so that handles and tables can hold it.
package struct SchemaName: Sendable, Equatable {
    /// FNV-1a of the name.
    private let hash: UInt64
    private let isRenamed: Bool

    package init(_ name: String, formerName: String?) {
        hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        isRenamed = formerName != nil
    }

    /// Whether two things with one number are the same thing. Only a schema that says `renamedFrom` gives a number another name.
    @inline(__always)
    package func isSame(as other: SchemaName) -> Bool { hash == other.hash || isRenamed || other.isRenamed }
}
