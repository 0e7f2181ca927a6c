import CambiumJSON
import CambiumModel

/// Reads single rows once more, because objects of them are of other entities than they were read as.
final class RowRereader {
    private let make: () throws -> RowReader
    private var reader: RowReader?
    private let parser = JSONParser()

    /// - Parameter make: makes a reader, which the import's own thread may be using another one of.
    init(_ make: @escaping () throws -> RowReader) { self.make = make }

    /// A batch that has the objects of the row only, the row's own first.
    ///
    /// - Parameter readAs: the entities of objects, by their tokens.
    /// - Parameter isRecord: whether the row is a record of CSV.
    func read(_ document: ArraySlice<UInt8>, _ readAs: [Int: EntityNumber], isRecord: Bool) throws -> RowBatch {
        var reader = try reader ?? make()
        reader.row(isRecord: isRecord)
        reader.batch.removeAll()
        reader.readAs = readAs
        // The parser reads somewhat beyond the end.
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
