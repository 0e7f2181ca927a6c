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

    /// Calls `body` with the bytes of a string, URI, JSON text or data, without copying them; with nil where null.
    public func withBytes<Result>(at place: ObjectPlace, _ body: (UnsafeRawBufferPointer?) -> Result) -> Result {
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
        /// To one: the column that holds the row at the other end.
        case one(Rows, slot: Int)
        /// To many, without an order: the owner's first member, and each member's next.
        case chain(owners: Rows, first: Int, members: Rows, next: Int)
        case other(EndLayout)
    }

    private let shape: Shape
    private let end: EndLayout
    private let targetTable: Int
    /// Keeps the pages.
    private let version: Version

    init(_ handle: EndHandle, _ version: Version) {
        let reader = version.reader
        end = handle.end
        targetTable = handle.targetTable
        self.version = version
        switch end.layout {
        case .pair(let tables, let slots): shape = .one(reader.rows(tables[end.end]), slot: slots[end.end])
        case .list(let list, let childEnd):
            if end.end == childEnd {
                shape = .one(reader.rows(list.memberTable), slot: list.ownerSlot)
            } else if case .chain(let first, _, _, _, let next) = list.shape {
                let owners = reader.rows(list.ownerTable)
                shape = .chain(owners: owners, first: first, members: reader.rows(list.memberTable), next: next)
            } else {
                shape = .other(end)
            }
        case .edges: shape = .other(end)
        }
    }

    /// Calls `body` with each object at the other end: in order where the relationship is ordered.
    public func forEach(of place: ObjectPlace, _ body: (ObjectPlace) -> Void) {
        switch shape {
        case .one(let rows, let slot):
            let row = rows.link(place.row, slot)
            if row != noRow { body(ObjectPlace(table: targetTable, row: row)) }
        case .chain(let owners, let first, let members, let next):
            var chain = ChainRows(members, from: owners.link(place.row, first), next: next)
            while let row = chain.next() { body(ObjectPlace(table: targetTable, row: row)) }
        case .other(let end):
            version.reader.forEachMember(end, owner: place.row) { body(ObjectPlace(table: targetTable, row: $0)) }
        }
    }

    /// The object that a to-one relationship leads to.
    public func target(of place: ObjectPlace) -> ObjectPlace? {
        guard case .one(let rows, let slot) = shape else { return nil }
        let row = rows.link(place.row, slot)
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
