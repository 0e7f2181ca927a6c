/// A stream of bytes that an import reads. Most sources can be read again from the beginning.
///
/// ```swift
/// let rows = ImportSource.bytes(Array(#"[{"id": 1, "title": "Paris"}]"#.utf8))
/// try store.importRows(Note.self, from: rows, .file("more.csv"))
/// ```
public struct ImportSource: Sendable {
    /// Fills a buffer with the next bytes and returns their number; 0 at the end.
    package typealias Reader = (UnsafeMutableRawBufferPointer) throws -> Int

    /// The format of the bytes.
    public enum Format: String, Sendable, CaseIterable {
        /// One array of rows, or a sequence of rows.
        case json
        /// A record with the names of the columns, then a record for each row.
        case csv
    }

    /// The name of the source in errors.
    package let name: String
    /// Whether the source can be read from its beginning more than once.
    package let isRepeatable: Bool
    /// Whether a read may wait for the writer of a pipe. If so, rows are read only when they are needed.
    package var mayWait: Bool
    /// The format of the bytes.
    public var format: Format
    /// Opens the source at its beginning, and returns its reader.
    package let open: @Sendable () throws -> Reader

    /// Creates a source from functions of the program. The functions run on a thread of the import.
    ///
    /// - Parameters:
    ///   - name: The name of the source in errors.
    ///   - isRepeatable: Whether the source can be read from its beginning more than once.
    ///   - format: The format of the bytes.
    ///   - open: Opens the source at its beginning. Returns a reader, which fills a buffer with the next bytes and returns their number,
    ///     or 0 at the end.
    package init(
        name: String, isRepeatable: Bool, format: Format = .json,
        open: @escaping @Sendable () throws -> (UnsafeMutableRawBufferPointer) throws -> Int
    ) {
        self.name = name
        self.isRepeatable = isRepeatable
        mayWait = !isRepeatable
        self.format = format
        self.open = open
    }

    /// Returns bytes in memory as a source, which can be read any number of times. Complexity: O(1).
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

    /// Returns this source with the format that its name indicates.
    package func asNamed() -> ImportSource {
        let name = self.name.lowercased()
        let isCompressed = name.hasSuffix(".gz")
        var source = isCompressed ? inflated() : self
        if (isCompressed ? name.dropLast(3) : name[...]).hasSuffix(".csv") { source.format = .csv }
        return source
    }
}
