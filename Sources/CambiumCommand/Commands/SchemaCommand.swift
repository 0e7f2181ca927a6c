import ArgumentParser
import Cambium
import CambiumJSON

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the schema of a store, or change it.",
        discussion: Discussion.text(
            "--set takes the whole new schema. Elements that it does not name are removed. A renamed element states its former name "
                + "with \"renamedFrom\". Values and links are carried over if that loses nothing; Docs/Use/MIGRATION.md has the rules. "
                + "Values of another type are converted; --convert accepts the nearest value if there is no exact one, and the first "
                + "member if a relationship becomes to-one. --renew-ids lets an entity move below a parent that has another number in the "
                + "ids of its objects: the objects keep their values and links, and get new ids. "
                + "If the change is not automatic, or objects would break a rule, nothing is written and the exit code is 1.",
            examples: "cambium schema notes", "cambium schema notes --set next.json --dry-run"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @OptionGroup(title: "Migration") var migration: MigrationOptions
    @OptionGroup(title: "Moment") var point: PointOptions
    @OptionGroup(title: "Author and request") var author: AuthorOptions
    @OptionGroup(title: "Lock") var writer: WriterOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if migration.set != nil, point.at != nil {
            throw ValidationError("--at shows the schema of an earlier moment, which --set cannot change. Omit --at or --set.")
        }
        if let option = author.firstOption, migration.set == nil {
            throw ValidationError(
                "\(option) belongs to a change of the schema, but nothing is changed. Omit \(option), or add --set with a schema.")
        }
    }

    func run() throws {
        guard let set = migration.set else { return try show() }
        // Before it opens the store, the command reports all mistakes in the file, with their positions.
        let definition = try SchemaFile.read(set).definition
        let author = author.author(of: ["schema", definition.json.text] + migration.options)
        do {
            try migration.dryRun ? preview(definition, author) : migrate(definition, author)
        } catch let error as CambiumError where error.repeatedRequest != nil {
            try error.repeatedRequest.map { try Repetition(store, $0).printWithoutReport(json: output.json) }
        } catch let error as CambiumError where error.place?.pointer != nil && error.place?.file == nil {
            // The comparison with the schema of the store has found this mistake, and the comparison does not know the name of the file.
            var error = error
            error.place?.file = Terminal.name(of: set)
            throw error
        }
    }

    private func preview(_ definition: SchemaDefinition, _ author: Author) throws {
        if author != Author() { try ReadOnlyStore(at: store).graph.check(author) }
        let report = try Store.previewMigration(of: store, to: definition, conversion: migration.conversion, movedIDs: migration.movedIDs)
        MigrationText(report, isDone: false).print(json: output.json)
        if report.isRefused { throw ExitCode(Failure.badNews) }
    }

    private func migrate(_ definition: SchemaDefinition, _ author: Author) throws {
        let report = try writer.open(store).use { opened in
            let report = try opened.migrate(to: definition, author, conversion: migration.conversion, movedIDs: migration.movedIDs)
            Terminal.report(committed: report.transaction)
            return report
        }
        MigrationText(report, isDone: true).print(json: output.json)
    }

    private func show() throws {
        let schema = try point.open(store).graph.schema
        if output.json { return Terminal.printJSON { $0.write(schema.definition.json) } }
        for line in SchemaText(schema).lines { Terminal.print(line) }
    }
}

struct MigrationOptions: ParsableArguments {
    @Option(
        help: .init("Change the schema to this one: a JSON file, or a Core Data model.", valueName: "file"), completion: .file())
    var set: String?
    @Flag(help: "Report what --set would do, and write nothing.") var dryRun = false
    @Flag(help: "Accept the nearest value of a new type, and the first member of a relationship that becomes to-one.") var convert = false
    @Flag(help: "Give new ids to the objects of an entity that moves to another hierarchy.") var renewIds = false

    var conversion: ValueConversion { convert ? .nearest : .exact }
    var movedIDs: MovedObjectIDs { renewIds ? .renewed : .kept }

    /// The options that change the result.
    var options: [String] { (convert ? ["--convert"] : []) + (renewIds ? ["--renew-ids"] : []) }

    func validate() throws {
        if convert, set == nil { throw ValidationError("--convert belongs to --set. Add --set with a schema.") }
        if renewIds, set == nil { throw ValidationError("--renew-ids belongs to --set. Add --set with a schema.") }
        if dryRun, set == nil { throw ValidationError("--dry-run reports what --set would do. Add --set with a schema.") }
    }
}
