public import CambiumModel

/// What an import did, or would do.
public struct ImportReport: Sendable {
    /// Objects by net effect against the state before.
    public struct Counts: Sendable, Hashable {
        public var inserted = 0
        public var updated = 0
        public var unchanged = 0
        public var deleted = 0
        /// Objects made of which only the identity is known.
        public var stubs = 0
        /// Rows, or nested objects, that named an object which the import had met already.
        public var repeated = 0

        public init() {}
    }

    /// A row, or a part of one, that could not be imported.
    public struct RowError: Sendable, Hashable {
        public enum Code: String, Sendable {
            case malformed, typeMismatch, invalidValue, nullValue, missingMandatory, missingIdentity, duplicate
            case unknownKey, unknownReference, unknownEntity, notAnObject, tooDeep, tooLarge, ruleViolated, hookFailed
        }

        public var file: String
        /// Counted from 1 in its file.
        public var row: Int
        /// The line that the row begins on, counted from 1.
        public var line: Int
        /// A JSON pointer inside the row.
        public var pointer: String
        public var code: Code
        public var message: String
    }

    /// The last transaction that was written; nil where none was.
    public var transaction: TransactionNumber?
    public var rowCount = 0
    /// Counts of the entity that was imported.
    public var counts = Counts()
    /// The same for each entity that was touched, by name.
    public var entities: [String: Counts] = [:]
    /// How often each key was met that maps to nothing.
    public var unknownKeys: [String: Int] = [:]
    public var errors: [RowError] = []
    /// The object of each row, where the options ask for it: nil for a row that was left out.
    public var rowObjects: [ObjectID?] = []
    /// Bytes that the import added to the log.
    public var logByteCount = 0

    public init() {}

    /// The objects of the rows, each once, in the order in which they were first met.
    public var distinctObjects: [ObjectID] {
        var seen = Set<ObjectID>()
        return rowObjects.compactMap(\.self).filter { seen.insert($0).inserted }
    }

    /// Keys that map to nothing and are told by name; what others come to is only counted.
    public static let unknownKeyCountMax = 10_000
    /// How often other keys were met.
    public var unknownKeysLeftOut = 0

    mutating func note(unknownKey key: String, _ count: Int) {
        if unknownKeys[key] == nil, unknownKeys.count >= Self.unknownKeyCountMax {
            unknownKeysLeftOut += count
        } else {
            unknownKeys[key, default: 0] += count
        }
    }

    /// Errors that are kept with their text; more are only counted.
    public static let errorCountMax = 10_000
    /// Errors that did not fit.
    public var errorsLeftOut = 0
}
