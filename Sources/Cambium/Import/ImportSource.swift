internal import CambiumLog

/// Where an import reads from: a stream of bytes that can be begun, and mostly begun again.
public struct ImportSource: Sendable {
    /// Fills a buffer from where it is and returns how many bytes it got; 0 at the end.
    public typealias Reader = (UnsafeMutableRawBufferPointer) throws -> Int

    /// What the bytes are.
    public enum Format: String, Sendable, CaseIterable {
        /// One array of rows, or one row after the other.
        case json
        /// A row a record, behind one with the names of the columns.
        case csv
    }

    /// What errors call it.
    public let name: String
    /// Whether it can be read from its beginning more than once.
    public let isRepeatable: Bool
    public var format: Format
    /// Begins to read at the beginning.
    public let open: @Sendable () throws -> Reader

    /// - Parameter open: begins to read at the beginning.
    public init(name: String, isRepeatable: Bool, format: Format = .json, open: @escaping @Sendable () throws -> Reader) {
        self.name = name
        self.isRepeatable = isRepeatable
        self.format = format
        self.open = open
    }

    /// A file, read as its name says: `.csv` is CSV, everything else JSON, and `.gz` behind that is compressed. That it is not
    /// there is told when the import begins.
    public static func file(_ path: String) -> ImportSource { bytes(ofFile: path).asNamed() }

    /// What is read of a file at once: it is still in the cache when its rows are cut out.
    private static let pieceByteCount = 256 << 10

    /// The bytes of a file as they are, whatever its name. A FIFO can be read once only.
    public static func bytes(ofFile path: String) -> ImportSource {
        ImportSource(name: path, isRepeatable: InputFile.isRepeatable(path)) {
            let file = try InputFile(path)
            return { buffer in
                try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(pieceByteCount)))
            }
        }
    }

    /// Bytes in memory.
    public static func bytes(_ bytes: [UInt8], name: String = "input", format: Format = .json) -> ImportSource {
        ImportSource(name: name, isRepeatable: true, format: format) {
            var offset = 0
            return { buffer in
                let end = min(offset + buffer.count, bytes.count)
                buffer.copyBytes(from: bytes[offset..<end])
                defer { offset = end }
                return end - offset
            }
        }
    }

    /// The same source, read as its name says.
    public func asNamed() -> ImportSource {
        let name = self.name.lowercased()
        let isCompressed = name.hasSuffix(".gz")
        var source = isCompressed ? inflated() : self
        if (isCompressed ? name.dropLast(3) : name[...]).hasSuffix(".csv") { source.format = .csv }
        return source
    }
}
