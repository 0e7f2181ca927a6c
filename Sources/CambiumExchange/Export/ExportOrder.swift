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
            var places: [ObjectPlace] = []
            graph.forEachObject(of: root) { if !graph.isStub($0), condition?($0) ?? true { places.append($0) } }
            for place in sorted(places) { try body(place) }
        }
    }

    /// Sorts objects by identity. Objects without an identity keep their order, and precede all other objects. Such objects exist if only
    /// some of the sub-entities have an identity.
    private func sorted(_ places: [ObjectPlace]) -> [ObjectPlace] {
        guard places.count > 1, places.contains(where: { !table.keys(of: $0).identity.isEmpty }) else { return places }
        var order = KeyOrder(capacity: places.count)
        for place in places {
            appendKey(of: place, to: &order.bytes)
            order.endKey()
        }
        return order.sorted().map { places[$0] }
    }

    /// Appends bytes that sort in the order of the identities: whole numbers by value, all other values by the bytes of their text. Null
    /// comes last. The bytes are the same for -0.0 and 0.0, because an import finds the same object by either number.
    private func appendKey(of place: ObjectPlace, to bytes: inout [UInt8]) {
        for part in table.keys(of: place).identity {
            switch part {
            case .field(_, let field): appendKey(field, of: place, to: &bytes)
            case .owner(_, let handle):
                guard let owner = table.graph.target(handle, of: place) else {
                    bytes.append(4)
                    continue
                }
                // An identity depends only on other identities, so the recursion ends. An owner without identity has only its id.
                if table.keys(of: owner).identity.isEmpty {
                    Self.append(Int64(table.graph.id(of: owner).serial), to: &bytes)
                } else {
                    appendKey(of: owner, to: &bytes)
                }
            }
        }
    }

    private func appendKey(_ field: Field, of place: ObjectPlace, to bytes: inout [UInt8]) {
        table.graph.withCell(field, place) { cell in
            if cell.kind == .null { return bytes.append(4) }
            switch field.type {
            case .int16: Self.append(Int64(Int16(truncatingIfNeeded: cell.low)), to: &bytes)
            case .int32: Self.append(Int64(Int32(truncatingIfNeeded: cell.low)), to: &bytes)
            case .int64: Self.append(Int64(bitPattern: cell.low), to: &bytes)
            case .string: Self.append(3, cell.bytes, to: &bytes)
            case .bool, .float, .double, .decimal:
                Self.append(2, table.graph.value(of: field, at: place).withoutNegativeZero.text.utf8, to: &bytes)
            case .uri, .data, .date, .uuid, .json: Self.append(3, table.graph.value(of: field, at: place).text.utf8, to: &bytes)
            }
        }
    }

    private static func append(_ number: Int64, to bytes: inout [UInt8]) {
        let ordered = UInt64(bitPattern: number) ^ 1 << 63
        bytes.append(1)
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: ordered >> UInt64(shift))) }
    }

    /// Appends `kind`, and then `text` in an encoding that marks its end. So a text sorts before every longer text that begins with it,
    /// whatever values follow in the key.
    private static func append(_ kind: UInt8, _ text: some Sequence<UInt8>, to bytes: inout [UInt8]) {
        bytes.append(kind)
        for byte in text {
            bytes.append(byte)
            // A zero byte marks the end of the text, so a zero byte in the text must differ from the end.
            if byte == 0 { bytes.append(1) }
        }
        bytes += [0, 0]
    }
}

/// Keys to sort, which follow each other in one array. An array for each key would take several times as much memory and time.
private struct KeyOrder {
    private struct Record {
        /// The first 16 bytes of the key, followed by zeros if the key is shorter. Few comparisons need more bytes.
        let head: SIMD2<UInt64>
        let start: Int
        let end: Int
        let index: Int
    }

    var bytes: [UInt8] = []
    private var records: [Record] = []

    init(capacity: Int) { records.reserveCapacity(capacity) }

    /// Completes the key whose bytes were appended since the last call.
    mutating func endKey() {
        let start = records.last?.end ?? 0
        var head = SIMD2<UInt64>()
        for place in 0..<16 {
            let byte = start + place < bytes.count ? bytes[start + place] : 0
            head[place / 8] = head[place / 8] << 8 | UInt64(byte)
        }
        records.append(Record(head: head, start: start, end: bytes.count, index: records.count))
    }

    /// Returns the indexes of the keys in ascending order. Equal keys keep their order.
    func sorted() -> [Int] {
        records.sorted { left, right in
            if left.head.x != right.head.x { return left.head.x < right.head.x }
            if left.head.y != right.head.y { return left.head.y < right.head.y }
            let (key, other) = (bytes[left.start..<left.end], bytes[right.start..<right.end])
            return key == other ? left.index < right.index : key.lexicographicallyPrecedes(other)
        }.map(\.index)
    }
}
