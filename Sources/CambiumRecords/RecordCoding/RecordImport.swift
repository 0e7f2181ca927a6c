import CambiumExchange
internal import CambiumJSON

/// Imports the rows that a decoder decodes. The `userInfo` of the decoder contains the store and the options of the import.
struct RecordImport {
    private let store: Store
    private let options: ImportOptions
    private let hooks: ImportHooks
    private let author: Author
    private let codingPath: [any CodingKey]

    /// The rows in the input of a decoder: one object, or an array of rows.
    enum Rows {
        case single(JSONValue)
        case several([JSONValue])

        var all: [JSONValue] {
            switch self {
            case .single(let row): [row]
            case .several(let rows): rows
            }
        }
    }

    /// Throws `.misuse` if the `userInfo` has no store, or a value of the wrong type.
    init(_ decoder: any Decoder) throws(CambiumError) {
        guard let store: Store = try Self.value(.cambiumStore, decoder) else {
            throw CambiumError(
                .misuse, "The decoder has no store, so it cannot import records. Set decoder.userInfo[.cambiumStore] to a Store.")
        }
        self.store = store
        options = try Self.value(.cambiumImportOptions, decoder) ?? ImportOptions()
        hooks = try Self.value(.cambiumImportHooks, decoder) ?? ImportHooks()
        author = try Self.value(.cambiumAuthor, decoder) ?? Author()
        codingPath = decoder.codingPath
    }

    private static func value<V>(_ key: CodingUserInfoKey, _ decoder: any Decoder) throws(CambiumError) -> V? {
        guard let found = decoder.userInfo[key] else { return nil }
        guard let value = found as? V else {
            throw CambiumError(
                .misuse,
                "The decoder's userInfo has a value of type \(Swift.type(of: found)) for \(key.rawValue). Set a value of type \(V.self).")
        }
        return value
    }

    /// Imports the rows. An error in a row becomes a `DecodingError` whose path leads to the row.
    func records<Record: EntityRecord>(_ rows: Rows) throws -> ImportedRecords<Record> {
        var writer = JSONWriter(escapes: .required)
        // Writes even a single row into an array. Without the outer array, the import would mistake a row that is an array for the array of
        // all rows.
        writer.beginArray()
        for (index, row) in rows.all.enumerated() {
            if index > 0 { writer.separateLine() }
            writer.write(row)
        }
        writer.endArray()
        do {
            let source = ImportSource.bytes(writer.bytes, name: Self.sourceName)
            return try store.importRecords(Record.self, from: [source], options, hooks: hooks, author: author)
        } catch let error as CambiumError {
            throw decodingError(error, rows) ?? error
        }
    }

    private static let sourceName = "decoder"

    /// Returns `error` as a decoding error whose path leads to the value in its row, or `nil` if `error` does not concern a row.
    private func decodingError(_ error: CambiumError, _ rows: Rows) -> DecodingError? {
        // Each row was written on a separate line, so the number of the line is the number of the row.
        guard let place = error.place, place.file == Self.sourceName, let line = place.line, rows.all.indices.contains(line - 1) else {
            return nil
        }
        var path = codingPath
        if case .several = rows { path.append(CodingTreeKey(intValue: line - 1)) }
        path += Self.keys(place.pointer ?? "", in: rows.all[line - 1])
        return .dataCorrupted(.init(codingPath: path, debugDescription: error.message, underlyingError: error))
    }

    /// Returns the keys and indexes of a JSON pointer.
    private static func keys(_ pointer: String, in row: JSONValue) -> [any CodingKey] {
        var current: JSONValue? = row
        return JSONPointer.keys(pointer).map { key in
            if case .array(let elements) = current, let index = Int(key) {
                current = elements.indices.contains(index) ? elements[index] : nil
                return CodingTreeKey(intValue: index)
            }
            current = current?[key]
            return CodingTreeKey(stringValue: key)
        }
    }
}
