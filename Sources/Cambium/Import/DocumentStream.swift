import CambiumModel

/// The documents of several sources, one after the other.
struct DocumentStream {
    private let sources: [ImportSource]
    private let columns: CSVColumns
    private var next = 0
    private var splitter: DocumentSplitter?
    private var records: CSVDocuments?
    /// Counted from 1 within its source.
    private(set) var row = 0
    /// The place of that source.
    var sourceNumber: Int { next - 1 }

    /// - Parameter columns: what the columns of CSV files are looked up in.
    init(_ sources: [ImportSource], columns: CSVColumns) {
        self.sources = sources
        self.columns = columns
    }

    /// The bytes that the last document lies in.
    func withWindow<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result? {
        if let records { return try records.withDocument(body) }
        return try splitter?.withWindow(body)
    }

    /// The next document; nil behind the last one of the last source.
    mutating func nextDocument() throws -> DocumentSplitter.Document? {
        while true {
            if let document = try splitter?.next() ?? records?.next() {
                row += 1
                return document
            }
            guard next < sources.count else { return nil }
            row = 0
            next += 1
            try begin(sources[next - 1])
        }
    }

    private mutating func begin(_ source: ImportSource) throws {
        (splitter, records) = (nil, nil)
        let reader = try source.open()
        switch source.format {
        case .json: splitter = DocumentSplitter(file: source.name, read: reader)
        case .csv: records = CSVDocuments(file: source.name, columns: columns, read: reader)
        }
    }
}
