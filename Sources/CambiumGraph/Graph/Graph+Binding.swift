public import CambiumModel

/// An attribute of one graph, for loops over many objects: where its column begins is looked up once.
///
///     let title = graph.column(note.attribute("title")!)
///     for id in graph.objects(of: note) { print(title.string(at: graph.place(of: id)!) ?? "") }
public struct Column {
    private let rows: Rows
    private let slot: Int
    private let kind: ColumnKind
    public let type: AttributeType
    /// Keeps the pages.
    private let version: Version

    init(_ field: Field, _ version: Version) {
        rows = version.reader.rows(field.table)
        slot = field.slot
        kind = field.kind
        type = field.type
        self.version = version
    }

    /// The stored bits of a value of 8 bytes or fewer, zero-extended; nil where null.
    @inline(__always) private func bits(at place: ObjectPlace) -> UInt64? {
        guard case .fixed(let width) = kind else { return nil }
        let leaf = rows.leaf(rows.group(place.row), slot)
        guard Rows.bit(leaf, PageLayout.presenceOffset, place.row) else { return nil }
        let offset = PageLayout.valuesOffset &+ width &* Int(place.row & PageLayout.rowMask)
        switch width {
        case 1: return UInt64(leaf.load(fromByteOffset: offset, as: UInt8.self))
        case 2: return UInt64(leaf.load(fromByteOffset: offset, as: UInt16.self))
        case 4: return UInt64(leaf.load(fromByteOffset: offset, as: UInt32.self))
        default: return leaf.load(fromByteOffset: offset, as: UInt64.self)
        }
    }

    /// A whole number; nil where null, or of another type.
    public func int(at place: ObjectPlace) -> Int64? {
        guard let bits = bits(at: place) else { return nil }
        switch type {
        case .int16: return Int64(Int16(truncatingIfNeeded: bits))
        case .int32: return Int64(Int32(truncatingIfNeeded: bits))
        case .int64: return Int64(bitPattern: bits)
        default: return nil
        }
    }

    public func bool(at place: ObjectPlace) -> Bool? { type == .bool ? bits(at: place).map { $0 != 0 } : nil }

    public func double(at place: ObjectPlace) -> Double? {
        type == .double ? bits(at: place).map(Double.init(bitPattern:)) : nil
    }

    /// The text of a string, URI or JSON; nil where null, or of another type.
    public func string(at place: ObjectPlace) -> String? {
        guard type == .string || type == .uri || type == .json else { return nil }
        if let bytes = rows.bytes(place.row, slot) { return String(decoding: bytes, as: UTF8.self) }
        return rows.withCell(place.row, slot, kind) { $0.kind == .null ? nil : String(decoding: $0.bytes, as: UTF8.self) }
    }

    /// Calls `body` with the bytes of a string, URI, JSON text or data, without copying them; with nil where null, or of
    /// another type.
    public func withBytes<Result>(at place: ObjectPlace, _ body: (UnsafeRawBufferPointer?) -> Result) -> Result {
        guard kind == .string else { return body(nil) }
        if let bytes = rows.bytes(place.row, slot) { return body(bytes) }
        return rows.withCell(place.row, slot, kind) { body($0.kind == .null ? nil : $0.bytes) }
    }

    public func value(at place: ObjectPlace) -> Value {
        version.reader.value(of: Field(table: Int(place.table), slot: slot, kind: kind, type: type), at: place)
    }
}

/// A relationship of one graph, for loops over many objects: where its columns begin is looked up once.
public struct Relation {
    private enum Shape {
        /// To one: a column of the owner has the row at the other end.
        case one
        /// To many, without an order: a column of the owner has the first member, one of the members the next.
        case chain
        case other
    }

    private let shape: Shape
    private let owners: Rows
    private let ownerSlot: Int
    private let members: Rows
    private let nextSlot: Int
    private let end: EndLayout
    private let targetTable: Int
    /// Keeps the pages.
    private let version: Version

    init(_ handle: EndHandle, _ version: Version) {
        let reader = version.reader
        let place: (shape: Shape, ownerTable: Int, ownerSlot: Int, nextSlot: Int) =
            switch handle.end.layout {
            case .pair(let tables, let slots): (.one, tables[handle.end.end], slots[handle.end.end], 0)
            case .list(let list, let childEnd):
                if handle.end.end == childEnd {
                    (.one, list.memberTable, list.ownerSlot, 0)
                } else if case .chain(let first, _, _, _, let next) = list.shape {
                    (.chain, list.ownerTable, first, next)
                } else {
                    (.other, list.ownerTable, 0, 0)
                }
            case .edges: (.other, handle.targetTable, 0, 0)
            }
        shape = place.shape
        owners = reader.rows(place.ownerTable)
        ownerSlot = place.ownerSlot
        members = reader.rows(handle.targetTable)
        nextSlot = place.nextSlot
        end = handle.end
        targetTable = handle.targetTable
        self.version = version
    }

    /// Calls `body` with each object at the other end: in order where the relationship is ordered.
    public func forEach(of place: ObjectPlace, _ body: (ObjectPlace) -> Void) {
        switch shape {
        case .one:
            let row = owners.link(place.row, ownerSlot)
            if row != noRow { body(ObjectPlace(table: targetTable, row: row)) }
        case .chain:
            var chain = ChainRows(members, from: owners.link(place.row, ownerSlot), next: nextSlot)
            while let row = chain.next() { body(ObjectPlace(table: targetTable, row: row)) }
        case .other:
            version.reader.forEachMember(end, owner: place.row) { body(ObjectPlace(table: targetTable, row: $0)) }
        }
    }

    /// The object that a to-one relationship leads to.
    public func target(of place: ObjectPlace) -> ObjectPlace? {
        guard shape == .one else { return nil }
        let row = owners.link(place.row, ownerSlot)
        return row == noRow ? nil : ObjectPlace(table: targetTable, row: row)
    }

    /// Complexity: O(1).
    public func count(of place: ObjectPlace) -> Int { version.reader.memberCount(end, owner: place.row) }
}

extension Graph {
    public func column(_ attribute: Attribute) -> Column { Column(field(attribute), version) }
    public func relation(_ relationship: Relationship) -> Relation { Relation(end(relationship), version) }

    /// Finds objects of an entity by identity; nil where that is not one attribute.
    public func finder(_ entity: Entity) -> IdentityFinder? {
        Finder(entity, reader, layout).map { IdentityFinder(finder: $0, version: version) }
    }
}
