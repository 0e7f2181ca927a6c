import Cambium
import CambiumJSON

/// One object that differs between two moments, as `cambium diff` prints it.
struct ChangedObject {
    private let change: ObjectChange
    /// The graphs of the two moments.
    private let graphs: (before: Graph, after: Graph)
    private let id: String
    /// The values of each attribute at both moments. A migration may have replaced an attribute with another attribute of the same name. If
    /// both have the same value, the attribute is omitted.
    private let values: [(name: String, before: Value, after: Value)]
    /// The changes to each relationship. A migration may have replaced a relationship with another relationship of the same name. If both
    /// have the same members, the relationship is omitted. So is a relationship that is no longer ordered and has the same members.
    private let members: [(name: String, changes: [RelationshipChange])]

    init(_ change: ObjectChange, of changes: Changes) {
        self.change = change
        graphs = (changes.before, changes.after)
        id = (change.kind == .deleted ? changes.before : changes.after).text(of: change.id)
        values = Self.values(change.attributes)
        members = Self.members(change.relationships)
    }

    /// Whether no difference of the object is to be shown. Such an object is listed because a migration has replaced some of its
    /// properties. The new properties have the same names, values and members as the old ones.
    var isUnchanged: Bool { change.kind == .changed && !change.changesStub && values.isEmpty && members.isEmpty }

    private static func values(_ changes: [AttributeChange]) -> [(name: String, before: Value, after: Value)] {
        var values: [(name: String, before: Value, after: Value)] = []
        var places: [String: Int] = [:]
        var replaced: Set<String> = []
        for change in changes {
            let name = change.attribute.name
            if let place = places[name] {
                // If a migration replaced an attribute, the changes list the new attribute first. The old attribute of the same name
                // follows, with the earlier value.
                values[place].before = change.before
                replaced.insert(name)
            } else {
                places[name] = values.count
                values.append((name, change.before, change.after))
            }
        }
        return values.filter { !replaced.contains($0.name) || $0.before != $0.after }
    }

    private static func members(_ changes: [RelationshipChange]) -> [(name: String, changes: [RelationshipChange])] {
        var members: [(name: String, changes: [RelationshipChange])] = []
        for change in changes {
            let name = change.relationship.name
            if let place = members.firstIndex(where: { $0.name == name }) {
                members[place].changes.append(change)
            } else {
                members.append((name, [change]))
            }
        }
        return members.filter { _, changes in
            // The new relationship precedes the old one.
            if changes.count > 1 { return changes.first?.after != changes.last?.before }
            // If a migration has made a relationship unordered, its members have lost their order.
            return changes.contains { !$0.isMoved || $0.relationship.isOrdered }
        }
    }

    // MARK: Output for programs

    /// One row, such as `{"_id":"Note/42","change":"changed","attributes":{...},"relationships":{...}}`, with the end of its line.
    var row: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("_id")
        writer.string(id)
        writer.key("change")
        writer.string(change.kind.rawValue)
        if change.changesStub { writeStub(to: &writer) }
        writer.key("attributes")
        writer.beginObject()
        for value in values {
            writer.key(value.name)
            write(value.before, value.after, to: &writer)
        }
        writer.endObject()
        writer.key("relationships")
        writer.beginObject()
        for (name, changes) in members {
            writer.key(name)
            write(changes, to: &writer)
        }
        writer.endObject()
        writer.endObject()
        writer.endLine()
        return writer.bytes
    }

    private func writeStub(to writer: inout JSONWriter) {
        writer.key("_stub")
        writer.beginObject()
        writer.key("before")
        writer.bool(isStub(graphs.before))
        writer.key("after")
        writer.bool(isStub(graphs.after))
        writer.endObject()
    }

    private func isStub(_ graph: Graph) -> Bool { graph.place(of: change.id).map(graph.isStub) ?? false }

    private func write(_ before: Value, _ after: Value, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("before")
        before.write(to: &writer)
        writer.key("after")
        after.write(to: &writer)
        writer.endObject()
    }

    private func write(_ changes: [RelationshipChange], to writer: inout JSONWriter) {
        writer.beginObject()
        if let moved = changes.first, moved.isMoved {
            writer.key("moved")
            writer.bool(true)
            write("before", moved.before, graphs.before, to: &writer)
            write("after", moved.after, graphs.after, to: &writer)
        } else {
            let (removed, added) = difference(changes)
            write("added", added, graphs.after, to: &writer)
            write("removed", removed, graphs.before, to: &writer)
        }
        writer.endObject()
    }

    /// Returns the members that only one of the moments has. If only one moment has the object, these are all of its members. They are then
    /// in the order of the relationship, if it is ordered; otherwise, they ascend.
    private func difference(_ changes: [RelationshipChange]) -> (removed: [ObjectID], added: [ObjectID]) {
        switch change.kind {
        case .inserted: ([], changes.flatMap(\.after))
        case .deleted: (changes.flatMap(\.before), [])
        case .changed: (changes.flatMap(\.removed), changes.flatMap(\.added))
        }
    }

    private func write(_ key: String, _ ids: [ObjectID], _ graph: Graph, to writer: inout JSONWriter) {
        writer.key(key)
        writer.beginArray()
        for id in ids { writer.string(graph.text(of: id)) }
        writer.endArray()
    }

    // MARK: Output for people

    /// A line for the object, and a line for each property that differs.
    var lines: [String] {
        let sign =
            switch change.kind {
            case .inserted: "+"
            case .deleted: "-"
            case .changed: "~"
            }
        var lines = ["\(sign) \(id)"]
        if change.changesStub { lines.append(isStub(graphs.after) ? "    is now a stub" : "    is no longer a stub") }
        for value in values { lines.append("    \(value.name): \(text(value.before, value.after))") }
        for (name, changes) in members { lines.append("    \(name): \(text(changes))") }
        return lines
    }

    private func text(_ before: Value, _ after: Value) -> String {
        switch change.kind {
        case .inserted: after.text
        case .deleted: before.text
        case .changed: "\(before.text) -> \(after.text)"
        }
    }

    private func text(_ changes: [RelationshipChange]) -> String {
        func list(_ sign: String, _ ids: [ObjectID], _ graph: Graph) -> [String] { ids.map { sign + graph.text(of: $0) } }
        if let moved = changes.first, moved.isMoved {
            return "now in the order " + list("", moved.after, graphs.after).joined(separator: " ")
        }
        let (removed, added) = difference(changes)
        return (list("-", removed, graphs.before) + list("+", added, graphs.after)).joined(separator: " ")
    }
}
