// The numbers of entities and properties are compared and hashed in inner loops of other modules. `@usableFromInline` and `@inlinable` let
// the compiler inline these operations there, although the types are not public.

/// The number of an entity in a schema. Each number is assigned once and never reused, not even after a migration.
@usableFromInline package struct EntityNumber: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible {
    @usableFromInline package let rawValue: UInt16
    @inlinable package init(rawValue: UInt16) { self.rawValue = rawValue }
    @inlinable package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    @usableFromInline package var description: String { "entity \(rawValue)" }
}

/// The number of an attribute or a relationship, unique in the hierarchy of one root entity. A number is never reused.
@usableFromInline package struct PropertyNumber: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible {
    @usableFromInline package let rawValue: UInt16
    @inlinable package init(rawValue: UInt16) { self.rawValue = rawValue }
    @inlinable package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    @usableFromInline package var description: String { "property \(rawValue)" }
}

/// The number of a transaction. The first transaction of a store has the number 1, and each later one has the next number. 0 means the
/// empty store.
///
/// ```swift
/// let last = store.graph.transaction
/// let before = try store.graph(at: .transaction(TransactionNumber(rawValue: last.rawValue - 1)))
/// print(last, store.graph.changes(since: before).count)
/// ```
public struct TransactionNumber: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// The number 0, which no transaction has: the moment before the first transaction.
    public static let none = TransactionNumber(rawValue: 0)
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    /// The next number. Ends the process if this number is the largest one.
    package var next: TransactionNumber { TransactionNumber(rawValue: rawValue + 1) }
    public var description: String { String(rawValue) }
}
