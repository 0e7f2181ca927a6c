internal import CMachine
import CambiumModel

/// An attribute, resolved for reading with a `RowCursor`: its column, its width and its type. The cursor's graph must have the layout for
/// which the attribute was resolved.
package struct CursorField: Sendable {
    let slot: Int32
    let width: UInt8
    package let type: AttributeType

    var isText: Bool { width == 0 }
}

extension Graph {
    /// Resolves an attribute for a `RowCursor` of this graph or of another graph with the same layout. Returns `nil` if the graph does not
    /// have the attribute.
    package func cursorField(_ attribute: Attribute) -> CursorField? {
        let field = field(attribute)
        guard field.table >= 0 else { return nil }
        let width: UInt8 = if case .fixed(let width) = field.kind { UInt8(width) } else { 0 }
        return CursorField(slot: Int32(field.slot), width: width, type: field.type)
    }

    /// A number that distinguishes the store of this graph from other stores. All graphs of a store have the same number, in every process.
    package var storeKey: UInt64 { reader.hashKey.bytes.x }
}

/// Reads single values of the objects of one table at a time. Each `move` looks up the page of the object's group once, and all reads until
/// the next `move` use it.
///
/// Each field must belong to the table of the current object. Each place must belong to the graph of the cursor.
package struct RowCursor {
    private var rows: Rows
    private var group: GroupPage
    private var row: UInt32
    package private(set) var place: ObjectPlace
    /// Keeps the pages of the graph alive.
    private let version: Version

    /// Creates a cursor that is at no object yet. The caller must call `move` before it reads.
    package init(_ graph: Graph) {
        version = graph.version
        place = ObjectPlace(unplaced: 0)
        rows = Rows(chunks: graph.reader.chunks, groups: .empty)
        row = 0
        group = GroupPage(graph.reader.directoryPage.page)
    }

    /// Moves to another object of the graph.
    ///
    /// - Parameter fields: The fields that the caller will read. If the object does not lie in the group of rows of the previous object,
    ///   the cursor prefetches all these fields together.
    package mutating func move(to place: ObjectPlace, reading fields: [CursorField]) {
        if place.table != self.place.table { rows = version.reader.rows(Int(place.table)) }
        self.place = place
        row = place.row
        let before = group
        group = rows.group(row)
        if group != before { prefetch(fields) }
    }

    private func prefetch(_ fields: [CursorField]) {
        for field in fields {
            let leaf = leaf(field)
            if field.isText {
                cmachine_prefetch(StringLeaf(leaf).cells + Int(row & PageLayout.rowMask))
            } else {
                FixedLeaf(leaf).prefetch(row, width: Int(field.width))
            }
        }
    }

    @inline(__always) private func leaf(_ field: CursorField) -> UnsafeMutableRawPointer { rows.leaf(group, Int(field.slot)) }

    package func isNull(_ field: CursorField) -> Bool {
        let leaf = leaf(field)
        return field.isText ? StringLeaf(leaf).cell(row) == 0 : !FixedLeaf(leaf).isPresent(row)
    }

    @inline(__always) private func fixed<T: BitwiseCopyable>(_ field: CursorField, as type: T.Type) -> T? {
        let leaf = leaf(field)
        guard FixedLeaf(leaf).isPresent(row) else { return nil }
        return FixedLeaf(leaf).value(row, as: T.self)
    }

    /// Returns a whole number, or `nil` if the value is null or the attribute has another type.
    package func int(_ field: CursorField) -> Int64? {
        switch field.type {
        case .int64: fixed(field, as: Int64.self)
        case .int32: fixed(field, as: Int32.self).map(Int64.init)
        case .int16: fixed(field, as: Int16.self).map(Int64.init)
        default: nil
        }
    }

    /// Returns true or false, or `nil` if the value is null or the attribute has another type.
    package func bool(_ field: CursorField) -> Bool? { field.type == .bool ? fixed(field, as: UInt8.self).map { $0 != 0 } : nil }

    /// Returns a number, or `nil` if the value is null or the attribute is not a `double`.
    package func double(_ field: CursorField) -> Double? { field.type == .double ? fixed(field, as: Double.self) : nil }

    /// Returns a text, or `nil` if the value is null or the attribute is not a `string`, a `uri` or a `json`.
    package func string(_ field: CursorField) -> String? {
        guard field.isText, field.type != .data, field.type != .decimal else { return nil }
        let leaf = leaf(field)
        let cell = StringLeaf(leaf).cell(row)
        if cell == 0 { return nil }
        if !StringLeaf.isBlob(cell) { return String(decoding: StringLeaf(leaf).inlineBytes(cell), as: UTF8.self) }
        return Blob.bytes(StringLeaf(leaf).blob(cell).page, version.space.chunks).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the value of an attribute of any type.
    package func value(_ attribute: Attribute, in graph: Graph) -> Value { graph.value(of: graph.field(attribute), at: place) }
}
