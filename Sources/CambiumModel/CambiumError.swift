/// The error of every public call: what happened, to what, and what to do.
///
/// Unless a call says otherwise, nothing was changed when it throws. After `.outcomeUnknown` the change may have been made.
public struct CambiumError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure. Open: later versions add codes, so a `switch` over codes needs a `default`.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A schema, JSON, model or option that breaks its rules.
        public static let invalidInput = Code(rawValue: "invalidInput")
        /// A rule of the schema refuses the change.
        public static let ruleViolated = Code(rawValue: "ruleViolated")
        /// The schema has no entity, attribute or relationship of the name given.
        public static let unknownName = Code(rawValue: "unknownName")
        /// No such file, store, object, entity or moment.
        public static let notFound = Code(rawValue: "notFound")
        /// The store or file cannot be made here.
        public static let cannotCreate = Code(rawValue: "cannotCreate")
        /// The system refused to read or write.
        public static let ioFailure = Code(rawValue: "ioFailure")
        /// Bytes that are not what was written.
        public static let damaged = Code(rawValue: "damaged")
        /// The store is open for writing already, by this process or another one.
        public static let locked = Code(rawValue: "locked")
        /// Written by a newer version than this one.
        public static let unsupportedFormat = Code(rawValue: "unsupportedFormat")
        /// A named limit is exceeded.
        public static let limitExceeded = Code(rawValue: "limitExceeded")
        /// The store was closed, or an earlier write or sync failed.
        public static let notWritable = Code(rawValue: "notWritable")
        /// The request was applied before, and nothing was done now; the reason is a `RepeatedRequest`.
        public static let repeated = Code(rawValue: "repeated")
        /// The disk failed while a transaction was being made durable: the next opening may find the transaction or not. Open the store
        /// again and look, or repeat the write with the same request id, which is applied once.
        public static let outcomeUnknown = Code(rawValue: "outcomeUnknown")
        /// The call is not allowed where it was made, such as a write inside the closure of a write of the same store.
        public static let misuse = Code(rawValue: "misuse")
        /// What was lent has been taken back.
        public static let expired = Code(rawValue: "expired")
        /// What is there is not what the change builds on.
        public static let conflict = Code(rawValue: "conflict")
    }

    /// Where in the input the mistake is.
    public struct Place: Hashable, Sendable {
        public var file: String?
        /// Counted from 1.
        public var line: Int?
        /// Counted from 1, in bytes.
        public var column: Int?
        /// A JSON pointer (RFC 6901).
        public var pointer: String?

        public init(file: String? = nil, line: Int? = nil, column: Int? = nil, pointer: String? = nil) {
            self.file = file
            self.line = line
            self.column = column
            self.pointer = pointer
        }
    }

    public var code: Code
    /// One line.
    public var message: String
    /// What the message is about, one by one: mistakes of a schema, rules that a transaction breaks. One line each.
    public var details: [String]
    public var place: Place?
    public var underlying: (any Error)?

    public init(
        _ code: Code, _ message: String, details: [String] = [], place: Place? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.details = details
        self.place = place
        self.underlying = underlying
    }

    /// The place and the message; then each of the details, on a line of its own that begins with two spaces.
    public var description: String { ([headline] + details).joined(separator: "\n  ") }

    /// The place and the message.
    public var headline: String {
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
