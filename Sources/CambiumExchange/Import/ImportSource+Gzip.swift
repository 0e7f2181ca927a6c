internal import CambiumBytes
import CambiumModel

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
