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
            "What is exported with '--references identity' can be imported into any store of the same schema, and exported again: "
            + "that gives the same bytes.")

    @Argument(help: "The store.") var store: String
    @Argument(help: "The entity; all of them where none is given.") var entity: String?
    @Option(help: "JSON Lines, one JSON array, or CSV.") var format = ExportOptions.Format.lines
    @Option(help: "What stands for an object: its id in this store, or the identity that imports find it by.")
    var references = ExportOptions.Reference.id
    @Flag(help: "Only the ids, or identities, of the objects.") var idsOnly = false
    @Option(help: "What becomes of null in JSON.") var nulls = ExportOptions.NullValue.write
    @Option(help: "How included to-one objects, and the paths of a mapping, nest in JSON: as objects, or as keys such as country.name.")
    var keyPaths = ExportOptions.KeyPaths.nested
    @Option(help: "Write the rows that an import by this mapping reads (Docs/IMPORT.md); references are identities then.")
    var mapping: String?
    @OptionGroup var include: IncludeOptions
    @OptionGroup var point: PointOptions
    @Flag(help: "JSON Lines, which an export is anyway where no format is given.") var json = false

    func validate() throws {
        if entity == nil, mapping == nil, !include.include.isEmpty { throw ValidationError("--include needs an entity to begin at.") }
        if entity == nil, format == .csv { throw ValidationError("CSV has the columns of one entity; name it.") }
        if mapping != nil, format == .csv { throw ValidationError("--mapping is for JSON; leave --format csv out.") }
        if json, format == .csv { throw ValidationError("--json and --format csv exclude each other.") }
    }

    func run() throws {
        let graph = try point.open(store).graph
        var options = ExportOptions()
        options.mapping = try mapping.map { try ImportMapping(json: try Terminal.contents(of: $0), file: $0) }
        if entity == nil, options.mapping != nil, options.mapping?.entity == nil {
            throw ValidationError("A mapping is for one entity; name it, or have the mapping name it.")
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
