import ArgumentParser
import Cambium
import CambiumJSON

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one object.",
        discussion: Discussion.text(examples: "cambium show notes Note/1 --include items", "cambium show notes Note/1 --at yesterday"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The object: \(ObjectIdentity.forms).") var id: String
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
        ObjectText.print(try JSONValue(parsing: writer.bytes))
        if let source = graph.source(of: graph.id(of: place)) {
            Terminal.print("a copy of \(graph.text(of: source)), made in transaction \(graph.provenance(of: place).created)")
        }
    }
}

/// Objects in a form for human readers.
enum ObjectText {
    /// The number of columns of a value in a line on a terminal.
    private static let valueWidthMax = 40

    /// Returns one line with the id of an object, and its attributes and relationships that have a value.
    ///
    /// - Parameters:
    ///   - start: The text before the id.
    ///   - end: The text after the object. The object is cut so that this text fits.
    ///   - width: The number of columns of the terminal, to which the line is cut. `nil` for the whole line, because another program may
    ///     read it.
    static func line(_ object: JSONValue, after start: String = "", before end: String = "", width: Int? = Terminal.width) -> String {
        guard case .object(let members) = object, let id = members.first else { return start + object.text + end }
        let rest = members.dropFirst().filter { $0.value != .null && $0.value != .array([]) }
        let texts = rest.map { "\($0.key): \(cut(text($0.value), to: width.map { min($0, valueWidthMax) }))" }
        return cut("\(start)\(text(id.value))  " + texts.joined(separator: "  "), to: width.map { max(0, $0 - end.columnCount) }) + end
    }

    /// Control characters are escaped before the cut, because their escapes take more columns.
    static func cut(_ text: String, to width: Int?) -> String {
        width.map { TextTable.cut(ControlText.escaped(text), to: $0) } ?? text
    }

    /// Prints a line for each attribute and relationship. Nested objects are indented.
    ///
    /// - Parameter memberCountMax: The maximum number of members to show for each relationship of the object.
    static func print(_ object: JSONValue, indent: String = "", memberCountMax: Int = .max) {
        guard case .object(let members) = object else { return Terminal.print(indent + text(object)) }
        let width = members.map(\.key.columnCount).max() ?? 0
        for member in members {
            let key = indent + member.key.padded(to: width)
            if case .array(let elements) = member.value, elements.contains(where: \.isObject) {
                Terminal.print(key)
                for element in elements.prefix(memberCountMax) { print(element, indent: indent + "    ") }
                if let rest = omitted(elements, memberCountMax) { Terminal.print(indent + "    " + rest) }
            } else if member.value.isObject {
                Terminal.print(key)
                print(member.value, indent: indent + "    ")
            } else {
                Terminal.print("\(key)  \(text(member.value, memberCountMax: memberCountMax))")
            }
        }
    }

    /// Returns a value on one line. A text is quoted if it is empty, or if it would read as null, as a quoted text, or as several elements
    /// of a list.
    static func text(_ value: JSONValue, memberCountMax: Int = .max) -> String {
        switch value {
        case .string(let text): text.isEmpty || text == "null" || text.hasPrefix("\"") ? value.text : text
        case .array(let elements) where elements.isEmpty: "none"
        case .array(let elements) where !elements.contains(where: \.isArray):
            (elements.prefix(memberCountMax).map(element) + [omitted(elements, memberCountMax)].compactMap(\.self)).joined(separator: " ")
        default: value.text
        }
    }

    private static func element(_ value: JSONValue) -> String {
        guard case .string(let text) = value else { return Self.text(value) }
        return text == "none" || text.contains(where: \.isWhitespace) ? value.text : Self.text(value)
    }

    /// Returns the number of elements that are not shown, as text; `nil` if all are shown.
    private static func omitted(_ elements: [JSONValue], _ countMax: Int) -> String? {
        elements.count > countMax ? "and \(Readable.count(elements.count - countMax)) more" : nil
    }
}

extension JSONValue {
    var isObject: Bool { if case .object = self { true } else { false } }
    fileprivate var isArray: Bool { if case .array = self { true } else { false } }
}
