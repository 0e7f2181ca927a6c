package import CambiumJSON
public import CambiumModel

/// The result of a change to the schema, or the expected result in a preview.
///
/// ```swift
/// let preview = try store.previewMigration(to: definition)
/// for entry in preview.entries { print(entry.change.kind, entry.change.entity, entry.handling, entry.lostCount) }
/// if !preview.isRefused { try store.migrate(to: definition, Author(actor: "deploy")) }
/// ```
public struct MigrationReport: Sendable {
    /// The way in which a migration handles a change.
    public enum Handling: String, Sendable {
        /// The migration makes the change without a closure.
        case automatic
        /// The property begins empty, and the program's closure fills it.
        case program
        /// The change needs a closure, but there is no closure.
        case refused
    }

    /// A change to the schema, and its effect on the objects of the store.
    public struct Entry: Sendable {
        /// The change to the schema.
        public let change: SchemaChange
        /// The way in which the migration handles the change.
        public let handling: Handling
        /// The number of objects that get another value or another kind of link because of the change.
        public let objectCount: Int
        /// The number of objects (of a removed entity), values (of an attribute) or members (of a relationship) that are lost. If an entity
        /// gets another parent: the number of values and members of the properties that it no longer inherits.
        public let lostCount: Int
        package let lostKind: LostKind

        /// The kinds of things that `lostCount` counts.
        package enum LostKind: Sendable { case objects, values, links, valuesAndLinks }
    }

    /// The transaction of the migration; `nil` if nothing was written.
    public internal(set) var transaction: TransactionNumber?
    /// All changes to the schema, in the order of the new schema, with removals at the end.
    public internal(set) var entries: [Entry] = []
    /// In a preview, the rules that objects would break. The migration is refused if there are any.
    public internal(set) var violations: [String] = []
    /// The number of bytes that were added to the log.
    public internal(set) var logByteCount = 0
    /// In a preview, the time for which the migration would hold the writer's lock. During that time, other transactions would wait, but
    /// readers would not.
    ///
    /// The preview performs the whole migration on separate pages, without writing it, and measures the time. A closure takes additional
    /// time. `nil` if the migration was performed; in that case, `Store.metrics` reports the time, for the use `migration`.
    public internal(set) var expectedHold: Duration?

    /// Whether the store already has the schema.
    package var isEmpty: Bool { entries.isEmpty }

    /// Whether the migration would be refused as it is.
    public var isRefused: Bool { !violations.isEmpty || entries.contains { $0.handling == .refused } }

    /// Writes the report in the form in which the command line prints it.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("transaction", transaction?.rawValue)
            writer.array("changes", entries) { writer, entry in entry.write(to: &writer) }
            writer.member("violations", violations)
            writer.member("refused", isRefused)
            writer.member("logBytes", logByteCount)
            if let expectedHold { writer.member("expectedHoldMilliseconds", expectedHold.wholeMilliseconds) }
        }
    }
}

extension Duration {
    /// The number of milliseconds, rounded up.
    package var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

extension MigrationReport.Entry {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            change.writeMembers(to: &writer)
            writer.member("handling", handling.rawValue)
            writer.member("objects", objectCount)
            writer.member("lost", lostCount)
        }
    }
}

extension SchemaChange {
    /// Writes the change as the log command prints it.
    package func write(to writer: inout JSONWriter) {
        writer.object(writeMembers)
    }

    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.member("change", kind.rawValue)
        writer.member("entity", entity)
        if let property { writer.member("property", property) }
        if let aspect { writer.member("aspect", aspect) }
        if let before { writer.member("before", json(before)) }
        if let after { writer.member("after", json(after)) }
        if let reason { writer.member("reason", reason) }
    }

    /// Returns `before` or `after` of a change as JSON. If the kind is `.changed`, the text is the JSON of a value. Otherwise, the text is
    /// a name, and is returned as a string.
    private func json(_ state: String) -> JSONValue {
        if kind == .changed, let value = try? JSONValue(parsing: state.utf8) { return value }
        return .string(state)
    }
}
