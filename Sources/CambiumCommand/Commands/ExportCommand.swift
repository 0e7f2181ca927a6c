import ArgumentParser
import Cambium

extension ExportOptions.Format: ExpressibleByArgument {}
extension ExportOptions.Reference: ExpressibleByArgument {}
extension ExportOptions.NullValue: ExpressibleByArgument {}
extension ExportOptions.KeyPaths: ExpressibleByArgument {}

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write objects as JSON or CSV, in a stable order.",
        discussion:
            "An export with '--references identity' can be imported into any store with the same schema. An export of that store then "
            + "has the same bytes.")

    @Argument(help: "The store.") var store: String
    @Argument(help: "The entity to export; all entities by default.") var entity: String?
    @Option(help: "Write JSON Lines, one JSON array, or CSV.") var format = ExportOptions.Format.lines
    @Option(help: "Refer to an object by its id in this store, or by its identity, which an import can look up in another store.")
    var references = ExportOptions.Reference.id
    @Flag(help: "Write only the ids, or the identities, of the objects.") var idsOnly = false
    @Option(help: "Write or omit values that are null, in JSON.") var nulls = ExportOptions.NullValue.write
    @Option(help: "Write included to-one objects and paths of a mapping as nested JSON objects, or as flat keys such as country.name.")
    var keyPaths = ExportOptions.KeyPaths.nested
    @Option(help: "Write the rows that an import by this mapping reads (Docs/IMPORT.md). References are then identities.")
    var mapping: String?
    @OptionGroup var include: IncludeOptions
    @OptionGroup var point: PointOptions
    @Flag(help: "Write JSON, as an export does by default.") var json = false

    func validate() throws {
        if entity == nil, mapping == nil, !include.include.isEmpty {
            throw ValidationError("--include needs an entity to start from. Name the entity.")
        }
        if entity == nil, format == .csv { throw ValidationError("CSV has the columns of one entity. Name the entity.") }
        if mapping != nil, format == .csv { throw ValidationError("--mapping is for JSON. Omit --format csv.") }
        if json, format == .csv { throw ValidationError("--json and --format csv exclude each other. Omit one of them.") }
    }

    func run() throws {
        let graph = try point.open(store).graph
        var options = ExportOptions()
        options.mapping = try mapping.map { try ImportMapping(json: try Terminal.contents(of: $0), file: $0) }
        if entity == nil, options.mapping != nil, options.mapping?.entity == nil {
            throw ValidationError("A mapping is for one entity. Name the entity on the command line or in the mapping.")
        }
        let entity = try (self.entity ?? options.mapping?.entity).map { try graph.schema.required($0) }
        options.format = format
        options.references = references
        options.content = idsOnly ? .names : .objects
        options.nulls = nulls
        options.keyPaths = keyPaths
        options.include = try entity.map { try include.tree(from: $0, graph.schema) } ?? IncludeTree(depth: include.depth)
        // On a terminal, the objects themselves show the progress.
        let progress = Terminal.isInteractive ? nil : Progress("export", byteCount: nil)
        try graph.export(entity, options) { bytes in
            Terminal.write(bytes)
            progress?.add(bytes.count)
        }
        progress?.end()
    }
}
