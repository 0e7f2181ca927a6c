internal import CambiumJSON
import CambiumModel

/// Reads single rows again if the reader assumed wrong entities for some of their objects.
final class RowRereader {
    private let make: () throws -> RowReader
    private var reader: RowReader?
    private let parser = JSONParser()

    /// - Parameter make: creates a separate reader, because the import's dedicated thread may be using its own reader.
    init(_ make: @escaping () throws -> RowReader) { self.make = make }

    /// Returns a batch with only the objects of the row, the row's own object first.
    ///
    /// - Parameter readAs: the entities of objects, by token.
    /// - Parameter isRecord: whether the row is a record of CSV.
    func read(_ document: ArraySlice<UInt8>, _ readAs: [Int: EntityNumber], isRecord: Bool) throws -> RowBatch {
        var reader = try reader ?? make()
        reader.row(isRecord: isRecord)
        reader.batch.removeAll()
        reader.readAs = readAs
        // The parser reads a few bytes beyond the end.
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
