import ArgumentParser
import Cambium
import CambiumJSON

struct CloneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clone", abstract: "Copy objects with everything that they own.",
        discussion:
            "An object owns the targets of its relationships whose inverse is to-one, or that have no inverse. The targets of other "
            + "relationships are shared. Rules in the schema's userInfo and the options below change that. A relationship is named "
            + "'name' or 'Entity.name'. Separate several names with commas."
    )

    @Argument(help: "The store.") var store: String
    @Argument(help: "The objects to clone, such as Note/42.") var ids: [String]
    @Option(help: "Skip these relationships at every level.") var exclude: [String] = []
    @Option(help: "Skip these relationships of the given objects only.") var excludeAtRoot: [String] = []
    @Option(help: "Copy the targets of these relationships.") var copy: [String] = []
    @Option(help: "Share the targets of these relationships.") var share: [String] = []
    @Option(help: "Copy at most this many levels below the given objects.") var depth: Int?
    @Option(help: "Refuse a clone of more than this many objects.") var maxObjects: Int?
    @Option(name: .customLong("set"), help: "Set an attribute of the copies of the given objects: key=text, or key:=JSON.")
    var assignments: [AssignmentArgument] = []
    @Option(help: "Use another name for a key of userInfo, such as exclude=leaveOut.") var key: [KeyArgument] = []
    @Flag(help: "Count the objects that would be copied, and write nothing.") var plan = false
    @Option(help: "Write the old and the new id of each object to this file, as JSON Lines.") var map: String?
    @OptionGroup var author: AuthorOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let depth, depth < 0 { throw ValidationError("--depth must be at least 0.") }
        if let maxObjects, maxObjects < 1 { throw ValidationError("--max-objects must be at least 1.") }
        if plan, map != nil { throw ValidationError("--map lists copies, and --plan makes no copies. Omit one of them.") }
        let named = names(exclude) + names(copy) + names(share)
        if let name = named.first(where: { name in named.count { $0 == name } > 1 && Set(rules(named: name)).count > 1 }) {
            throw ValidationError("'\(name)' has more than one rule. Name it in one of --exclude, --copy and --share only.")
        }
    }

    func run() throws {
        if plan { return try preview() }
        let map = try map.map { try CloneMapFile($0) }
        do {
            try clone(map).print(json: output.json)
        } catch {
            guard let repeated = (error as? CambiumError)?.underlying as? RepeatedRequest else { throw error }
            try Repetition(store, repeated).print(json: output.json)
        }
    }

    private func clone(_ map: CloneMapFile?) throws -> CloneReport {
        let committed: (result: Clone, receipt: Receipt)
        let store: Store
        do {
            store = try Store.open(at: self.store)
            do {
                committed = try store.write(author.author(of: requestParts)) { transaction in
                    let graph = store.graph
                    let clone = try transaction.clone(try objects(graph), try request(graph))
                    try map?.write(clone.map, graph)
                    return clone
                }
            } catch {
                try store.close()
                throw error
            }
        } catch {
            map?.discard()
            throw error
        }
        // After this point the clone is committed, so its map must be kept even if a later step fails.
        Terminal.note(committed: committed.receipt.transaction)
        let kept = Result { try map?.keep() }
        try store.close()
        try kept.get()
        return CloneReport(committed.result, committed.receipt)
    }

    private func preview() throws {
        let graph = try ReadOnlyStore(at: store, point: .latest).graph
        CloneReport(try graph.previewClone(of: try objects(graph), try request(graph))).print(json: output.json)
    }

    // MARK: The request

    /// The parts of the request that its digest covers.
    private var requestParts: [String] {
        let lists = [("exclude", exclude), ("exclude-at-root", excludeAtRoot), ("copy", copy), ("share", share)]
        var parts = ["clone"] + ids
        for (name, texts) in lists { parts += names(texts).map { "--\(name)=\($0)" } }
        if let depth { parts.append("--depth=\(depth)") }
        if let maxObjects { parts.append("--max-objects=\(maxObjects)") }
        parts += assignments.map { "--set=\($0.argument)" } + key.map { "--key=\($0.name)=\($0.text)" }
        return parts
    }

    private func names(_ texts: [String]) -> [String] { texts.flatMap { $0.split(separator: ",").map(String.init) } }

    private func rules(named name: String) -> [CloneRule] {
        [(exclude, CloneRule.skip), (copy, .copy), (share, .share)].filter { names($0.0).contains(name) }.map(\.1)
    }

    private func objects(_ graph: Graph) throws -> [ObjectID] {
        try ids.map { graph.id(of: try graph.schema.object($0, in: graph).place) }
    }

    private func request(_ graph: Graph) throws -> CloneRequest {
        var request = CloneRequest(
            excluding: names(exclude), excludedAtRoot: names(excludeAtRoot), depth: depth, objectCountMax: maxObjects)
        for name in names(copy) { request.rules[name] = .copy }
        for name in names(share) { request.rules[name] = .share }
        for key in key { request.keys[keyPath: key.path] = key.text }
        let (_, entity) = try graph.schema.object(ids[0], in: graph)
        for assignment in assignments { request.rootValues[assignment.name] = try assignment.resolved(entity).1 }
        return request
    }
}

/// Another name for one of the keys of a clone, such as `exclude=leaveOut`.
struct KeyArgument: ExpressibleByArgument {
    let name: String
    let text: String

    init?(argument: String) {
        guard let equals = argument.firstIndex(of: "=") else { return nil }
        name = String(argument[..<equals])
        text = String(argument[argument.index(after: equals)...])
        guard Self.paths[name] != nil, !text.isEmpty else { return nil }
    }

    var path: WritableKeyPath<CloneKeys, String> { Self.paths[name] ?? \.exclude }

    private static var paths: [String: WritableKeyPath<CloneKeys, String>] {
        ["exclude": \.exclude, "rebuild": \.rebuild, "followParent": \.followParent, "withoutParent": \.withoutParent]
    }
}
