import ArgumentParser
import Cambium
import CambiumJSON

struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON for programs: one object, or one object per line.")
    var json = false
}

struct AuthorOptions: ParsableArguments {
    @Option(help: .init("Record this author of the change in the log.", valueName: "name"))
    var actor: String?

    @Option(help: .init("Record this reason for the change in the log.", valueName: "text"))
    var message: String?

    @Option(
        help: .init(
            "Identify this command by a key. Repeating it with the same key returns the first result and changes nothing.",
            valueName: "key"))
    var request: String?

    /// The first of these options that the command line contains, such as `--actor`; `nil` if it contains none of them.
    var firstOption: String? {
        [("--actor", actor), ("--message", message), ("--request", request)].first { $0.1 != nil }?.0
    }

    /// Returns the author of a command. If `--request` is given, the author contains a digest of `parts`. The store recognizes a repeated
    /// command by this digest. The parts are the name of the command and its arguments, without the store, `--actor`, `--message` and
    /// options of the output.
    func author(of parts: [String]) -> Author {
        Author(actor: actor, message: message, requestID: request, requestParts: request.map { _ in parts })
    }
}

/// The way in which a command that writes gets the lock of the store.
struct WriterOptions: ParsableArguments {
    /// The maximum number of seconds to wait: a day.
    private static let secondCountMax = 86_400

    @Option(
        parsing: .unconditional,  // Accepts a minus sign, so that an error can state the negative number.
        help: .init("Wait this long for another process that has the store open for writing.", valueName: "seconds"))
    var wait: Int?

    func validate() throws {
        if let wait, !(0...Self.secondCountMax).contains(wait) {
            throw ValidationError("--wait is \(wait), but must be between 0 and \(Self.secondCountMax).")
        }
    }

    private var limit: Duration { .seconds(wait ?? 0) }

    func open(_ path: String) throws -> Store { try explaining { try Store.open(at: path, waitingUpTo: limit) } }

    func apply(from source: String, to target: String) throws -> ApplyReport {
        try explaining { try Store.apply(from: source, to: target, waitingUpTo: limit) }
    }

    /// Adds the ways out to the error of a store that another process has open.
    private func explaining<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch var error as CambiumError where error.code == .locked {
            error.details += [
                "The command line cannot write while a daemon has the store open; it can read. Docs/Guides/Daemon.md (\"Commands beside "
                    + "a daemon\") shows how a daemon writes for others.",
                wait == nil
                    ? "If the other process ends soon, repeat the command with --wait SECONDS."
                    : "The command has waited for \(Readable.of(wait ?? 0, "second")).",
            ]
            throw error
        }
    }
}

struct PointOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,  // Accepts a minus sign, so that an error can state the wrong moment.
        help: .init("Read this moment: \(Moment.forms).", discussion: Moment.rules, valueName: "moment"))
    var at: Moment?

    func open(_ path: String) throws -> ReadOnlyStore { try ReadOnlyStore(at: path, point: at?.point() ?? .latest) }
}

struct IncludeOptions: ParsableArguments {
    @Option(
        help: .init(
            "Nest the targets of these relationships, such as items.tags. Repeat the option, or separate several with commas.",
            valueName: "path"))
    var include: [String] = []

    @Option(
        parsing: .unconditional,  // Accepts a minus sign, so that an error can state the negative number.
        help: .init("Nest the targets of all relationships, this many levels deep.", valueName: "count"))
    var depth: Int?

    /// The paths to include. An empty text names no path, so that a script can pass an empty list.
    var paths: [String] { NameList.names(in: include) }

    var isUsed: Bool { !paths.isEmpty || depth != nil }

    /// The number of levels of nested objects; 0 without `--depth`.
    var depthCount: Int { depth ?? 0 }

    func validate() throws {
        if let depth, !(0...IncludeTree.depthMax).contains(depth) {
            throw ValidationError("--depth is \(depth), but must be between 0 and \(IncludeTree.depthMax).")
        }
    }

    func tree(from entity: Entity, _ schema: Schema) throws -> IncludeTree {
        try IncludeTree(paths, from: entity, schema, depth: depthCount)
    }
}

/// An assignment such as `title=Paris` or `done:=true`.
struct AssignmentArgument: ExpressibleByArgument {
    let name: String
    let text: String
    let isJSON: Bool

    /// The rules for assignments, for help texts.
    static let rules =
        "key=text converts the text to the type of the attribute, and key:=JSON takes any JSON value, such as null. As the text of a date, "
        + "a day such as 2026-01-31 means its beginning in UTC."

    /// The original argument.
    var argument: String { name + (isJSON ? ":=" : "=") + text }

    init?(argument: String) {
        // A combining mark after the equals sign forms one `Character` with it, so the sign is found as a code point.
        let scalars = argument.unicodeScalars
        guard let equals = scalars.firstIndex(of: "=") else { return nil }
        let key = scalars[..<equals]
        isJSON = key.last == ":"
        name = String(isJSON ? key.dropLast() : key)
        text = String(scalars[equals...].dropFirst())
        if name.isEmpty { return nil }
    }

    /// Returns the objects to which a relationship of a new object leads. The text contains the ids, separated by commas or as JSON.
    func targets(_ relationship: Relationship, in graph: Graph) throws(CambiumError) -> [ObjectID] {
        var ids: [String] = []
        if isJSON {
            ids = try idsInJSON(relationship)
        } else {
            ids = ObjectIdentity.split(text, graph.schema)
        }
        if ids.count > 1, !relationship.isToMany { throw oneID }
        var targets: [ObjectID] = []
        for id in ids { targets.append(try graph.object(id)) }
        return targets
    }

