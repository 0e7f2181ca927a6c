public import CambiumExchange
internal import CambiumLog

extension ImportSource {
    /// Returns a file as a source. The name determines the format: `.csv` for CSV, any other name for JSON, and `.gz` at the end for gzip.
    /// A missing file is reported when the import begins. Complexity: O(1).
    public static func file(_ path: String) -> ImportSource { bytes(ofFile: path).asNamed() }

    /// The maximum number of bytes that one read of a file returns. It is so small that the bytes are still in the processor's cache when
    /// the import divides them into rows.
    private static let pieceByteCount = 256 << 10

    /// Returns the bytes of a file without decompressing them, even if the name ends in `.gz`. A FIFO can be read only once.
    package static func bytes(ofFile path: String) -> ImportSource {
        ImportSource(name: path, isRepeatable: InputFile.isRepeatable(path)) {
            let file = try InputFile(path)
            return { buffer in
                try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(pieceByteCount)))
            }
        }
    }
}
