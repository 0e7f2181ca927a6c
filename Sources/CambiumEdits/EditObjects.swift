import CambiumModel

/// The objects that an edit changes, and their changes.
///
/// The objects are divided into parts, so that the first write to a copy copies only one part. The refs of each record that is read from an
/// edit hold a copy of the edit. So without parts, changing n records one after another would take O(n²).
struct EditObjects: Sendable, Sequence {
    typealias Element = (key: ObjectID, value: EditState)

    /// The parts by the lowest bits of the serial; empty until the first write.
    private var parts: [[ObjectID: EditState]] = []

    private static let partCount: UInt64 = 256

    private static func part(of id: ObjectID) -> Int { Int(id.rawValue % partCount) }

    var isEmpty: Bool { parts.allSatisfy(\.isEmpty) }

    var keys: [ObjectID] { map(\.key) }

    subscript(id: ObjectID) -> EditState? { parts.isEmpty ? nil : parts[Self.part(of: id)][id] }

    /// Changes the state of an object. An object whose state is empty after the change is removed.
    mutating func change(_ id: ObjectID, _ body: (inout EditState) -> Void) {
        if parts.isEmpty { parts = Array(repeating: [:], count: Int(Self.partCount)) }
        let part = Self.part(of: id)
        body(&parts[part][id, default: EditState()])
        if parts[part][id]?.isEmpty == true { parts[part][id] = nil }
    }

    func makeIterator() -> FlattenSequence<[[ObjectID: EditState]]>.Iterator { parts.joined().makeIterator() }
}
