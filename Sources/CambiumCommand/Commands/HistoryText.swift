import Cambium
import CambiumJSON

/// The rows of a history.
final class HistoryText {
    private let isJSON: Bool
    /// The transaction of the last printed row. In the output for people, the rows of a transaction follow one line for the transaction.
    private var transaction: TransactionNumber?

    init(isJSON: Bool) { self.isJSON = isJSON }

    func print(_ entry: HistoryEntry) {
        if isJSON {
            var writer = JSONWriter()
            Self.write(entry, to: &writer)
            return Terminal.print(writer.text)
        }
        if entry.transaction != transaction { Terminal.print(AuditText.head(entry.transaction, entry.time, entry.author)) }
        transaction = entry.transaction
        for line in Self.lines(entry) { Terminal.print("    " + line) }
    }

    // MARK: Output for programs

    private static func write(_ entry: HistoryEntry, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.transaction(entry.transaction, entry.time, entry.author)
        writer.text("message", entry.author.message)
        if let request = entry.author.requestID { writer.text("request", request) }
        if let object = entry.object { writer.text("_id", object.name) }
        switch entry.change {
        case .inserted(let properties):
            writer.text("change", "inserted")
            write(properties, to: &writer)
        case .deleted(let properties):
            writer.text("change", "deleted")
            write(properties, to: &writer)
        case .cloned(let source, let properties):
            writer.text("change", "cloned")
            writer.text("from", source.name)
            write(properties, to: &writer)
        case .attribute(let value):
            writer.text("change", "changed")
            writer.text("attribute", value.name)
            if let name = value.formerName { writer.text("formerName", name) }
            write(value, to: &writer)
        case .relationship(let members):
            writer.text("change", "changed")
            writer.text("relationship", members.name)
            if let name = members.formerName { writer.text("formerName", name) }
            write(members, to: &writer)
        case .stub(let isStub):
            writer.text("change", "changed")
            writer.key("_stub")
            writer.beginObject()
            writer.key("before")
            writer.bool(!isStub)
            writer.key("after")
            writer.bool(isStub)
            writer.endObject()
        case .renamed(let element, let before, let after):
            writer.text("change", "renamed")
            writer.text(element.rawValue, after)
            writer.text("before", before)
            writer.text("after", after)
        case .schema(let before, let after):
            writer.text("change", "schema")
            writer.key("schema")
            OpText.write(SchemaMigration(logged: before, after), to: &writer)
        case .label(let label):
            writer.text("change", "label")
            writer.write(label)
        case .retired: writer.text("change", "retired")
        }
        writer.endObject()
    }

    private static func write(_ properties: HistoryEntry.Properties, to writer: inout JSONWriter) {
        writer.key("attributes")
        writer.beginObject()
        for value in properties.values {
            writer.key(value.name)
            writer.beginObject()
            write(value, to: &writer)
            writer.endObject()
        }
        writer.endObject()
        writer.key("relationships")
        writer.beginObject()
        for members in properties.members {
            writer.key(members.name)
            writer.beginObject()
            write(members, to: &writer)
            writer.endObject()
        }
        writer.endObject()
    }

    private static func write(_ value: HistoryEntry.ValueChange, to writer: inout JSONWriter) {
        writer.key("before")
        value.before.write(to: &writer)
        writer.key("after")
        value.after.write(to: &writer)
    }

    private static func write(_ members: HistoryEntry.MemberChange, to writer: inout JSONWriter) {
        if let moved = members.moved {
            writer.key("moved")
            writer.bool(true)
            writer.names("before", moved.before)
            writer.names("after", moved.after)
        } else {
            writer.names("added", members.added)
            writer.names("removed", members.removed)
        }
    }

    // MARK: Output for people

    private static func lines(_ entry: HistoryEntry) -> [String] {
        let title = entry.object?.title ?? ""
        switch entry.change {
        case .inserted(let properties): return ["+ \(title)"] + lines(properties) { AuditText.text($0.after) }
        case .deleted(let properties): return ["- \(title)"] + lines(properties) { AuditText.text($0.before) }
        case .cloned(let source, let properties):
            return ["+ \(title), a copy of \(source.title)"] + lines(properties) { AuditText.text($0.after) }
        case .attribute(let value):
            return ["~ \(title) \(name(value.name, value.formerName)): \(AuditText.text(value.before)) -> \(AuditText.text(value.after))"]
        case .relationship(let members): return ["~ \(title) \(name(members.name, members.formerName)): \(text(members))"]
        case .stub(let isStub): return ["~ \(title) \(isStub ? "is now a stub" : "is no longer a stub")"]
        case .renamed(let element, let before, let after):
            return ["~ \(title) the \(element.rawValue) \(before) is now named \(after)"]
        case .schema(let before, let after): return OpText.lines(SchemaMigration(logged: before, after))
        case .label(let label): return [AuditText.line(label)]
        case .retired: return ["The changes of this transaction and of all earlier ones were retired."]
        }
    }

    private static func lines(
        _ properties: HistoryEntry.Properties, _ value: (HistoryEntry.ValueChange) -> String
    ) -> [String] {
        properties.values.map { "    \(name($0.name, $0.formerName)): \(value($0))" }
            + properties.members.map { "    \(name($0.name, $0.formerName)): \(text($0))" }
    }

    private static func name(_ name: String, _ formerName: String?) -> String {
        formerName.map { "\(name) (then \($0))" } ?? name
    }

    private static func text(_ members: HistoryEntry.MemberChange) -> String {
        if let moved = members.moved { return "now in the order " + moved.after.map(\.title).joined(separator: " ") }
        return (members.removed.map { "-\($0.title)" } + members.added.map { "+\($0.title)" }).joined(separator: " ")
    }
}

extension JSONWriter {
    /// Writes a member with the names of objects.
    mutating func names(_ name: String, _ objects: [NamedObject]) {
        key(name)
        beginArray()
        for object in objects { string(object.name) }
        endArray()
    }
}
