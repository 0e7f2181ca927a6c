import CambiumGraph
internal import CambiumJSON
import CambiumModel

/// Reads the sources of an import as batches of rows.
final class RowSource {
    /// A batch ends when it has this number of rows, or at least this number of failures.
    static let rowCountMax = 512
    /// A batch ends after the row with which it reaches this number of bytes.
    static let byteCountMax = 256 << 10
    /// A batch ends after the row with which it reaches this number of values.
    static let valueCountMax = 8192

    // Only one thread at a time calls `read`, and no access to these properties calls code that uses them. So accesses never overlap.
    @exclusivity(unchecked) private var documents: DocumentStream
    @exclusivity(unchecked) private var reader: RowReader
    private let parser = JSONParser()
    private let preparedParser = JSONParser()
    private let pace: RowPace
    private let transactionRowCount: Int
    private let refused: Set<Int>
    /// The number of the last row that was read, counted across all sources.
    @exclusivity(unchecked) private var row: Int
    private var skippedCount: Int

    /// - Parameter firstRow: the number of rows that are skipped at the beginning.
    /// - Parameter refused: the rows to omit, counted from 1 across all sources.
    init(_ documents: DocumentStream, _ reader: RowReader, firstRow: Int, refused: some Sequence<Int>, _ pace: RowPace) {
        self.documents = documents
        self.reader = reader
        self.pace = pace
        self.refused = Set(refused)
        transactionRowCount = reader.options.batchRowCount
        row = firstRow
        skippedCount = firstRow
    }

    /// Fills an empty batch with rows of one transaction. For a row that cannot be read, the batch contains the reason.
    func read(into batch: inout RowBatch) {
        let end: RowBatch.End
        swap(&reader.batch, &batch)
        do {
            end = try readRows() ? .more : .nothing
        } catch {
            end = .failed(error)
        }
        swap(&reader.batch, &batch)
        batch.end = end
    }

    /// Reads the rows of one batch. Returns `false` at the end of the last source.
    private func readRows() throws -> Bool {
        while skippedCount > 0, try documents.next({ _, _ in }) { skippedCount -= 1 }
        let rowCountMax = pace.isSingle ? 1 : Self.rowCountMax
        repeat {
            guard try documents.next({ read($0, $1) }) else { return false }
            reader.batch.rows[reader.batch.rows.count - 1].source = Int32(documents.sourceNumber)
            reader.batch.rows[reader.batch.rows.count - 1].number = documents.row
        } while row % transactionRowCount != 0 && reader.batch.rows.count < rowCountMax && reader.batch.bytes.count < Self.byteCountMax
            && reader.batch.values.count < Self.valueCountMax && reader.batch.failures.count < Self.rowCountMax
        return true
    }

    private func read(_ document: DocumentSplitter.Document, _ bytes: UnsafeRawBufferPointer) {
        row += 1
        var row = RowBatch.Row(line: document.line)
        if refused.contains(self.row) {
            // An earlier run of the transaction refused the row. The refused row stays in the batch as an empty row, so that the numbers of
            // the other rows do not change.
        } else if let failure = document.failure {
            row.failure = reader.batch.track(failure)
        } else {
            reader.row(isRecord: document.isRecord)
            read(bytes, from: document.column, &row)
            if row.failure >= 0, Self.mayBeCSV(document, bytes) {
                let failure = Self.csv(reader.batch.failures[Int(row.failure)])
                row.failure = reader.batch.track(failure)
            }
        }
        reader.batch.rows.append(row)
    }

    /// Returns whether a document that is not an object may be the names of columns: it is the first one, and begins without a bracket.
    private static func mayBeCSV(_ document: DocumentSplitter.Document, _ bytes: UnsafeRawBufferPointer) -> Bool {
        document.isFirst && bytes.first != UInt8(ascii: "{") && bytes.first != UInt8(ascii: "[")
    }

    /// Returns the failure of a document, with the ways to import CSV added to its message.
    private static func csv(_ failure: RowFailure) -> RowFailure {
        let remedy = "To import CSV, use a file name that ends in .csv, or --format csv, or the format .csv in Swift"
        return RowFailure(code: failure.code, pointer: failure.pointer, message: "\(failure.message). \(remedy)")
    }

    private func read(_ bytes: UnsafeRawBufferPointer, from column: Int, _ row: inout RowBatch.Row) {
        guard let tokens = tokens(of: bytes, from: column, parser, &row) else { return }
        guard case .single(let prepare) = pace else { return read(bytes, tokens, &row) }
        var value = JSONValue(tokens, 0)
        if let prepare {
            do throws(RowFailure) {
                try RowFailure.ofHook { try prepare(&value) }
            } catch {
                row.failure = reader.batch.track(error)
                return
            }
            Array(value.text.utf8).withUnsafeBytes { bytes in
                if let tokens = self.tokens(of: bytes, from: 1, preparedParser, &row) { read(bytes, tokens, &row) }
            }
        } else {
            read(bytes, tokens, &row)
        }
        reader.batch.value = value
    }

    /// - Parameter column: the column at which the bytes begin.
    private func tokens(
        of bytes: UnsafeRawBufferPointer, from column: Int, _ parser: JSONParser, _ row: inout RowBatch.Row
    ) -> JSONTokens? {
        do throws(JSONError) {
            return try parser.parse(bytes)
        } catch {
            row.failure = reader.batch.track(RowFailure(error, from: column))
            row.line += error.line - 1
            return nil
        }
    }

    private func read(_ bytes: UnsafeRawBufferPointer, _ tokens: JSONTokens, _ row: inout RowBatch.Row) {
        reader.read(tokens, &row)
        guard reader.isUncertain else { return }
        let start = reader.batch.bytes.count
        guard start + bytes.count <= Int(UInt32.max) else {
            let message = "the rows of one batch take more than 4 GiB; use smaller batches"
            row.failure = reader.batch.track(RowFailure(code: .tooLarge, pointer: "", message: message))
            return
        }
        reader.batch.bytes.append(contentsOf: bytes)
        row.document = .init(start..<reader.batch.bytes.count)
    }
}

extension RowFailure {
    /// - Parameter start: The column at which the text of the row begins.
    init(_ error: JSONError, from start: Int = 1) {
        let column = error.line == 1 ? start - 1 + error.column : error.column
        self.init(code: .malformed, pointer: "", message: "malformed JSON: \(error.message), at column \(column)")
    }
}
