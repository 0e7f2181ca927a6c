internal import CambiumJSON
import CambiumModel

/// Reads a single row again if the import's own reader assumed a wrong entity for one of its objects.
final class RowRereader {
    private let make: () throws -> RowReader
    private var reader: RowReader?
    private let parser = JSONParser()

    /// - Parameter make: creates a second reader, because the import's dedicated thread may be using the first one.
    init(_ make: @escaping () throws -> RowReader) { self.make = make }

    /// Returns a batch that contains only the objects of one row. The first object is the row's own object.
    ///
    /// - Parameters:
    ///   - document: the bytes of the row.
    ///   - readAs: the real entities of objects, by token.
    ///   - isRecord: whether the row is a CSV record.
    func read(_ document: ArraySlice<UInt8>, _ readAs: [Int: EntityNumber], isRecord: Bool) throws -> RowBatch {
        var reader = try reader ?? make()
        reader.row(isRecord: isRecord)
        reader.batch.removeAll()
        reader.readAs = readAs
        // The parser may read a few bytes beyond the end of the document.
        let padded = document + [UInt8](repeating: 0, count: ByteWindow.padding)
        try padded.withUnsafeBytes { bytes in
            let tokens: JSONTokens
            do throws(JSONError) {
                tokens = try parser.parse(UnsafeRawBufferPointer(rebasing: bytes[..<document.count]))
            } catch { throw RowFailure(error) }
            var row = RowBatch.Row()
            reader.read(tokens, &row)
        }
        self.reader = reader
        return reader.batch
    }
}
