internal import CambiumJSON

/// Buffers rows as JSON Lines, or as one array with one row on each line.
struct RowOutput {
    /// The number of bytes above which a buffer is full. The caller should then call `put(to:)`.
    static let byteCount = 1 << 16

    private let format: ExportOptions.Format
    private var writer = JSONWriter()
    private var isFirst: Bool

    /// - Parameter isFirst: whether the first row of the export is written to this buffer.
    init(_ format: ExportOptions.Format, isFirst: Bool = true) {
        self.format = format
        self.isFirst = isFirst
        guard format == .array else { return }
        writer.beginArray()
        if isFirst { return }
        // An earlier buffer contains the beginning of the array. Ending an empty array, and dropping its bytes, puts this writer into the
        // state that follows a row.
        writer.endArray()
        writer.forgetBytes()
    }

    var isFull: Bool { writer.bytes.count > Self.byteCount }

    /// Whether the buffer is so large that the caller must call `put(to:)` before it adds more rows.
    var isLarge: Bool { writer.bytes.count > 4 * Self.byteCount }

    mutating func add(_ write: (inout JSONWriter) throws -> Void) rethrows {
        if format == .array, !isFirst { writer.separateLine() }
        try write(&writer)
        if format == .lines { writer.endLine() }
        isFirst = false
    }

    mutating func put(to put: ([UInt8]) throws -> Void) throws {
        if !writer.bytes.isEmpty { try put(writer.bytes) }
        writer.forgetBytes()
    }

    mutating func end(to put: ([UInt8]) throws -> Void) throws {
        if format == .array {
            writer.endArray()
            writer.endLine()
        }
        try self.put(to: put)
    }
}
