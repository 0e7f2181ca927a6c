import Cambium
import CambiumJSON

/// The rows of a history.
final class HistoryText {
    private let isJSON: Bool
    /// The transaction of the last printed row. In the output for people, the rows of a transaction follow one line for the transaction.
    private var transaction: TransactionNumber?

    init(isJSON: Bool) { self.isJSON = isJSON }

    func print(_ entry: HistoryEntry) {
        if isJSON { return Terminal.printObject { Self.write(entry, to: &$0) } }
        if entry.transaction != transaction { Terminal.print(AuditText.head(entry.transaction, entry.time, entry.author)) }
        transaction = entry.transaction
        for line in Self.lines(entry) { Terminal.print("    " + line) }
    }

    // MARK: Output for programs

    private static func write(_ entry: HistoryEntry, to writer: inout JSONWriter) {
        writer.transaction(entry.transaction, entry.time, entry.author)
        writer.member("message", entry.author.message)
        if let request = entry.author.requestID { writer.member("request", request) }
        if let object = entry.object { writer.member("_id", object.name) }
        switch entry.change {
        case .inserted(let properties):
            writer.member("change", "inserted")
            write(properties, to: &writer)
        case .deleted(let properties):
            writer.member("change", "deleted")
            write(properties, to: &writer)
        case .cloned(let source, let properties):
            writer.member("change", "cloned")
            writer.member("from", source.name)
            write(properties, to: &writer)
        case .attribute(let value):
            writer.member("change", "changed")
            writer.member("attribute", value.name)
            write(value, to: &writer)
        case .relationship(let members):
            writer.member("change", "changed")
            writer.member("relationship", members.name)
            write(members, to: &writer)
        case .stub(let isStub):
            writer.member("change", "changed")
            writer.object("_stub") { writer in
                writer.member("before", !isStub)
                writer.member("after", isStub)
            }
        case .renamed(let element, let before, let after):
            writer.member("change", "renamed")
            writer.member(element.rawValue, after)
            writer.member("before", before)
            writer.member("after", after)
        case .schema(let before, let after):
            writer.member("change", "schema")
            writer.key("schema")
            OpText.write(SchemaMigration(logged: before, after), to: &writer)
        case .label(let label):
            writer.member("change", "label")
            writer.write(label)
        case .retired: writer.member("change", "retired")
        }
    }

    private static func write(_ properties: HistoryEntry.Properties, to writer: inout JSONWriter) {
        writer.object("attributes") { writer in
            for value in properties.values { writer.object(value.name) { write(value, to: &$0) } }
        }
        writer.object("relationships") { writer in
            for members in properties.members { writer.object(members.name) { write(members, to: &$0) } }
        }
    }

    private static func write(_ value: HistoryEntry.ValueChange, to writer: inout JSONWriter) {
        if let name = value.formerName { writer.member("formerName", name) }
        writer.member("before", value.before)
        writer.member("after", value.after)
    }

    private static func write(_ members: HistoryEntry.MemberChange, to writer: inout JSONWriter) {
        if let name = members.formerName { writer.member("formerName", name) }
        if let moved = members.moved {
            writer.member("moved", true)
            writer.member("before", moved.before)
            writer.member("after", moved.after)
        } else {
            writer.member("added", members.added)
            writer.member("removed", members.removed)
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
