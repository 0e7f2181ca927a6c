import CambiumGraph
package import CambiumJSON
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

extension ImportReport {
    /// Adds the rows of a batch, whether or not the batch is committed: the number of rows, their errors, their unknown keys, and the id of
    /// each row's object. If the batch failed at a row, the number includes that row.
    ///
    /// The numbers of inserted, changed and deleted objects are not included. After a commit, `addObjects(of:)` adds them.
    package mutating func addRows(of batch: ImportBatch) {
        rowCount = batch.lastRow
        for (key, count) in batch.unknownKeys.counts { track(unknownKey: key, count) }
        unknownKeysLeftOut += batch.unknownKeys.leftOut
        for error in batch.errors {
            if errors.count < Self.errorCountMax { errors.append(error) } else { errorsLeftOut += 1 }
        }
        errorsLeftOut += batch.errorsLeftOut
        rowObjects += batch.rowObjects
    }

    /// Adds the counts of the objects that a batch inserted, changed, deleted or left unchanged.
    package mutating func addObjects(of batch: ImportBatch) {
        var totals: [EntityNumber: Counts] = [:]
        for (number, count) in batch.deleted { totals[number, default: .init()].deleted += count }
        for (number, net) in batch.counts {
            totals[number, default: .init()].add(net)
            totals[number, default: .init()].repeated += batch.repeated[number] ?? 0
        }
        for (number, added) in totals {
            entities[batch.input.schema.entity(number)?.name ?? "", default: .init()].add(added)
            if batch.input.entity.family.contains(number) { counts.add(added) }
        }
    }

    /// Returns the first `length` code points of `text`, a text of the input. A report contains only this part of a long text.
    static func cut(_ text: String, _ length: Int) -> String {
        if text.utf8.count <= length { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(length)))
    }

    private mutating func track(unknownKey key: String, _ count: Int) {
        if unknownKeys[key] == nil, unknownKeys.count >= Self.unknownKeyCountMax {
            unknownKeysLeftOut += count
        } else {
            unknownKeys[key, default: 0] += count
        }
    }
}

extension ImportReport.Counts {
    fileprivate mutating func add(_ net: NetCounts) {
        inserted += net.inserted
        updated += net.updated
        unchanged += net.unchanged
        stubs += net.stubs
    }

    fileprivate mutating func add(_ other: ImportReport.Counts) {
        inserted += other.inserted
        updated += other.updated
        unchanged += other.unchanged
        deleted += other.deleted
        stubs += other.stubs
        repeated += other.repeated
    }
}

extension ImportReport {
    /// Writes the report in the form that the command line prints.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("transaction", transaction?.rawValue)
            writer.member("rows", rowCount)
            write(counts, to: &writer)
            writer.object("unknownKeys") { writer in
                for (key, count) in unknownKeys.sorted(by: { $0.key < $1.key }) { writer.member(key, count) }
            }
            if unknownKeysLeftOut > 0 { writer.member("unknownKeysLeftOut", unknownKeysLeftOut) }
            writer.array("errors", errors) { writer, error in error.write(to: &writer) }
            if errorsLeftOut > 0 { writer.member("errorsLeftOut", errorsLeftOut) }
            writer.object("entities") { writer in
                for (name, counts) in entities.sorted(by: { $0.key < $1.key }) { writer.object(name) { write(counts, to: &$0) } }
            }
            writer.member("logBytes", logByteCount)
        }
    }

    private func write(_ counts: Counts, to writer: inout JSONWriter) {
        writer.member("inserted", counts.inserted)
        writer.member("updated", counts.updated)
        writer.member("unchanged", counts.unchanged)
        writer.member("deleted", counts.deleted)
        writer.member("stubs", counts.stubs)
        writer.member("repeated", counts.repeated)
    }
}

extension ImportReport.RowError {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("file", file)
            writer.member("row", row)
            writer.member("line", line)
            writer.member("pointer", pointer)
            writer.member("code", code.rawValue)
            writer.member("message", message)
        }
    }
}
