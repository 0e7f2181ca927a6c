import ArgumentParser
import Cambium
import CambiumJSON

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one object.",
        discussion: Discussion.text(examples: "cambium show notes Note/1 --include items", "cambium show notes Note/1 --at yesterday"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The object, such as Note/42.") var id: String
    @OptionGroup(title: "Nested objects") var include: IncludeOptions
    @OptionGroup(title: "Moment") var point: PointOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
        let graph = try point.open(store).graph
        let (place, entity) = try graph.schema.object(id, in: graph)
        let tree = try include.tree(from: entity, graph.schema)
        var writer = JSONWriter()
        ObjectWriter(graph).write(place, including: tree, to: &writer)
        if output.json { return Terminal.print(writer.text) }
        ObjectText.print(try JSONValue(parsing: writer.bytes), indent: "")
        if let source = graph.source(of: graph.id(of: place)) {
            Terminal.print("a copy of \(graph.text(of: source)), made in transaction \(graph.provenance(of: place).created)")
        }
    }
}

/// Objects in a form for human readers.
enum ObjectText {
    /// Returns one line with the id and the attributes that fit into it.
    static func line(_ object: JSONValue) -> String {
        guard case .object(let members) = object, let id = members.first else { return object.text }
        let rest = members.dropFirst().filter { $0.value != .null && $0.value != .array([]) }
        let texts = rest.map { "\($0.key): \(shortened(text($0.value), to: 40))" }
        return shortened("\(text(id.value))  " + texts.joined(separator: "  "), to: 160)
    }

    /// Prints a line for each attribute and relationship. Nested objects are indented.
    static func print(_ object: JSONValue, indent: String) {
        guard case .object(let members) = object else { return Terminal.print(indent + text(object)) }
        let width = members.map(\.key.columnCount).max() ?? 0
        for member in members {
            let key = indent + member.key.padded(to: width)
            if case .array(let elements) = member.value, elements.contains(where: \.isObject) {
                Terminal.print(key)
                for element in elements { print(element, indent: indent + "    ") }
            } else if member.value.isObject {
                Terminal.print(key)
                print(member.value, indent: indent + "    ")
            } else {
                Terminal.print("\(key)  \(text(member.value))")
            }
        }
    }

    static func text(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .array(let elements) where !elements.contains(where: \.isArray):
            elements.isEmpty ? "none" : elements.map(text).joined(separator: " ")
        default: value.text
        }
    }

    private static func shortened(_ text: String, to width: Int) -> String {
        text.count > width ? text.prefix(width - 3) + "..." : text
    }
}

extension JSONValue {
    var isObject: Bool { if case .object = self { true } else { false } }
    fileprivate var isArray: Bool { if case .array = self { true } else { false } }
}
