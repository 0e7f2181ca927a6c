import ArgumentParser
import Cambium
import CambiumJSON

struct WalkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "walk", abstract: "Follow relationships from an object, or find a shortest path.",
        discussion: Discussion.text(
            """
            The walk starts at an object and follows the relationships in their own direction, each as often as possible. Objects are \
            printed by their distance from the start, and then by id. To walk in the other direction, name the inverse relationships. \
            With --where, the walk visits only objects that satisfy the condition. The start and the object of --to are not tested.
            """,
            examples: "cambium walk notes Note/1 items tags --depth 2", "cambium walk notes Note/1 items tags --to Tag/7 --json"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The object from which the walk starts: \(ObjectIdentity.forms).") var id: String
    @Argument(
        help: .init("The relationships to follow. A name applies to every entity that has it.", valueName: "relationship"),
        completion: .custom(NameCompletion.relationships))
    var relationships: [String]
    @OptionGroup(title: "Walk") var rules: WalkOptions
    @OptionGroup(title: "Condition") var filter: FilterOptions
    @OptionGroup(title: "Moment") var point: PointOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
        let graph = try point.open(store).graph
        let start = try graph.object(id)
        let walk = try graph.walk(along: relationships)
        let filter = try filter.filter(graph, among: walk.reachedEntities)?.holds
        let rows = WalkRows(graph, output)
        if let to = rules.to {
            let end = try graph.object(to)
            guard let path = try walk.path(from: start, to: end, within: rules.depth, where: filter) else {
                return try reportNoPath(to: to)
            }
            for (distance, id) in path.enumerated() { try rows.write(id, distance: distance) }
            return
        }
        let found = try walk.objects(from: [start], within: rules.depth, where: filter)
        for distance in 0...found.distanceMax {
            for id in found.ids(at: distance) { try rows.write(id, distance: distance) }
        }
    }

    private func reportNoPath(to end: String) throws {
        let names = relationships.joined(separator: ", ")
        let limit = rules.depth.map { " of at most \(Readable.of($0, "step"))" } ?? ""
        var remedy = "Name more relationships"
        if rules.depth != nil { remedy += ", or raise --depth" }
        if filter.isUsed { remedy += ", or widen --where" }
        Terminal.error("cambium: No path\(limit) along \(names) leads from \(id) to \(end). \(remedy).")
        throw ExitCode(Failure.badNews)
    }
}

/// The options that limit a walk.
struct WalkOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,  // Accepts a minus sign, so that an error can state the negative number.
        help: .init("Follow at most this many links from the start.", valueName: "count"))
    var depth: Int?
    @Option(help: .init("Print only the objects on a shortest path to this object.", valueName: "id")) var to: String?

    func validate() throws {
        if let depth, depth < 0 { throw ValidationError("--depth is \(depth), but must be at least 0.") }
    }
}

/// Prints the objects of a walk, one on each line.
private struct WalkRows {
    private let graph: Graph
    private let output: OutputOptions
    private let objects: ObjectWriter

    init(_ graph: Graph, _ output: OutputOptions) {
        (self.graph, self.output) = (graph, output)
        objects = ObjectWriter(graph)
    }

    func write(_ id: ObjectID, distance: Int) throws {
        guard let place = graph.place(of: id) else { return }
        if output.json { return Terminal.printJSON { objects.write(place, distance: distance, to: &$0) } }
        var writer = JSONWriter()
        objects.write(place, to: &writer)
        Terminal.print(ObjectText.line(try JSONValue(parsing: writer.bytes), after: "\(distance)  "))
    }
}
