public import CambiumModel

/// The outcome of an import, or of a dry run.
///
/// ```swift
/// let report = try store.importRows(Note.self, from: .file("notes.json"))
/// print(report.counts.inserted, report.counts.updated, report.counts.unchanged)
/// for error in report.errors { print(error.row, error.pointer, error.message) }
/// ```
public struct ImportReport: Sendable {
    /// The numbers of objects by their net change.
    public struct Counts: Sendable, Hashable {
        /// The number of new objects, except stubs.
        public var inserted = 0
        /// The number of existing objects of which a value or a link changed.
        public var updated = 0
        /// The number of existing objects that rows described and that did not change.
        public var unchanged = 0
        /// The number of objects that were deleted as absent or as orphans, including those that cascades deleted.
        public var deleted = 0
        /// The number of new objects of which only the identity is known.
        public var stubs = 0
        /// The number of rows and nested objects that described the same object as an earlier row or nested object.
        public var repeated = 0

        package init() {}
    }

    /// A row, or a part of a row, that could not be imported.
    public struct RowError: Sendable, Hashable {
        /// The kind of fault of a row.
        public enum Code: String, Sendable {
            case malformed, typeMismatch, invalidValue, nullValue, missingMandatory, missingIdentity, duplicate
            case unknownKey, unknownReference, unknownEntity, notAnObject, tooDeep, tooLarge, ruleViolated, hookFailed
        }

        /// The name of the source.
        public var file: String
        /// The number of the row, counted from 1 in its file.
        public var row: Int
        /// The line on which the row begins, counted from 1.
        public var line: Int
        /// The JSON pointer to the fault inside the row.
        public var pointer: String
        /// The kind of fault.
        public var code: Code
        /// The fault as a sentence without a period.
        public var message: String
    }

    /// The last transaction that was written; `nil` if no transaction was written.
    public var transaction: TransactionNumber?
    /// The number of rows that were read, including those that could not be imported.
    public var rowCount = 0
    /// The counts of the imported entity and its sub-entities.
    public var counts = Counts()
    /// The counts of each affected entity, by the name of the entity.
    public var entities: [String: Counts] = [:]
    /// The number of occurrences of each key that maps to no property.
    public var unknownKeys: [String: Int] = [:]
    /// The rows that could not be imported, in their order; at most 10,000.
    public var errors: [RowError] = []
    /// The object of each row, if the options request it; `nil` for a row that was omitted.
    public var rowObjects: [ObjectID?] = []
    /// The number of bytes that the import added to the log.
    public var logByteCount = 0

    package init() {}

    /// The objects of `rowObjects`, each once, in the order in which the rows first described them. Complexity: O(rows).
    public var distinctObjects: [ObjectID] {
        var seen = Set<ObjectID>()
        return rowObjects.compactMap(\.self).filter { seen.insert($0).inserted }
    }

    /// The maximum number of unknown keys that are reported by name. Occurrences of further keys are only counted.
    package static let unknownKeyCountMax = 10_000
    /// The maximum number of code points of an unknown key in a report. The rest of the key is cut off.
    package static let unknownKeyLengthMax = 1024
    /// The maximum number of code points of a JSON pointer in a report. The rest of the pointer is cut off.
    package static let pointerLengthMax = 4096
    /// The number of occurrences of unknown keys that are not reported by name.
    public var unknownKeysLeftOut = 0

    /// The maximum number of errors that are kept as text. Further errors are only counted.
    package static let errorCountMax = 10_000
    /// The number of errors that were only counted.
    public var errorsLeftOut = 0
}
