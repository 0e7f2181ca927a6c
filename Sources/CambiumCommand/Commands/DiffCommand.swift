import ArgumentParser
import Cambium

struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show the changes between two moments.",
        discussion: Discussion.text(
            "A moment is \(Moment.forms). \(Moment.rules) An object passes --where if it satisfies the condition at one of the moments. "
                + "In the output for people, + marks an inserted object, - a deleted one, and ~ a changed one. --json prints one line for "
                + "each object.",
            examples: "cambium diff notes yesterday", "cambium diff notes label:before-the-move 9 --entity Note"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The moment before the changes.") var from: Moment
    @Argument(help: "The moment after the changes; the newest one by default.") var to: Moment?
    @Option(
        help: .init("Show only objects of this entity and of its sub-entities.", valueName: "name"),
        completion: .custom(NameCompletion.entities))
    var entity: String?
    @OptionGroup(title: "Condition") var filter: FilterOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
        // The same `EarlierGraphs` makes both graphs, so the second graph needs only a replay of the log between the two moments.
        let past = EarlierGraphs(of: store)
        let before = try past.graph(at: from.point())
        let after = try past.graph(at: to?.point() ?? .latest)
        let family = try family(before, after)
        let filters = try filters(before, after, family)
        let changes = after.changes(since: before)
        var counts: [ObjectChange.Kind: Int] = [:]
        // On a terminal, the printed changes already show the progress.
        let progress = Terminal.isInteractive ? nil : Progress("diff", byteCount: nil)
        for change in changes where family?.contains(change.entity.number) ?? true {
            guard filters.isEmpty || filters.contains(where: { $0.holds(change.id) }) else { continue }
            let object = ChangedObject(change, from: before, to: after)
            if object.isUnchanged { continue }
            counts[change.kind, default: 0] += 1
            let byteCount = show(object)
            progress?.add(byteCount)
        }
        progress?.end()
        if !output.json { printSummary(changes, counts) }
    }

    /// Prints an object. Returns the number of printed bytes, for the progress line. Without `--json`, the number is approximate: it does
    /// not include line ends and escapes.
    private func show(_ object: ChangedObject) -> Int {
        if output.json {
            let row = object.row
            Terminal.write(row)
            return row.count
        }
        return object.lines.reduce(0) { count, line in
            Terminal.print(line)
            return count + line.utf8.count
        }
    }

    /// Returns the numbers of the entities whose objects are shown, or `nil` for all entities. Throws `.unknownName` if neither moment has
    /// the entity.
    private func family(_ before: Graph, _ after: Graph) throws -> Set<EntityNumber>? {
        guard let entity else { return nil }
        let families = [before, after].compactMap { $0.schema.entity(entity)?.family }
        return try families.isEmpty ? after.schema.required(entity).family : families.reduce([]) { $0.union($1) }
    }

    /// Returns the condition of `--where` for each of the two moments. Omits a moment if the condition does not fit its schema. Returns an
    /// empty array if there is no condition. Throws if the condition fits neither schema.
    private func filters(_ before: Graph, _ after: Graph, _ family: Set<EntityNumber>?) throws -> [ChangeFilter] {
        var (filters, failure): ([ChangeFilter], CambiumError?) = ([], nil)
        for graph in [before, after] {
            let entities = graph.schema.entities.filter { family?.contains($0.number) ?? true }
            if entities.isEmpty { continue }
            do {
                if let filter = try filter.filter(graph, among: entities) { filters.append(ChangeFilter(graph: graph, filter: filter)) }
            } catch let error as CambiumError {
                failure = error
            }
        }
        if filters.isEmpty, let failure { throw failure }
        return filters
    }

    private func printSummary(_ changes: Changes, _ counts: [ObjectChange.Kind: Int]) {
        if changes.changesSchema { Terminal.print("The schema differs.") }
        for label in changes.labels { Terminal.print("The \(AuditText.line(label)).") }
        let parts = [ObjectChange.Kind.inserted, .deleted, .changed].map { "\(Readable.count(counts[$0] ?? 0)) \($0.rawValue)" }
        Terminal.print(parts.joined(separator: ", "))
    }
}

/// A condition on the objects of one moment.
private struct ChangeFilter {
    let graph: Graph
    let filter: ObjectFilter

    func holds(_ id: ObjectID) -> Bool { graph.place(of: id).map(filter.holds) ?? false }
}
