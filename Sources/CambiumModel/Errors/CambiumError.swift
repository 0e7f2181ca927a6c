internal import CambiumBytes

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

extension CambiumError {
    /// The remedy in each error about a corrupt checkpoint. It does not help if the log was retired and there is no older checkpoint.
    package static let checkpointRemedy = "Open the store again to use an older checkpoint or the log."

    /// Returns the error for a checkpoint that cannot be used.
    ///
    /// - Parameters:
    ///   - problem: The problem as a sentence, with its period.
    ///   - file: The file of the checkpoint, and the position in it; `nil` if the caller does not know the file.
    package static func corruptCheckpoint(_ problem: String, file: String? = nil) -> CambiumError {
        CambiumError(.corrupted, "\(problem) \(checkpointRemedy)", place: file.map { Place(file: $0) })
    }

    /// The error for a step that needs more memory than the limits of the process leave.
    ///
    /// - Parameter need: The use of the memory, such as "the pages of a graph".
    package static func outOfMemory(_ need: String) -> CambiumError {
        let left = ProcessMemory.leftByteCount.map { "leave \($0 >> 20) MiB, which is" } ?? "leave"
        return CambiumError(
            .ioFailure,
            "The limits of the process \(left) too little memory for \(need). Raise the limit ('ulimit -v' or 'ulimit -d'). "
                + "If only data is limited, a smaller memory budget helps, too (for the command line, a lower CAMBIUM_MEMORY).")
    }

    /// Throws `.ioFailure` if the limits of the process leave less than this many bytes of memory.
    package static func checkMemory(_ byteCount: Int, for need: @autoclosure () -> String) throws(CambiumError) {
        if !ProcessMemory.has(byteCount) { throw outOfMemory(need()) }
    }

    /// Returns the error for a disk failure that leaves the result of a write unknown. When the store is opened again, it may or may not
    /// contain the written bytes.
    ///
    /// - Parameter transaction: The transaction that was written; `nil` if the caller does not know which transaction it was.
    package static func outcomeUnknown(_ transaction: TransactionNumber?, _ cause: CambiumError) -> CambiumError {
        let subject = transaction.map { "transaction \($0)" } ?? "the last write"
        return CambiumError(
            .outcomeUnknown,
            "The disk failed while \(subject) was being made durable, so the store may or may not contain it. "
                + "Open the store again and look for the change, or repeat the command with the same request id. "
                + "The cause: \(cause.message)",
            underlying: cause)
    }
}
