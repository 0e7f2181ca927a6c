import CambiumJSON

/// Buffers rows and puts them out, as JSON Lines or as one array with one row per line.
struct RowOutput {
    /// The number of bytes that is exceeded before bytes are put out.
    static let byteCount = 1 << 16

    private let format: ExportOptions.Format
    private var writer = JSONWriter()
    private var isFirst = true

    init(_ format: ExportOptions.Format) {
        self.format = format
        if format == .array { writer.beginArray() }
    }

    mutating func add(to put: ([UInt8]) throws -> Void, _ write: (inout JSONWriter) throws -> Void) throws {
        if format == .array, !isFirst { writer.separateLine() }
        try write(&writer)
        if format == .lines { writer.endLine() }
        isFirst = false
        if writer.bytes.count > Self.byteCount {
            try put(writer.bytes)
            writer.forgetBytes()
        }
    }

    mutating func end(to put: ([UInt8]) throws -> Void) throws {
        if format == .array {
            writer.endArray()
            writer.endLine()
        }
        try put(writer.bytes)
    }
}
