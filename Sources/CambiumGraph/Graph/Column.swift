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

    /// The stored value at a place, read as `T`, which has the column's width; nil where null.
    @inline(__always) private func load<T: BitwiseCopyable>(_ place: ObjectPlace, as type: T.Type) -> T? {
        let leaf = rows.leaf(rows.group(place.row), slot)
        guard Rows.bit(leaf, PageLayout.presenceOffset, place.row) else { return nil }
        let offset = PageLayout.valuesOffset &+ MemoryLayout<T>.stride &* Int(place.row & PageLayout.rowMask)
        return leaf.load(fromByteOffset: offset, as: type)
    }

    /// A whole number; nil where null, or of another type.
    public func int(at place: ObjectPlace) -> Int64? {
        switch type {
        case .int16: load(place, as: Int16.self).map(Int64.init)
        case .int32: load(place, as: Int32.self).map(Int64.init)
        case .int64: load(place, as: Int64.self)
        default: nil
        }
    }

    public func bool(at place: ObjectPlace) -> Bool? { type == .bool ? load(place, as: UInt8.self).map { $0 != 0 } : nil }

    public func double(at place: ObjectPlace) -> Double? { type == .double ? load(place, as: Double.self) : nil }

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

extension Graph {
    public func column(_ attribute: Attribute) -> Column { Column(field(attribute), version) }
}
