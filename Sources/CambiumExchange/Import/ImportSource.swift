internal import CambiumBytes
import CambiumModel

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

extension ImportSource {
    /// Returns this source, decompressed from gzip while it is read. The decompressed size is not limited.
    ///
    /// Reading throws `.invalidInput` with the file's name if the bytes are corrupt or end too early.
    package func inflated() -> ImportSource {
        let (name, open) = (name, open)
        var source = ImportSource(name: name, isRepeatable: isRepeatable, format: format) {
            var stream = InflatedStream(file: name, read: try open())
            return { try stream.read(into: $0) }
        }
        source.mayWait = mayWait
        return source
    }
}

/// The content of a gzip file, as a stream.
struct InflatedStream {
    /// The number of compressed bytes that are read from the file at once.
    static let inputByteCount = 256 << 10

    private let file: String
    private let source: ImportSource.Reader
    private let inflater = GzipInflater()
    private var input: [UInt8]
    private var position = 0
    private var filled = 0
    private var isAtEnd = false

    init(file: String, read: @escaping ImportSource.Reader) {
        self.file = file
        source = read
        input = [UInt8](repeating: 0, count: Self.inputByteCount)
    }

    /// Fills a buffer and returns the number of bytes. Only at the end does it return fewer bytes than fit into the buffer.
    mutating func read(into output: UnsafeMutableRawBufferPointer) throws -> Int {
        var made = 0
        while made < output.count {
            if position == filled, !isAtEnd {
                filled = try input.withUnsafeMutableBytes(source)
                position = 0
                isAtEnd = filled == 0
            }
            let rest = UnsafeMutableRawBufferPointer(rebasing: output[made...])
            let step = try inflate(into: rest)
            position += step.used
            made += step.made
            if isAtEnd, step.made == 0 {
                guard inflater.isWhole else { throw failure("the file ends too early") }
                break
            }
        }
        return made
    }

    private func inflate(into output: UnsafeMutableRawBufferPointer) throws -> (used: Int, made: Int) {
        do {
            return try input.span.bytes.withUnsafeBytes { bytes throws(GzipInflater.Failure) in
                try inflater.inflate(UnsafeRawBufferPointer(rebasing: bytes[position..<filled]), into: output)
            }
        } catch {
            switch error {
            case .corrupted(let offset): throw failure("the file is corrupt at byte \(offset), or it is not a gzip file")
            case .memory:
                throw CambiumError(
                    .limitExceeded, "The process has too little memory to decompress the file. Decompress it before you import it.",
                    place: .init(file: file))
            }
        }
    }

    private func failure(_ what: String) -> CambiumError {
        CambiumError(.invalidInput, "The gzip file cannot be decompressed: \(what). Compress the data again.", place: .init(file: file))
    }
}
