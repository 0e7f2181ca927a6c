public import CambiumJSON
public import CambiumModel

/// What a change of the schema came to, or would come to.
public struct MigrationReport: Sendable {
    public enum Handling: String, Sendable {
        case automatic
        /// The property begins empty, and the program's closure fills it.
        case program
        /// It needs a closure, and there is none.
        case refused
    }

    public struct Entry: Sendable {
        public let change: SchemaChange
        public let handling: Handling
        /// How many objects get another value, or links of another kind, by the change.
        public let objectCount: Int
        /// How many objects (where an entity goes), values (an attribute) or members (a relationship) are lost.
        public let lostCount: Int
    }

    /// Nil where nothing was written.
    public internal(set) var transaction: TransactionNumber?
    /// Every change, in the order of the new schema, what is removed at the end.
    public internal(set) var entries: [Entry] = []
    /// In a preview: the rules that objects would break, so that the migration would be refused.
    public internal(set) var violations: [String] = []
    /// Bytes that were added to the log.
    public internal(set) var logByteCount = 0
    /// In a preview: for how long the migration would hold the writer's lock. Other transactions would wait meanwhile, readers would not.
    ///
    /// The preview does the whole migration, except for writing it, on pages of its own, and tells how long that took. A closure takes its
    /// time in addition. `nil` if the migration was done; then `Store.metrics` has the time, as the use `migration`.
    public internal(set) var expectedHold: Duration?

    /// Whether the schema is the one that the store has.
    public var isEmpty: Bool { entries.isEmpty }

    /// Whether the migration would be refused as it is.
    public var isRefused: Bool { !violations.isEmpty || entries.contains { $0.handling == .refused } }

    /// The report as the command line gives it.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("transaction")
        if let transaction { writer.number(transaction.rawValue) } else { writer.null() }
        writer.key("changes")
        writer.beginArray()
        for entry in entries { entry.write(to: &writer) }
        writer.endArray()
        writer.key("violations")
        writer.write(.array(violations.map { .string($0) }))
        writer.key("refused")
        writer.bool(isRefused)
        writer.key("logBytes")
        writer.number(logByteCount)
        if let expectedHold {
            writer.key("expectedHoldMilliseconds")
            writer.number(expectedHold.wholeMilliseconds)
        }
        writer.endObject()
    }
}

extension Duration {
    /// Rounded up.
    package var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

extension MigrationReport.Entry {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        change.writeMembers(to: &writer)
        writer.key("handling")
        writer.string(handling.rawValue)
        writer.key("objects")
        writer.number(objectCount)
        writer.key("lost")
        writer.number(lostCount)
        writer.endObject()
    }
}

extension SchemaChange {
    /// The change as the log command gives it.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writeMembers(to: &writer)
        writer.endObject()
    }

    fileprivate func writeMembers(to writer: inout JSONWriter) {
        let texts = [
            ("change", kind.rawValue), ("entity", entity), ("property", property), ("aspect", aspect), ("before", before),
            ("after", after), ("reason", reason),
        ]
        for (key, text) in texts {
            guard let text else { continue }
            writer.key(key)
            writer.string(text)
        }
    }
}
