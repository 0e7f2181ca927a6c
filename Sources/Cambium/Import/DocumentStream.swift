import CambiumModel

/// The documents of several sources, one after the other.
struct DocumentStream {
    private let sources: [ImportSource]
    private var next = 0
    private var splitter: DocumentSplitter?
    /// Counted from 1 within its source.
    private(set) var row = 0
    private(set) var sourceName = ""

    init(_ sources: [ImportSource]) { self.sources = sources }

    /// The bytes that the last document lies in.
    func withWindow<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result? {
        try splitter?.withWindow(body)
    }

    /// The next document; nil behind the last one of the last source.
    mutating func nextDocument() throws -> DocumentSplitter.Document? {
        while true {
            if let document = try splitter?.next() {
                row += 1
                return document
            }
            guard next < sources.count else { return nil }
            row = 0
            sourceName = sources[next].name
            splitter = DocumentSplitter(file: sourceName, read: try sources[next].open())
            next += 1
        }
    }
}
