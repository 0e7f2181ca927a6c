internal import CambiumJSON
import CambiumModel

/// Creates a JSON document from each record of a CSV file. The first record contains the names of the columns. Empty lines are skipped.
///
/// Only one part of the file and one record are in memory at a time. So the memory is limited, even if the file is long.
struct CSVDocuments {
    private var window: ByteWindow
    private var scan = CSVRecordScan()
    private var columns: CSVColumns
    private var writer = JSONWriter(escapes: .required)
    private var isBegun = false
    private let parser = JSONParser()

    /// - Parameter columns: resolves the names in the first record. Reading this record adds the names to the columns.
    init(file: String, columns: CSVColumns, read: @escaping (UnsafeMutableRawBufferPointer) throws -> Int) {
        window = ByteWindow(file: file, read: read)
        self.columns = columns
    }

    /// Returns the next record; `nil` at the end. If the record is invalid, its `failure` gives the reason.
    ///
    /// Throws `.invalidInput` for column names that are malformed, empty, repeated or not separated by commas, and `.limitExceeded` for a
    /// record of more than 64 MiB. Rethrows the errors of the source.
    mutating func next() throws -> DocumentSplitter.Document? {
        if !isBegun {
            isBegun = true
            guard try readNames() else { return nil }
        }
        guard let end = try record() else { return nil }
        writer.removeAll()
        let failure = document(end)
        let line = window.line
        window.advance(to: end)
        return DocumentSplitter.Document(start: 0, end: writer.bytes.count, line: line, failure: failure, isRecord: true)
    }

    /// Calls `body` with the bytes of the last document.
    mutating func withDocument(_ body: (UnsafeRawBufferPointer) -> Void) { writer.bytes.withUnsafeBytes(body) }

    // MARK: Records

    /// Skips empty lines, finds the next record, and returns its end.
    private mutating func record() throws -> Int? {
        while true {
            scan.removeAll()
            guard let end = try end() else { return nil }
            guard let field = scan.fields.first, scan.fields.count == 1, field.isEmpty, !field.isQuoted else { return end }
            window.advance(to: end)
        }
    }

    private mutating func end() throws -> Int? {
        var isLast = false
        while true {
            if isLast, window.position == window.filled { return nil }
            let (position, filled) = (window.position, window.filled)
            let end = window.withBytes { scan.end(in: UnsafeRawBufferPointer(rebasing: $0[position..<filled]), isLast: isLast) }
            if let end { return position + end }
            isLast = try !window.refill()
        }
    }

    private func withRecord<Result, Failure: Error>(
        _ end: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try window.withBytes { bytes throws(Failure) in try body(UnsafeRawBufferPointer(rebasing: bytes[window.position..<end])) }
    }

    /// Returns the number of line ends in the record before an offset.
    private func lines(before offset: Int) -> Int { window.lineCount(window.position..<window.position + offset) }

    private func column(of offset: Int) -> Int {
        withRecord(window.position + offset) { bytes in
            offset - (bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0) + 1
        }
    }

    // MARK: Documents

    /// Writes the record as JSON. Returns a failure if the record is not valid.
    private mutating func document(_ end: Int) -> RowFailure? {
        func failure(at offset: Int, _ message: String, pointer: String = "") -> RowFailure {
            let line = lines(before: offset)
            let place = (line == 0 ? "" : "line \(window.line + line), ") + "column \(column(of: offset))"
            let code = pointer.isEmpty ? ImportReport.RowError.Code.malformed : .typeMismatch
            return RowFailure(code: code, pointer: pointer, message: "\(message), at \(place)")
        }
        if let flaw = scan.flaw { return failure(at: flaw.offset, "malformed CSV: \(flaw.message)") }
        let (count, wanted) = (scan.fields.count, columns.names.count)
        if count != wanted {
            let place = count > wanted ? scan.fields[wanted].start : scan.fields[count - 1].end
            let message = "malformed CSV: the number of fields is \(count), but the number of columns in the first record is \(wanted)"
            return failure(at: place, message)
        }
        if let offset = window.illFormedOffset(window.position..<end) {
            return failure(at: offset - window.position, "malformed CSV: the text has bytes that are not UTF-8")
        }
        var written = JSONWriter(escapes: .required)
        swap(&written, &writer)
        defer { swap(&written, &writer) }
        do throws(CSVRecord.Refusal) {
            try withRecord(end) { bytes throws(CSVRecord.Refusal) in
                try CSVRecord(bytes: bytes, fields: scan.fields, columns: columns, parser: parser).write(to: &written)
            }
            return nil
        } catch {
            let name = columns.names[error.field]
            let message = "'\(name)': \(error.message)"
            return failure(at: scan.fields[error.field].start, message, pointer: "/" + JSONPointer.escaped(name))
        }
    }

    // MARK: Names

    /// Reads the first record that is not blank. Returns `false` if the file has no such record.
    private mutating func readNames() throws -> Bool {
        try window.skipByteOrderMark()
        guard let end = try firstRecord() else { return false }
        if let flaw = scan.flaw { throw malformed("\(flaw.message)", at: flaw.offset) }
        if let offset = window.illFormedOffset(window.position..<end) {
            throw malformed("the text has bytes that are not UTF-8", at: offset - window.position)
        }
        for field in scan.fields {
            let bytes = withRecord(end) { Array($0[field.start..<field.end]) }
            let text = field.isDoubled ? Array(ByteText.split(bytes, Array("\"\"".utf8)).joined(separator: [UInt8(ascii: "\"")])) : bytes
            let name = CanonicalText.ordered(String(decoding: text, as: UTF8.self))
            if name.isEmpty { throw malformed("a column has no name. Name each column in the first record", at: field.start) }
            guard columns.append(name) else { throw malformed(conflict(name), at: field.start) }
        }
        if columns.hasOtherSeparators {
            let message = "the only column has the name '\(columns.names[0])'. Separate the columns and fields with commas"
            throw malformed(message, at: 0)
        }
        window.advance(to: end)
        return true
    }

    /// Returns the message for a column that cannot be combined with an earlier column. The last of `columns.names` is the column's name.
    private func conflict(_ name: String) -> String {
        if columns.names.dropLast().contains(where: { $0 == name }) {
            return "two columns have the name '\(name)'. Rename one of them"
        }
        return "the column '\(name)' and an earlier one exclude each other. One is the whole value of a relationship, and the other is a "
            + "property of the object at its end. Remove one of them"
    }

    private mutating func firstRecord() throws -> Int? {
        while let end = try record() {
            let isBlank = withRecord(end) { $0.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D } }
            if !isBlank || scan.flaw != nil { return end }
            window.advance(to: end)
        }
        return nil
    }

    private func malformed(_ message: String, at offset: Int) -> CambiumError {
        let place = CambiumError.Place(file: window.file, line: window.line + lines(before: offset), column: column(of: offset))
        return CambiumError(.invalidInput, "Malformed CSV: \(message).", place: place)
    }
}
