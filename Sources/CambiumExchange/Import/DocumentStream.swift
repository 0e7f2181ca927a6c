import CambiumModel

/// The documents of several sources, in the order of the sources.
struct DocumentStream {
    private let sources: [ImportSource]
    private let columns: CSVColumns
    private let rows: RowPointer?
    private var next = 0
    private var splitter: DocumentSplitter?
    private var records: CSVDocuments?
    /// The number of the last document that `next(_:)` passed to its closure, counted from 1 in the source of the document.
    private(set) var row = 0
    /// The index of the source from which the last document came.
    var sourceNumber: Int { next - 1 }

    /// - Parameter columns: The object that resolves the column names in the first record of each CSV file.
    /// - Parameter rows: The place of the rows in each JSON document; `nil` if the documents are the rows.
    init(_ sources: [ImportSource], columns: CSVColumns, rows: RowPointer?) {
        self.sources = sources
        self.rows = rows
        self.columns = columns
    }

    /// Calls `body` with the next document and its bytes. Returns `false` after the last document of the last source.
    mutating func next(_ body: (DocumentSplitter.Document, UnsafeRawBufferPointer) -> Void) throws -> Bool {
        while true {
            if let document = try splitter?.next() {
                row += 1
                splitter?.withWindow { body(document, UnsafeRawBufferPointer(rebasing: $0[document.start..<document.end])) }
                return true
            }
            if let document = try records?.next() {
                row += 1
                records?.withDocument { body(document, $0) }
                return true
            }
            guard next < sources.count else { return false }
            row = 0
            next += 1
            try begin(sources[next - 1])
        }
    }

    private mutating func begin(_ source: ImportSource) throws {
        (splitter, records) = (nil, nil)
        let reader = try source.open()
        switch source.format {
        case .json: splitter = DocumentSplitter(file: source.name, rows: rows, read: reader)
        case .csv:
            if let rows, !rows.steps.isEmpty {
                let message = "The pointer '\(rows.text.excerpt)' to the rows is for JSON, but the file is CSV. Omit the pointer."
                throw CambiumError(.invalidInput, message, place: .init(file: source.name))
            }
            records = CSVDocuments(file: source.name, columns: columns, read: reader)
        }
    }
}
