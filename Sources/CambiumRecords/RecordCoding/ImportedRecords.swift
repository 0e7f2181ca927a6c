public import CambiumExchange

/// The records of imported rows, and the report of the import. Any decoder can create this value. The initializer reads the rows and
/// imports them into a store.
///
/// ```swift
/// let decoder = JSONDecoder()
/// decoder.userInfo[.cambiumStore] = store
/// let notes = try decoder.decode(ImportedRecords<Note>.self, from: data).records
/// ```
///
/// The input is an array of objects, or one object. The rules are those of imports. If there is an object with the identity of a row, this
/// object is updated; otherwise, an object is inserted. A missing key changes nothing. An id instead of an object finds the object, or
/// inserts a stub (an object with an identity only). The options are in `userInfo`. If one input contains several values of this type, each
/// of them is imported in a separate transaction.
public struct ImportedRecords<Record: EntityRecord>: Sendable {
    /// The records in the order of the rows, read from the graph directly after the import. If two rows describe one object, there are two
    /// records of this object.
    public let records: [Record]
    /// The counts of the import, and the errors of omitted rows.
    public let report: ImportReport
}

extension ImportedRecords: Decodable {
    /// Imports the rows of a decoder in one transaction, unless the options request batches.
    ///
    /// Throws a `DecodingError` for a value that cannot be imported. The path of the `DecodingError` leads to the value, and the underlying
    /// error is the `CambiumError`. In that case, nothing was imported, except earlier batches. Throws `.misuse` if `userInfo` has no
    /// store. Otherwise throws as `Store.importRecords(_:from:_:hooks:author:reached:)` does.
    /// Complexity: O(bytes of input); all rows are in memory.
    public init(from decoder: any Decoder) throws {
        let run = try RecordImport(decoder)
        switch try CodingTree(from: decoder).value {
        case .array(let rows): self = try run.records(.several(rows))
        case .object(let members): self = try run.records(.single(.object(members)))
        default:
            let message =
                "The input is neither an array nor an object. "
                + "Pass one object or an array of objects of '\(Record.recordSchema.entity)'."
            throw DecodingError.typeMismatch([Record].self, .init(codingPath: decoder.codingPath, debugDescription: message))
        }
    }
}
