import ArgumentParser
import Cambium
import CambiumJSON

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one object.",
        discussion: Discussion.text(examples: "cambium show notes Note/1 --include items", "cambium show notes Note/1 --at yesterday"))

    @Argument(help: "The store.") var store: String
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

struct FindCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find", abstract: "List the objects of an entity by ascending id.",
        discussion: Discussion.text(examples: "cambium find notes Note --limit 10", "cambium find notes Note --identity 1 --json"))

    @Argument(help: "The store.") var store: String
    @Argument(help: "The entity; its sub-entities are listed, too.") var entity: String
    @OptionGroup(title: "Selection") var selection: FindOptions
    @OptionGroup(title: "Nested objects") var include: IncludeOptions
    @Flag(help: "Print only the number of objects.") var count = false
    @OptionGroup(title: "Moment") var point: PointOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
        let graph = try point.open(store).graph
        let entity = try graph.schema.required(self.entity)
        let tree = try include.tree(from: entity, graph.schema)
        let (limit, offset) = (selection.limit ?? .max, selection.offset ?? 0)
        if count, selection.identity.isEmpty, !selection.stubs { return print(max(0, min(limit, graph.count(of: entity) - offset))) }
        let all =
            selection.identity.isEmpty
            ? AnySequence(graph.objects(of: entity).lazy.compactMap { graph.place(of: $0) })
            : AnySequence(try selection.named(entity, graph))
        let wanted = selection.stubs ? AnySequence(all.lazy.filter(graph.isStub)) : all
        let places = wanted.dropFirst(offset).prefix(limit)
        if count { return print(places.reduce(0) { count, _ in count + 1 }) }
        let objects = ObjectWriter(graph)
        var writer = JSONWriter()
        for place in places {
            writer.removeAll()
            objects.write(place, including: tree, to: &writer)
            if output.json {
                writer.endLine()
                Terminal.write(writer.bytes)
            } else {
                Terminal.print(ObjectText.line(try JSONValue(parsing: writer.bytes)))
            }
        }
    }

    private func print(_ count: Int) { Terminal.print(output.json ? "{\"count\":\(count)}" : Readable.count(count)) }
}

/// The objects that `find` lists.
struct FindOptions: ParsableArguments {
    @Option(
        help: .init(
            "List only the object with this identity. Repeat the option for each attribute of the identity.", valueName: "value"))
    var identity: [String] = []
    @Option(help: .init("List at most this many objects.", valueName: "count")) var limit: Int?
    @Option(help: .init("Skip this many objects at the beginning.", valueName: "count")) var offset: Int?
    @Flag(help: "List only stubs: objects of which only the identity is known.") var stubs = false

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is \(limit), but must be at least 0.") }
        if let offset, offset < 0 { throw ValidationError("--offset is \(offset), but must be at least 0.") }
    }

    /// Returns the object with the identity, if it exists.
    func named(_ entity: Entity, _ graph: Graph) throws -> [ObjectPlace] {
        guard identity.count == entity.identity.count else {
            let names = entity.identity.map(\.name).joined(separator: ", ")
            let rule = names.isEmpty ? "'\(entity.name)' has no identity" : "The identity of '\(entity.name)' consists of \(names)"
            let remedy = names.isEmpty ? "Omit --identity" : "Give one --identity for each attribute"
            throw CambiumError(.unknownName, "\(rule), but --identity has \(Readable.of(identity.count, "value")). \(remedy).")
        }
        var values: [Value] = []
        for (text, attribute) in zip(identity, entity.identity) {
            do throws(ConversionError) {
                values.append(try Value(text: text, type: attribute.type))
            } catch {
                throw CambiumError(.invalidInput, "'\(attribute.name)': \(error.message).")
            }
        }
        return graph.place(entity, identity: values).map { [$0] } ?? []
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
        let width = members.map(\.key.count).max() ?? 0
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

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .array(let elements): elements.isEmpty ? "none" : elements.map(text).joined(separator: " ")
        default: value.text
        }
    }

    private static func shortened(_ text: String, to width: Int) -> String {
        text.count > width ? text.prefix(width - 3) + "..." : text
    }
}

extension JSONValue {
    var isObject: Bool { if case .object = self { true } else { false } }
}
