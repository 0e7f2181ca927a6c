import ArgumentParser
import Cambium
import CambiumJSON

struct CloneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clone", abstract: "Copy objects with everything that they own.",
        discussion:
            "What an object owns is what it leads to by relationships whose inverse is to-one, or that have none; what others lead to as "
            + "well is shared. Rules in the schema's userInfo and the options below change that. Relationships are named 'name' or "
            + "'Entity.name', several of them separated by commas."
    )

    @Argument(help: "The store.") var store: String
    @Argument(help: "The objects, such as Note/42.") var ids: [String]
    @Option(help: "Relationships that are not copied, at any level.") var exclude: [String] = []
    @Option(help: "Relationships of the objects given that are not copied.") var excludeAtRoot: [String] = []
    @Option(help: "Relationships whose targets are copied.") var copy: [String] = []
    @Option(help: "Relationships whose targets are shared.") var share: [String] = []
    @Option(help: "How many levels below the objects given are copied; else all.") var depth: Int?
    @Option(help: "Copy nothing if it would be more than so many objects.") var maxObjects: Int?
    @Option(name: .customLong("set"), help: "An attribute of the copies of the objects given: key=text, or key:=JSON.")
    var assignments: [AssignmentArgument] = []
    @Option(help: "Another name for a key of userInfo, such as exclude=leaveOut.") var key: [KeyArgument] = []
    @Flag(help: "Only count what would be copied.") var plan = false
    @Option(help: "A file for JSON Lines with the old and the new id of each object.") var map: String?
    @OptionGroup var author: AuthorOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let depth, depth < 0 { throw ValidationError("--depth is 0 or more.") }
        if let maxObjects, maxObjects < 1 { throw ValidationError("--max-objects is 1 or more.") }
        if plan, map != nil { throw ValidationError("--plan makes no copies that --map could tell of.") }
        let named = names(exclude) + names(copy) + names(share)
        if let name = named.first(where: { name in named.count { $0 == name } > 1 && Set(rules(named: name)).count > 1 }) {
            throw ValidationError("'\(name)' is given more than one rule.")
        }
    }

    func run() throws {
        if plan { return try preview() }
        let map = try map.map { try CloneMapFile($0) }
        do {
            try clone(map).tell(json: output.json)
        } catch {
            guard let repeated = (error as? CambiumError)?.underlying as? RepeatedRequest else { throw error }
            try Repetition(store, repeated).tell(json: output.json)
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
        CloneReport(try graph.previewClone(of: try objects(graph), try request(graph))).tell(json: output.json)
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
