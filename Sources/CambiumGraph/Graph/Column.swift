public import CambiumModel

/// The addresses of the leaves of one column. A leaf is the page with the column's values for a group of 128 rows. Code that has these
/// addresses reads a cell with two loads.
///
/// The methods that read are inlinable, so that programs compile them into their loops. A read in such a loop needs no call, and the
/// processor can overlap several reads.
@usableFromInline struct LeafDirectory {
    @usableFromInline let leaves: [UnsafeMutableRawPointer]
    private let chunks: Chunks

    /// Creates an empty list of addresses, for a column that the graph does not have.
    init(emptyOf reader: Reader) { (leaves, chunks) = ([], reader.chunks) }

    /// Creates the list of the addresses of a column's leaves. Complexity: O(rows / 128).
    init(_ reader: Reader, _ table: Int, _ slot: Int, _ kind: ColumnKind, _ constants: ConstantPages) {
        chunks = reader.chunks
        let rows = reader.rows(table)
        let empty = reader.chunks[kind.emptyLeaf(constants)]
        leaves = (0..<reader.groupCount(table)).map { index in rows.group(at: index).map { rows.leaf($0, slot) } ?? empty }
    }

    /// An upper bound of the number of rows.
    @inlinable var rowCountEnd: Int { leaves.count << PageLayout.fanOutShift }

    /// Returns the leaf (the page with the column's values) of a row. Ends the process if the row belongs to another graph and lies beyond
    /// the groups of this graph.
    @inlinable @inline(__always) func leaf(_ row: UInt32) -> UnsafeMutableRawPointer {
        let group = Int(row &>> PageLayout.rowShift)
        if group >= leaves.count { refuse() }
        return leaves[group]
    }

    @usableFromInline @inline(never) func refuse() -> Never { chunks.refuse("a link leads to a row that does not exist") }

    /// Returns the row that a link column contains at `row`.
    @inlinable @inline(__always) func link(_ row: UInt32) -> UInt32 {
        LinkLeaf(leaf(row))[row]
    }

    /// Returns a value of a column of fixed width, read as `T`, which must have that width. Returns `nil` if the value is null.
    @inlinable @inline(__always) func fixed<T: BitwiseCopyable>(_ row: UInt32, as type: T.Type) -> T? {
        let leaf = FixedLeaf(leaf(row))
        return leaf.isPresent(row) ? leaf.value(row, as: type) : nil
    }
}

/// An attribute of one graph. The column of its values is already looked up, so a loop over many objects need not look it up for each
/// object.
///
/// The value is null if the object's entity does not have the attribute.
///
/// ```swift
/// let title = graph.column(try note.requiredAttribute("title"))
/// for place in graph.places(of: note) { print(title.string(at: place) ?? "") }
/// ```
public struct Column {
    @usableFromInline let directory: LeafDirectory
    /// The table of the objects that have the attribute. For any other object the value is null.
    private let table: UInt32
    /// `bytesTable` equals `table` if the values are stored as bytes of any length. `int64Table` and `doubleTable` equal `table` if the
    /// attribute has the type `int64` or `double`. Otherwise, they are `ObjectPlace.noTable`. So one comparison with the table of an object
    /// checks both the table and the type.
    @usableFromInline let bytesTable, int64Table, doubleTable: UInt32
    package let type: AttributeType
    private let source: Source

    /// The parts that only slow reads use. They are in a separate object, which keeps a column small. A loop that captures a column may
    /// copy the column for each object.
    private final class Source {
        let field: Field
        /// Keeps alive the pages to which the addresses in `directory` point.
        let version: Version

        init(_ field: Field, _ version: Version) { (self.field, self.version) = (field, version) }
    }

    init(_ field: Field, _ version: Version) {
        directory =
            field.table < 0
            ? LeafDirectory(emptyOf: version.reader)
            : LeafDirectory(version.reader, field.table, field.slot, field.kind, version.space.constants)
        let table = UInt32(truncatingIfNeeded: field.table)
        self.table = table
        bytesTable = field.kind == .string ? table : ObjectPlace.noTable
        int64Table = field.type == .int64 ? table : ObjectPlace.noTable
        doubleTable = field.type == .double ? table : ObjectPlace.noTable
        type = field.type
        source = Source(field, version)
    }

    /// Returns a whole number, or `nil` if the value is null or the attribute has another type. Complexity: O(1).
    @inlinable public func int(at place: ObjectPlace) -> Int64? {
        int64Table == place.table ? directory.fixed(place.row, as: Int64.self) : shorterInt(at: place)
    }

    @usableFromInline @inline(never) func shorterInt(at place: ObjectPlace) -> Int64? {
        guard table == place.table else { return nil }
        return switch type {
        case .int16: directory.fixed(place.row, as: Int16.self).map(Int64.init)
        case .int32: directory.fixed(place.row, as: Int32.self).map(Int64.init)
        default: nil
        }
    }

    /// Returns true or false, or `nil` if the value is null or the attribute has another type. Complexity: O(1).
    public func bool(at place: ObjectPlace) -> Bool? {
        type == .bool && table == place.table ? directory.fixed(place.row, as: UInt8.self).map { $0 != 0 } : nil
    }

    /// Returns a number of type `double`, or `nil` if the value is null or the attribute has another type. Complexity: O(1).
    @inlinable public func double(at place: ObjectPlace) -> Double? {
        doubleTable == place.table ? directory.fixed(place.row, as: Double.self) : nil
    }

    /// Returns the text of a string, URI or JSON, or `nil` if the value is null or the attribute has another type. Complexity: O(bytes of
    /// the text).
    public func string(at place: ObjectPlace) -> String? {
        guard type == .string || type == .uri || type == .json else { return nil }
        return withBytes(at: place) { $0.map { String(decoding: $0, as: UTF8.self) } }
    }

    /// Calls `body` with the bytes of a string, URI, JSON text or data. Only values of more than 255 bytes are copied. Calls `body` with
    /// `nil` if the value is null or the attribute has another type. The buffer is valid only until `body` returns. Complexity: O(1), or
    /// O(bytes) for a value of more than 255 bytes.
    @inlinable package func withBytes<Result>(at place: ObjectPlace, _ body: (UnsafeRawBufferPointer?) -> Result) -> Result {
        var bytes: UnsafeRawBufferPointer?
        if bytesTable == place.table {
            let leaf = directory.leaf(place.row)
            let cell = StringLeaf(leaf).cell(place.row)
            if StringLeaf.isBlob(cell) { return longBytes(leaf, cell).withUnsafeBytes { body($0) } }
            if cell != 0 { bytes = StringLeaf(leaf).inlineBytes(cell) }
        }
        return body(bytes)
    }

    /// Returns a copy of a value of more than 255 bytes.
    @usableFromInline @inline(never) func longBytes(_ leaf: UnsafeMutableRawPointer, _ cell: UInt32) -> [UInt8] {
        Blob.bytes(StringLeaf(leaf).blob(cell).page, source.version.space.chunks)
    }

    /// Returns the value of an attribute of any type. Complexity: O(bytes of the value).
    public func value(at place: ObjectPlace) -> Value { source.version.reader.value(of: source.field, at: place) }
}

extension Graph {
    /// Looks up the column of an attribute, so that a loop over many objects need not look it up for each object. Complexity: O(objects of
    /// the hierarchy / 128).
    public func column(_ attribute: Attribute) -> Column { Column(field(attribute), version) }
}
