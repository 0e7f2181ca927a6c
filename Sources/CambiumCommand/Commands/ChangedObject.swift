import Cambium
import CambiumJSON

/// One object that differs between two moments, as `cambium diff` prints it.
struct ChangedObject {
    private let difference: ObjectDifference
    /// The graphs of the two moments.
    private let graphs: (before: Graph, after: Graph)
    private let id: String

    init(_ change: ObjectChange, from before: Graph, to after: Graph) {
        difference = ObjectDifference(change, after: after)
        graphs = (before, after)
        id = (change.kind == .deleted ? before : after).text(of: change.id)
    }

    var kind: ObjectChange.Kind { difference.kind }

    /// The name of the object, such as `Note/42`.
    var name: String { id }

    /// The name of the concrete entity of the object.
    var entity: String {
        let graph = kind == .deleted ? graphs.before : graphs.after
        return graph.entity(of: difference.id)?.name ?? ""
    }

    /// Whether the object has no difference to show.
    var isUnchanged: Bool { difference.isUnchanged }

    // MARK: Output for programs

    /// One row, such as `{"_id":"Note/42","change":"changed","attributes":{...},"relationships":{...}}`, with the end of its line.
    var row: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        writer.endLine()
        return writer.bytes
    }

    /// Writes the row as a part of a larger JSON text.
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("_id", id)
            writer.member("change", kind.rawValue)
            if difference.changesStub { writeStub(to: &writer) }
            writer.object("attributes") { writer in
                for value in difference.attributes {
                    writer.object(value.name) { writer in
                        writer.member("before", value.before)
                        writer.member("after", value.after)
                    }
                }
            }
            writer.object("relationships") { writer in
                for members in difference.relationships { writer.object(members.name) { write(members, to: &$0) } }
            }
        }
    }

    /// One of the two moments.
    enum Side {
        case before, after
    }

    /// Writes the whole object at a moment, or null if the moment does not have it.
    func writeState(_ side: Side, to writer: inout JSONWriter) {
        let graph = side == .before ? graphs.before : graphs.after
        guard let place = graph.place(of: difference.id) else { return writer.null() }
        ObjectWriter(graph).write(place, to: &writer)
    }

    private func writeStub(to writer: inout JSONWriter) {
        writer.object("_stub") { writer in
            writer.member("before", isStub(graphs.before))
            writer.member("after", isStub(graphs.after))
        }
    }

    private func isStub(_ graph: Graph) -> Bool { graph.place(of: difference.id).map(graph.isStub) ?? false }

    private func write(_ members: MemberDifference, to writer: inout JSONWriter) {
        if let moved = members.moved {
            writer.member("moved", true)
            writer.member("before", moved.before.map(graphs.before.text))
            writer.member("after", moved.after.map(graphs.after.text))
        } else {
            writer.member("added", members.added.map(graphs.after.text))
            writer.member("removed", members.removed.map(graphs.before.text))
        }
    }

    // MARK: Output for people

    /// A line for the object, and a line for each property that differs.
    var lines: [String] {
        let sign =
            switch kind {
            case .inserted: "+"
            case .deleted: "-"
            case .changed: "~"
            }
        let graph = kind == .deleted ? graphs.before : graphs.after
        var lines = ["\(sign) \(graph.title(of: difference.id))"]
        if difference.changesStub { lines.append(isStub(graphs.after) ? "    is now a stub" : "    is no longer a stub") }
        for value in difference.attributes { lines.append("    \(value.name): \(text(value.before, value.after))") }
        for members in difference.relationships { lines.append("    \(members.name): \(text(members))") }
        return lines
    }

    private func text(_ before: Value, _ after: Value) -> String {
        switch kind {
        case .inserted: text(after)
        case .deleted: text(before)
        case .changed: "\(text(before)) -> \(text(after))"
        }
    }

    /// Returns the text of a value. An empty text and the text `null` are quoted, because without quotes they would look like no value.
    private func text(_ value: Value) -> String { value == .null ? value.text : ObjectText.text(.string(value.text)) }

    private func text(_ members: MemberDifference) -> String {
        func list(_ sign: String, _ ids: [ObjectID], _ graph: Graph) -> [String] { ids.map { sign + graph.title(of: $0) } }
        if let moved = members.moved { return "now in the order " + list("", moved.after, graphs.after).joined(separator: " ") }
        return (list("-", members.removed, graphs.before) + list("+", members.added, graphs.after)).joined(separator: " ")
    }
}