    private var oneID: CambiumError {
        CambiumError(.invalidInput, "'\(name)' is a relationship to one object. Write one id, such as '\(name)=Note/1'.")
    }

    /// Returns the ids in the JSON form of a relationship: an id, an array of ids, or null. As in an import, a null in an array is omitted.
    private func idsInJSON(_ relationship: Relationship) throws(CambiumError) -> [String] {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: text.utf8)
        } catch {
            throw CambiumError(
                .invalidInput, "'\(name)': \(Excerpt.quoted(text)) is not JSON: \(error.message), at column \(error.column).")
        }
        var elements = [json]
        if case .array(let own) = json {
            guard relationship.isToMany else { throw oneID }
            elements = own
        }
        var ids: [String] = []
        for element in elements where element != .null {
            guard case .string(let id) = element else {
                let problem = "'\(name)' is a relationship. Its JSON has ids such as \"Note/1\", but found \(Excerpt.described(element))."
                throw CambiumError(.invalidInput, "\(problem) Write ids or null.")
            }
            ids.append(id)
        }
        return ids
    }

    /// Returns the attribute that the assignment names, and the value that it assigns.
    func resolved(_ entity: Entity) throws(CambiumError) -> (Attribute, Value) {
        if entity.relationship(name) != nil {
            throw CambiumError(.unknownName, "'\(name)' is a relationship. Use 'cambium link'.")
        }
        let attribute = try entity.requiredAttribute(name)
        do {
            return (attribute, isJSON ? try Value(jsonText: text, type: attribute.type) : try Value(written: text, type: attribute.type))
        } catch {
            throw CambiumError(.invalidInput, "'\(name)': \(error.message).")
        }
    }
}

extension Entity {
    /// Returns the relationship that a command such as `link` names. If the name is that of an attribute, the error names the command that
    /// sets attributes.
    func linkedRelationship(_ name: String) throws(CambiumError) -> Relationship {
        if let attribute = attribute(name), !attribute.isDerived {
            throw CambiumError(.unknownName, "'\(name)' is an attribute. Use 'cambium set'.")
        }
        return try requiredRelationship(name)
    }
}

extension [AssignmentArgument] {
    /// Returns the values that the assignments give to the parameters of a condition.
    func operands() throws(CambiumError) -> [String: Operand] {
        var operands: [String: Operand] = [:]
        for assignment in self { operands[assignment.name] = try assignment.operand() }
        return operands
    }

    /// Checks that no two assignments have the same name, because only one of them could take effect.
    func checkNames() throws(ValidationError) {
        var names: Set<String> = []
        for assignment in self where !names.insert(assignment.name).inserted {
            throw ValidationError("'\(Excerpt.plain(assignment.name))' is given twice. Give it once.")
        }
    }
}

extension Graph {
    /// Returns the id of the object that a text names, as `Schema.object(_:in:)` does.
    func object(_ text: String) throws(CambiumError) -> ObjectID { id(of: try schema.object(text, in: self).place) }
}

extension Schema {
    /// Returns the object with an id such as `Note/42`, or with an identity such as `Issue:CORE,17`. Throws if the graph has no such
    /// object.
    func object(_ text: String, in graph: Graph) throws(CambiumError) -> (place: ObjectPlace, entity: Entity) {
        if let identity = try ObjectIdentity(parsing: text, self) {
            let place = try identity.place(in: graph)
            return (place, graph.entity(of: place))
        }
        let (id, named) = try self.parsedID(text)
        guard let place = graph.place(of: id) else {
            if !graph.hasAssigned(id) { throw Self.missing(text) }
            throw CambiumError(
                .notFound,
                "There is no object \(text). It may have been deleted: 'cambium history STORE \(text)' shows its changes.")
        }
        let entity = graph.entity(of: place)
        if named.family.contains(entity.number) { return (place, entity) }
        throw CambiumError(.notFound, "There is no object \(text). Write \(graph.text(of: id)) for the object of this number.")
    }

    private static func missing(_ id: String) -> CambiumError {
        CambiumError(.notFound, "There is no object \(Excerpt.plain(id)). 'cambium find' lists the objects of an entity.")
    }

    func parsedID(_ text: String) throws(CambiumError) -> (ObjectID, Entity) {
        guard let found = id(text) else {
            var (named, value): (Entity?, Substring) = (nil, text[...])
            if let slash = text.firstIndex(of: "/"), slash > text.startIndex {
                named = try required(String(text[..<slash]))
                // Even a serial that is too large for any object is part of an id, so the error states that there is no such object.
                value = text[text.index(after: slash)...]
                if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { throw Self.missing(text) }
            }
            let problem = "'\(Excerpt.plain(text))' is not an id. An id has the form 'Note/42', and an identity the form 'Note:7'."
            throw CambiumError(.notFound, "\(problem) Find the id with: \(Self.search(named, String(value)))")
        }
        return (found.id, found.entity)
    }

    /// Returns the command that finds an object by its identity, or that lists all objects if the identity is not one value.
    ///
    /// - Parameter value: The text that was given for an id. It may be the value of the identity.
    private static func search(_ entity: Entity?, _ value: String) -> String {
        let command = "cambium find STORE \(entity?.name ?? "ENTITY")"
        if let entity, entity.identityValues.count != 1 { return command }
        // If a message must shorten or escape the value, a command with the changed value would fail.
        let isPlain = !value.isEmpty && Excerpt.plain(value) == value
        return "\(command) --identity \(isPlain ? ShellWord.quoted(value) : "VALUE")"
    }
}
