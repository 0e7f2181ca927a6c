import ArgumentParser
import Cambium
import CambiumJSON

struct CloneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clone", abstract: "Copy objects with everything that they own.",
        discussion: Discussion.text(
            "An object owns the targets of a relationship if the inverse is to-one, or if the relationship has no inverse. Targets "
                + "that the object does not own are shared. The schema's userInfo and the options below can state other rules. A "
                + "relationship is named 'name' or 'Entity.name'. Separate several names with commas.",
            examples: "cambium clone notes Note/1 --set id=3", "cambium clone notes Note/1 --exclude memos,Item.tags --plan"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The objects to clone. Each is \(ObjectIdentity.forms).") var ids: [String]
    @OptionGroup(title: "Rules") var rules: CloneRuleOptions
    @Option(
        name: .customLong("set"),
        help: .init("Set an attribute of the copies of the given objects: key=text, or key:=JSON.", valueName: "assignment"))
    var assignments: [AssignmentArgument] = []
    @Option(
        parsing: .unconditional,  // Accepts a minus sign, so that an error can state the negative number.
        help: .init("Refuse a clone of more than this many objects.", valueName: "count"))
    var maxObjects: Int?
    @Flag(help: "Count the objects that would be copied, and write nothing.") var plan = false
    @Option(
        help: .init("Write the old and the new id of each object to this file, as JSON Lines.", valueName: "file"), completion: .file())
    var map: String?
    @OptionGroup(title: "Author and request") var author: AuthorOptions
    @OptionGroup(title: "Lock") var writer: WriterOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if let maxObjects, maxObjects < 1 { throw ValidationError("--max-objects is \(maxObjects), but must be at least 1.") }
        try assignments.checkNames()
        if plan, map != nil { throw ValidationError("--map lists copies, and --plan makes no copies. Omit one of them.") }
    }

    func run() throws {
        let map = try map.map { try CloneMapFile($0) }
        do {
            try (plan ? preview() : clone(map)).print(json: output.json)
        } catch {
            guard let repeated = error.repeatedRequest else { throw error }
            let repetition = try Repetition(store, repeated)
            if let path = self.map { try repetition.writeMap(to: path) }
            repetition.print(json: output.json)
        }
    }

    private func clone(_ map: CloneMapFile?) throws -> CloneReport {
        let committed: (result: Clone, receipt: Receipt)
        let store: Store
        do {
            store = try writer.open(self.store)
            do {
                committed = try store.write(author.author(of: requestParts)) { transaction in
                    let graph = store.graph
                    let clone = try transaction.clone(try objects(graph), try request(graph))
                    try map?.write(clone.map, graph)
                    return clone
                }
            } catch {
                throw store.close(after: error)
            }
        } catch {
            map?.discard()
            throw error
        }
        // The clone is committed now, so its map must be kept even if a later step fails.
        Terminal.report(committed: committed.receipt.transaction)
        let kept = Result { try map?.keep() }
        try store.close()
        try kept.get()
        return CloneReport(committed.result, committed.receipt)
    }

    private func preview() throws -> CloneReport {
        let graph = try ReadOnlyStore(at: store, point: .latest).graph
        try graph.check(author.author(of: requestParts))
        let now = StoreEnvironment.system.now()
        return CloneReport(try graph.previewClone(of: try objects(graph), try request(graph), at: now))
    }

    // MARK: The request

    /// The name and the arguments of the command. The store uses a digest of these texts to recognize a command that is repeated with the
    /// same `--request`.
    private var requestParts: [String] {
        var parts = ["clone"] + ids + rules.requestParts
        if let depth = rules.depth { parts.append("--depth=\(depth)") }
        if let maxObjects { parts.append("--max-objects=\(maxObjects)") }
        parts += assignments.map { "--set=\($0.argument)" } + rules.key.map { "--key=\($0.name)=\($0.text)" }
        return parts
    }

    private func objects(_ graph: Graph) throws -> [ObjectID] {
        try ids.map { try graph.object($0) }
    }

    private func request(_ graph: Graph) throws -> CloneRequest {
        var request = rules.request(objectCountMax: maxObjects)
        let (_, entity) = try graph.schema.object(ids[0], in: graph)
        for assignment in assignments { request.rootValues[assignment.name] = try assignment.resolved(entity).1 }
        return request
    }
}
