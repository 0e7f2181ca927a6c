/// The error of every public call. Its message states what failed and how to continue.
///
/// ```swift
/// do {
///     try store.write { try $0.set(note, "title", to: "Rome") }
/// } catch let error as CambiumError where error.code == .notFound {
///     print(error.message)
/// }
/// ```
///
/// Unless the documentation of a call states otherwise, a call that throws has changed nothing. After `.outcomeUnknown`, the change may
/// have been made.
public struct CambiumError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure. The set of codes is open: later versions add codes, so a `switch` over codes needs a `default`.
    public struct Code: Hashable, Sendable {
        public let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        /// A schema, a JSON text, a Core Data model or an option is not valid.
        public static let invalidInput = Code(rawValue: "invalidInput")
        /// The change breaks a rule of the schema.
        public static let ruleViolated = Code(rawValue: "ruleViolated")
        /// The schema has no entity, attribute or relationship of the given name.
        public static let unknownName = Code(rawValue: "unknownName")
        /// The file, store, object, entity or earlier moment does not exist.
        public static let notFound = Code(rawValue: "notFound")
        /// The store or file cannot be created at this path.
        public static let cannotCreate = Code(rawValue: "cannotCreate")
        /// The operating system failed to read or write.
        public static let ioFailure = Code(rawValue: "ioFailure")
        /// The data is corrupt: its bytes differ from the bytes that were written.
        public static let corrupted = Code(rawValue: "corrupted")
        /// The store is already open for writing, in this process or another process.
        public static let locked = Code(rawValue: "locked")
        /// A newer version of Cambium wrote the data.
        public static let unsupportedFormat = Code(rawValue: "unsupportedFormat")
        /// A limit of Cambium, or a limit that the caller has set, is exceeded.
        public static let limitExceeded = Code(rawValue: "limitExceeded")
        /// The store was closed, or an earlier write or sync failed.
        public static let notWritable = Code(rawValue: "notWritable")
        /// The request was applied earlier, and this call changed nothing. The underlying error is a `RepeatedRequest`.
        public static let repeated = Code(rawValue: "repeated")
        /// The disk failed while a transaction was being made durable, so the store may or may not contain the transaction when it is next
        /// opened. Open the store again and look for the change. Or repeat the write with the same request id, because a store applies a
        /// request only once.
        public static let outcomeUnknown = Code(rawValue: "outcomeUnknown")
        /// The call is not allowed in this context, such as a write inside the closure of a write of the same store.
        public static let misuse = Code(rawValue: "misuse")
        /// A lease has ended, or compaction has removed changes that an observer needs. The requested graphs are no longer available.
        public static let expired = Code(rawValue: "expired")
        /// The existing data does not match the data that the change is based on.
        public static let conflict = Code(rawValue: "conflict")
        /// A record refers to an object that was deleted.
        public static let objectDeleted = Code(rawValue: "objectDeleted")
        /// A stored value does not fit the property of a record.
        public static let unexpectedValue = Code(rawValue: "unexpectedValue")
        /// A signature, a proof or a signed note does not hold, or is not of an accepted key.
        public static let notProved = Code(rawValue: "notProved")
        /// Links form a cycle, so the objects have no order. The underlying error is a `LinkCycle`.
        public static let cyclic = Code(rawValue: "cyclic")
    }

    /// The position in the input to which the error refers.
    public struct Place: Hashable, Sendable {
        /// The name of the file, schema, mapping or option.
        public var file: String?
        /// The line, counted from 1.
        public var line: Int?
        /// The column in bytes, counted from 1.
        public var column: Int?
        /// A JSON pointer (RFC 6901).
        public var pointer: String?

        package init(file: String? = nil, line: Int? = nil, column: Int? = nil, pointer: String? = nil) {
            self.file = file
            self.line = line
            self.column = column
            self.pointer = pointer
        }
    }

    /// The kind of failure.
    public var code: Code
    /// The failure and its remedy, in one line.
    public var message: String
    /// The parts of the failure, such as mistakes in a schema or rules that a transaction breaks. Each part takes one line.
    public var details: [String]
    /// The position in the input; `nil` if the error does not concern a position.
    public var place: Place?
    /// The cause, such as a `RuleViolations`, a `RepeatedRequest` or an `EditConflicts`; `nil` if there is no other error.
    public var underlying: (any Error)?

    package init(
        _ code: Code, _ message: String, details: [String] = [], place: Place? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.details = details
        self.place = place
        self.underlying = underlying
    }

    /// The place and the message, followed by the details. Each detail is on a separate line that begins with two spaces.
    public var description: String { ([headline] + details).joined(separator: "\n  ") }

    /// The place and the message.
    package var headline: String {
        guard let place else { return message }
        var parts = [place.file ?? ""]
        if let line = place.line { parts.append(String(line)) }
        if let column = place.column { parts.append(String(column)) }
        let position = parts.filter { !$0.isEmpty }.joined(separator: ":")
        let pointer = place.pointer.map { $0.isEmpty ? "" : "at \($0)" } ?? ""
        let whole = [position, pointer].filter { !$0.isEmpty }.joined(separator: " ")
        return (whole.isEmpty ? "" : whole + ": ") + message
    }
}
