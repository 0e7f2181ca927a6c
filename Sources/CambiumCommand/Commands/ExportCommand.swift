import ArgumentParser
import Cambium

extension ExportOptions.Format: ExpressibleByArgument {}
extension ExportOptions.Reference: ExpressibleByArgument {}
extension ExportOptions.NullValue: ExpressibleByArgument {}
extension ExportOptions.KeyPaths: ExpressibleByArgument {}

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write objects as JSON or CSV, in a stable order.",
        discussion: Discussion.text(
            "An export with '--references identity' can be imported into any store with the same schema. The same export of that "
                + "store then writes the same bytes. A reference cannot create an object of a sub-entity, or with several identity "
                + "attributes, if the object needs other mandatory values. Import such objects first (Docs/Use/CSV.md). "
                + "The condition of --where selects the rows. Nested objects and references need not satisfy it.",
            examples: "cambium export notes --references identity", "cambium export notes Note --format csv --at 2026-11-21",
            "cambium export notes Note --where 'id > 7' --references identity"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The entity to export; all entities by default.", completion: .custom(NameCompletion.entities))
    var entity: String?
    @OptionGroup(title: "Condition") var filter: FilterOptions
    @OptionGroup(title: "Form of the objects") var form: ExportFormOptions
    @OptionGroup(title: "Nested objects") var include: IncludeOptions
    @OptionGroup(title: "Moment") var point: PointOptions
    @OptionGroup(title: "Output") var output: ExportOutputOptions

    func validate() throws {
        if entity == nil, form.mapping == nil, !include.paths.isEmpty {
            throw ValidationError("--include needs an entity to start from. Name the entity.")
        }
        if entity == nil, output.format == .csv { throw ValidationError("CSV contains the columns of one entity. Name the entity.") }
        if form.mapping != nil, output.format == .csv { throw ValidationError("--mapping is for JSON. Omit --format csv.") }
        if form.mapping != nil, form.references == .id {
            throw ValidationError("--mapping writes references as identities. Omit --references id, or omit --mapping.")
        }
        if form.idsOnly { try validateIDs() }
        if output.format == .csv, !include.isUsed { try validateCSV() }
    }

    /// Refuses options that have no effect on an export of ids or identities. `--nulls omit` has an effect on identities, which may be
    /// null. `--key-paths flat` has an effect with a mapping, which may write an identity at a nested path.
    private func validateIDs() throws {
        if include.isUsed {
            throw ValidationError("--ids-only writes no relationships. Omit --include and --depth, or omit --ids-only.")
        }
        if form.mapping != nil { return }
        if form.keyPaths == .flat {
            throw ValidationError("--ids-only writes no nested objects. Omit --key-paths flat, or omit --ids-only.")
        }
        if form.nulls == .omit, form.references != .identity {
            throw ValidationError("--ids-only writes no nulls. Omit --nulls omit, or add --references identity.")
        }
    }

    /// Refuses options that concern only JSON. Not called if CSV includes objects, because such CSV contains the members of to-many
    /// relationships as JSON.
    private func validateCSV() throws {
        if form.nulls == .omit {
            throw ValidationError("CSV writes null as an empty field, which it cannot omit. Omit --nulls omit, or omit --format csv.")
        }
        if form.keyPaths == .flat { throw ValidationError("CSV is always flat. Omit --key-paths flat, or omit --format csv.") }
    }

    func run() throws {
        let graph = try point.open(store).graph
        var options = ExportOptions()
        options.mapping = try form.mapping.map { try ImportMapping(json: try Terminal.text(of: $0), file: Terminal.name(of: $0)) }
        if entity == nil, options.mapping != nil, options.mapping?.entity == nil {
            throw CambiumError(.unknownName, "A mapping is for one entity. Name the entity on the command line or in the mapping.")
        }
        let entity = try (self.entity ?? options.mapping?.entity).map { try graph.schema.required($0) }
        options.format = output.format
        options.references = form.references ?? .id
        options.content = form.idsOnly ? .names : .objects
        options.nulls = form.nulls
        options.keyPaths = form.keyPaths
        options.include = try entity.map { try include.tree(from: $0, graph.schema) } ?? IncludeTree(depth: include.depthCount)
        let entities = graph.schema.entities.filter { entity?.family.contains($0.number) ?? true }
        let filter = try filter.filter(graph, among: entities)
        // On a terminal, the printed objects already show the progress.
        let progress = Terminal.isInteractive ? nil : Progress("export", byteCount: nil)
        try graph.export(entity, options, where: filter?.holds) { bytes in
            Terminal.write(bytes)
            progress?.add(bytes.count)
        }
        progress?.end()
    }
}

/// The options of `export` that state the form in which it writes objects.
struct ExportFormOptions: ParsableArguments {
    @Option(
        help: .init(
            "Refer to an object by its id in this store (the default), or by its identity, which an import can look up in another store.",
            valueName: "form"))
    var references: ExportOptions.Reference?
    @Flag(help: "Write only the ids, or the identities, of the objects.") var idsOnly = false
    @Option(help: .init("Write or omit values that are null, in JSON.", valueName: "rule")) var nulls = ExportOptions.NullValue.write
    @Option(
        help: .init(
            "Write included to-one objects and paths of a mapping as nested JSON objects, or as flat keys such as country.name.",
            valueName: "form"))
    var keyPaths = ExportOptions.KeyPaths.nested
    @Option(
        help: .init(
            "Write the rows that an import by this mapping reads (Docs/Use/IMPORT.md). References are then identities.", valueName: "file"),
        completion: .file())
    var mapping: String?
}

struct ExportOutputOptions: ParsableArguments {
    @Option(help: .init("Write JSON Lines, one JSON array, or CSV.", valueName: "format")) var format = ExportOptions.Format.lines
    @Flag(help: "Write JSON, as an export does by default.") var json = false

    func validate() throws {
        if json, format == .csv { throw ValidationError("--json and --format csv exclude each other. Omit one of them.") }
    }
}
