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
    /// have the same members, the relationship is omitted. A relationship that has only lost its order is omitted, too.
    private let members: [ChangedMembers]

    init(_ change: ObjectChange, of changes: Changes) {
        self.change = change
        graphs = (changes.before, changes.after)
        id = (change.kind == .deleted ? changes.before : changes.after).text(of: change.id)
        values = Self.values(change, changes.after)
        members = Self.members(change, changes.after)
    }

    /// Whether the object has no difference to show. Such an object is listed because a migration has replaced some of its properties with
    /// other properties that have the same names, values and members.
    var isUnchanged: Bool { change.kind == .changed && !change.changesStub && values.isEmpty && members.isEmpty }

    private static func values(_ change: ObjectChange, _ after: Graph) -> [(name: String, before: Value, after: Value)] {
        let entity = change.entity
        var values: [(name: String, before: Value, after: Value)] = []
        var places: [String: Int] = [:]
        var replaced: Set<String> = []
        for attribute in change.attributes {
            let name = attribute.attribute.name
            if let place = places[name] {
                // If a migration replaced an attribute, the changes list the new attribute first. The old attribute of the same name
                // follows, with the earlier value.
                values[place].before = attribute.before
                replaced.insert(name)
                continue
            }
            var later = attribute.after
            if entity.attribute(attribute.attribute.number) == nil, let other = entity.attribute(name) {
                // The changes omit the new attribute if a migration gave it this name and its value is unchanged.
                later = after.value(of: other, of: change.id) ?? .null
                replaced.insert(name)
            }
            places[name] = values.count
            values.append((name, attribute.before, later))
        }
        return values.filter { !replaced.contains($0.name) || $0.before != $0.after }
    }

    private static func members(_ change: ObjectChange, _ after: Graph) -> [ChangedMembers] {
        let entity = change.entity
        var members: [ChangedMembers] = []
        for links in change.relationships {
            let name = links.relationship.name
            if entity.relationship(links.relationship.number) == nil, let other = entity.relationship(name) {
                // The changes list the new relationship first. They omit the new relationship if a migration gave it this name and its
                // members are unchanged.
                let later = after.members(other, of: change.id) ?? []
                let all = ChangedMembers(name, from: links.before, to: later, isOrdered: other.isOrdered)
                if let place = members.firstIndex(where: { $0.name == name }) { members[place] = all } else { members.append(all) }
            } else {
                members.append(ChangedMembers(links, change.kind))
            }
        }
        return members.filter { !$0.isUnchanged }
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
        for members in members {
            writer.key(members.name)
            write(members, to: &writer)
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

    private func write(_ members: ChangedMembers, to writer: inout JSONWriter) {
        writer.beginObject()
        if let moved = members.moved {
            writer.key("moved")
            writer.bool(true)
            write("before", moved.before, graphs.before, to: &writer)
            write("after", moved.after, graphs.after, to: &writer)
        } else {
            write("added", members.added, graphs.after, to: &writer)
            write("removed", members.removed, graphs.before, to: &writer)
        }
        writer.endObject()
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
        let graph = change.kind == .deleted ? graphs.before : graphs.after
        var lines = ["\(sign) \(graph.title(of: change.id))"]
        if change.changesStub { lines.append(isStub(graphs.after) ? "    is now a stub" : "    is no longer a stub") }
        for value in values { lines.append("    \(value.name): \(text(value.before, value.after))") }
        for members in members { lines.append("    \(members.name): \(text(members))") }
        return lines
    }

    private func text(_ before: Value, _ after: Value) -> String {
        switch change.kind {
        case .inserted: text(after)
        case .deleted: text(before)
        case .changed: "\(text(before)) -> \(text(after))"
        }
    }

    /// Returns the text of a value. An empty text and the text `null` are quoted, because without quotes they would look like no value.
    private func text(_ value: Value) -> String { value == .null ? value.text : ObjectText.text(.string(value.text)) }

    private func text(_ members: ChangedMembers) -> String {
        func list(_ sign: String, _ ids: [ObjectID], _ graph: Graph) -> [String] { ids.map { sign + graph.title(of: $0) } }
        if let moved = members.moved { return "now in the order " + list("", moved.after, graphs.after).joined(separator: " ") }
        return (list("-", members.removed, graphs.before) + list("+", members.added, graphs.after)).joined(separator: " ")
    }
}

/// The members that a relationship of an object has at only one of two moments, or the order of its members at both moments.
private struct ChangedMembers {
    let name: String
    let removed: [ObjectID]
    let added: [ObjectID]
    /// The members at both moments, if only their order differs.
    let moved: (before: [ObjectID], after: [ObjectID])?

    /// Creates the change to a relationship that no other relationship has replaced. If only one of the moments has the object, all members
    /// are listed: in stored order if the relationship is ordered, otherwise in ascending order.
    init(_ change: RelationshipChange, _ kind: ObjectChange.Kind) {
        name = change.relationship.name
        switch kind {
        case .inserted: (removed, added) = ([], change.after)
        case .deleted: (removed, added) = (change.before, [])
        case .changed: (removed, added) = (change.removed, change.added)
        }
        // If a migration has made a relationship unordered, its members have lost their order.
        moved = change.isMoved && change.relationship.isOrdered ? (before: change.before, after: change.after) : nil
    }

    /// Creates the change from the members of a relationship to the members of its replacement, which has the same name.
    init(_ name: String, from before: [ObjectID], to after: [ObjectID], isOrdered: Bool) {
        self.name = name
        let (old, new) = (Set(before), Set(after))
        removed = before.filter { !new.contains($0) }.sorted()
        added = after.filter { !old.contains($0) }.sorted()
        moved = isOrdered && old == new && before != after ? (before: before, after: after) : nil
    }

    var isUnchanged: Bool { removed.isEmpty && added.isEmpty && moved == nil }
}
