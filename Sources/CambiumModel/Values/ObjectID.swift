internal import CambiumBytes

/// The permanent identifier of an object: the number of its root entity (16 bits) and its serial (48 bits).
///
/// Each root entity assigns serials from 1 and never reuses them. Users see an id as `Note/42`, with the name of the object's concrete
/// entity; `Graph.name(of:)` returns this form.
public struct ObjectID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The largest serial that a store assigns: 2^38 - 1.
    public static let serialMax: UInt64 = (1 << 38) - 1

    public let rawValue: UInt64

    /// Creates the id of a root entity's object. Ends the process if the serial is greater than `serialMax`.
    public init(root: EntityNumber, serial: UInt64) {
        Trap.unless(serial <= Self.serialMax, "A serial has at most 38 bits, but \(serial) has more. Pass a serial that a store assigned.")
        rawValue = UInt64(root.rawValue) << 48 | serial
    }

    public var root: EntityNumber { EntityNumber(rawValue: UInt16(rawValue >> 48)) }
    public var serial: UInt64 { rawValue & 0xFFFF_FFFF_FFFF }

    /// The number of the root entity and the serial, such as `3/42`. `Graph.name(of:)` has the entity's name instead of the number.
    public var description: String { "\(root.rawValue)/\(serial)" }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
