internal import CambiumBytes

/// The permanent identifier of an object: the number of its root entity (16 bits) and its serial (48 bits).
///
/// ```swift
/// let note = try store.write { try $0.insert("Note", ["title": "Paris"]) }.result
/// print(store.graph.name(of: note) ?? "deleted")
/// ```
///
/// Each root entity assigns serials from 1 and never reuses them. Users see an id as `Note/42`, with the name of the object's concrete
/// entity; `Graph.name(of:)` returns this form.
public struct ObjectID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The largest serial that a store assigns: 2^38 - 1.
    @inlinable package static var serialMax: UInt64 { (1 << 38) - 1 }

    /// The number of the root entity and the serial, combined in one number. Ids are ordered by this number.
    @usableFromInline package let rawValue: UInt64

    /// Creates the id of an object in the hierarchy of a root entity. Ends the process if the serial is greater than `serialMax`.
    package init(root: EntityNumber, serial: UInt64) {
        Trap.unless(serial <= Self.serialMax, "A serial has at most 38 bits, but \(serial) has more. Pass a serial that a store assigned.")
        rawValue = UInt64(root.rawValue) << 48 | serial
    }

    /// Creates the provisional id of an object that an edit inserts. The serial of the id contains the number of the edit and the number of
    /// the object. No store assigns such a serial.
    ///
    /// - Parameters:
    ///   - edit: The number of the edit. Only its lowest 20 bits are used.
    ///   - number: The number of the object in the edit, from 1 to `provisionalCountMax`.
    package init(root: EntityNumber, edit: UInt64, number: UInt64) {
        let serial = Self.provisionalBit | (edit & 0xF_FFFF) << Self.provisionalShift | number & Self.provisionalCountMax
        rawValue = UInt64(root.rawValue) << 48 | serial
    }

    private static let provisionalBit: UInt64 = 1 << 47
    private static let provisionalShift: UInt64 = 27
    /// The maximum number of objects that one edit inserts: 2^27 - 1.
    package static let provisionalCountMax: UInt64 = (1 << 27) - 1

    /// Whether the id is provisional: an `Edit` inserted the object, and no commit has given it a permanent id yet. No graph contains an
    /// object with a provisional id.
    package var isProvisional: Bool { serial & Self.provisionalBit != 0 }

    /// The number of a provisional object in its edit.
    package var provisionalNumber: UInt64 { serial & Self.provisionalCountMax }

    /// Creates an id from its raw value. Returns `nil` if no object can have the id.
    package init?(storedValue: UInt64) {
        guard storedValue & 0xFFFF_FFFF_FFFF <= Self.serialMax else { return nil }
        rawValue = storedValue
    }

    @inlinable package var root: EntityNumber { EntityNumber(rawValue: UInt16(rawValue >> 48)) }
    @inlinable package var serial: UInt64 { rawValue & 0xFFFF_FFFF_FFFF }

    /// The number of the root entity and the serial, such as `3/42`, or `3/+1` for a provisional id. `Graph.name(of:)` returns the entity's
    /// name instead of the number.
    public var description: String { "\(root.rawValue)/\(serialText)" }

    /// The serial as text, or `+1` for the first object that an edit inserted.
    package var serialText: String { isProvisional ? "+\(provisionalNumber)" : String(serial) }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
