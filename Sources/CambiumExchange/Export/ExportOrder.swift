import CambiumGraph
import CambiumModel

/// The order in which objects are written: by ascending id, or by identity if the export has no ids.
struct ExportOrder {
    private let table: ExportTable
    private let references: ExportOptions.Reference

    init(_ table: ExportTable, _ references: ExportOptions.Reference) {
        self.table = table
        self.references = references
    }

    /// Returns the members of a to-many relationship: in their stored order if the relationship is ordered, otherwise in the order that
    /// this `ExportOrder` defines.
    func members(_ relationship: Relationship, _ handle: EndHandle, of place: ObjectPlace) -> [ObjectPlace] {
        let members = table.graph.memberIDs(handle, of: place).compactMap(table.graph.place(of:))
        return relationship.isOrdered || references == .id ? members : sorted(members)
    }

    /// Calls `body` with each object of an entity and its sub-entities, or of all entities. The root entities are in declaration order, and
    /// their objects are in the order that this `ExportOrder` defines. Complexity: O(n) by id; by identity O(n log n), and memory for each
    /// object of a root entity.
    ///
    /// - Parameter condition: Returns whether `body` is called with an object; `nil` for all objects.
    func forEachObject(
        of entity: Entity?, where condition: ((ObjectPlace) -> Bool)?, _ body: (ObjectPlace) throws -> Void
    ) rethrows {
        let graph = table.graph
        if references == .id { return try graph.forEachObject(of: entity) { if condition?($0) ?? true { try body($0) } } }
        for root in entity.map({ [$0] }) ?? graph.schema.roots {
            let places = graph.objects(of: root).compactMap(graph.place(of:)).filter { place in
                !graph.isStub(place) && condition?(place) ?? true
            }
            for place in sorted(places) { try body(place) }
        }
    }

    /// Sorts objects by identity. Objects without an identity keep their order, and precede all other objects. Such objects exist if only
    /// some of the sub-entities have an identity.
    private func sorted(_ places: [ObjectPlace]) -> [ObjectPlace] {
        guard places.count > 1, places.contains(where: { !table.keys(of: $0).identity.isEmpty }) else { return places }
        let keyed = places.enumerated().map { (key: key($0.element), index: $0.offset) }
        let ordered = keyed.sorted { left, right in
            if left.key == right.key { return left.index < right.index }
            return left.key.lexicographicallyPrecedes(right.key)
        }
        return ordered.map { places[$0.index] }
    }

    /// Returns bytes that sort in the order of the identities: whole numbers by value, all other values by the bytes of their text. Null
    /// comes last. The bytes are the same for -0.0 and 0.0, because an import finds the same object by either number.
    private func key(_ place: ObjectPlace) -> [UInt8] {
        var bytes: [UInt8] = []
        for value in table.identity(of: place) {
            switch value {
            case .int(let number):
                let ordered = UInt64(bitPattern: number) ^ 1 << 63
                bytes.append(1)
                for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: ordered >> UInt64(shift))) }
            case .bool, .float, .double, .decimal: Self.append(2, value.withoutNegativeZero.text, to: &bytes)
            case .string, .uri, .data, .date, .uuid, .json: Self.append(3, value.text, to: &bytes)
            case .null: bytes.append(4)
            }
        }
        return bytes
    }

    /// Appends `kind`, and then `text` in an encoding that marks its end. So a text sorts before every longer text that begins with it,
    /// whatever values follow in the key.
    private static func append(_ kind: UInt8, _ text: String, to bytes: inout [UInt8]) {
        bytes.append(kind)
        for byte in text.utf8 {
            bytes.append(byte)
            // A zero byte marks the end of the text, so a zero byte in the text must differ from the end.
            if byte == 0 { bytes.append(1) }
        }
        bytes += [0, 0]
    }
}
