import Cambium
import CambiumJSON

/// A transaction with its changes, as `cambium changes` and `cambium replay` print it.
struct ChangedTransaction {
    let step: TransactionStep
    let objects: [ChangedObject]
    let labels: [LabelChange]
    /// The change to the schema; `nil` if the transaction did not change it.
    let migration: SchemaMigration?

    init(_ step: TransactionStep, of entity: AuditEntity) {
        self.step = step
        let changes = step.changes
        objects = changes.filter { entity.contains($0, step) }.map { ChangedObject($0, from: step.before, to: step.after) }
            .filter { !$0.isUnchanged }
        labels = entity.name == nil ? changes.labels : []
        migration =
            step.changesSchema && entity.name == nil ? SchemaMigration(logged: step.before.schema, step.after.schema) : nil
    }

    /// Whether the transaction has nothing to show.
    var isEmpty: Bool { objects.isEmpty && labels.isEmpty && migration == nil }

    /// Writes the members `"transaction":n,"time":...,"actor":...,"changes":[...]`. A transaction that changed the schema or labels has
    /// these changes, too.
    func write(to writer: inout JSONWriter) {
        writer.transaction(step.entry)
        writeStoreChanges(to: &writer)
        writer.array("changes", objects) { writer, object in object.write(to: &writer) }
    }

    /// Writes the members `schema` and `labels`, if the transaction changed them.
    func writeStoreChanges(to writer: inout JSONWriter) {
        if let migration {
            writer.key("schema")
            OpText.write(migration, to: &writer)
        }
        if !labels.isEmpty {
            writer.array("labels", labels) { writer, label in writer.object { $0.write(label) } }
        }
    }

    /// The lines for human readers: one for the transaction, and indented ones for its changes.
    var lines: [String] {
        var lines = [AuditText.head(step.entry.number, step.entry.time, step.entry.author)]
        if let migration { lines += OpText.lines(migration).map { "    " + $0 } }
        lines += labels.map { "    " + AuditText.line($0) }
        for object in objects { lines += object.lines.map { "    " + $0 } }
        return lines
    }
}

/// The parts of the output for human readers that several audit commands share.
enum AuditText {
    /// Returns the number, the time, the actor, the message and the request key of a transaction. A dash marks a transaction without an
    /// actor.
    static func head(_ number: TransactionNumber, _ time: Timestamp, _ author: Author) -> String {
        // An empty actor is quoted. Otherwise, the message would look like the actor.
        let actor = author.actor.map { ObjectText.text(.string($0)) } ?? "-"
        let notes = [author.message, author.requestID.map(request)].compactMap(\.self)
        return (["\(number)", time.description, actor] + notes).joined(separator: "  ")
    }

    static func request(_ key: String) -> String { "(request \(ObjectText.text(.string(key))))" }

    static func line(_ label: LabelChange) -> String {
        let name = LabelCommand.text(of: label.name)
        return switch (label.before, label.after) {
        case (let before?, let after?): "label \(name) names transaction \(after), and no longer \(before)"
        case (nil, let after?): "label \(name) is new, and names transaction \(after)"
        case (_, nil): "label \(name) no longer exists"
        }
    }

    /// Returns the text of a value, on a terminal at most a line of it. An empty text and the text `null` are quoted, because without
    /// quotes they would look like no value.
    static func text(_ value: Value) -> String {
        value == .null ? value.text : ObjectText.cut(ObjectText.text(.string(value.text)), to: Terminal.width)
    }
}

extension JSONWriter {
    /// Writes the members `transaction`, `time` and `actor`.
    mutating func transaction(_ entry: TransactionLog.Entry) { transaction(entry.number, entry.time, entry.author) }

    mutating func transaction(_ number: TransactionNumber?, _ time: Timestamp?, _ author: Author?) {
        member("transaction", number)
        member("time", time?.description)
        member("actor", author?.actor)
    }

    /// Writes the members of a label: its name, and the transactions that it named before and names after.
    mutating func write(_ label: LabelChange) {
        member("label", label.name)
        member("before", label.before)
        member("after", label.after)
    }
}
