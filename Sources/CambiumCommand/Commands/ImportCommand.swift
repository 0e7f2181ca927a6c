import ArgumentParser
import Cambium
import CambiumJSON

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Insert or update objects from JSON or CSV.",
        discussion: Discussion.text(
            "A file is a JSON array of objects, one object after another (JSON Lines), or CSV if its name ends in .csv. A file whose name "
                + "ends in .gz is decompressed first. An object that is found by its identity is updated. Otherwise it is inserted. "
                + "Values that do not change are not written. While an import reads its files, no other process can write to the store. An "
                + "import from standard input waits for the first byte before it locks the store.",
            examples: "cambium import notes Note notes.json more.csv.gz",
            "cambium import notes Note feed.json --absent delete --on-error skip",
            "cambium import notes Note pages.json --rows /data"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The entity of the rows.", completion: .custom(NameCompletion.entities)) var entity: String
    @Argument(help: "The files to read; - is standard input.", completion: .file()) var files: [String]
    @OptionGroup(title: "Input") var input: InputOptions
    @OptionGroup(title: "Values") var values: ImportValueOptions
    @OptionGroup(title: "Objects") var objects: ImportObjectOptions
    @Option(
        parsing: .unconditional,  // Accepts a minus sign, so that an error can state the negative number.
        help: .init("Commit a transaction for each group of this many rows, instead of one for all rows.", valueName: "count"))
    var batch: Int?
    @Flag(help: "Print the report, and write nothing.") var dryRun = false
    @OptionGroup(title: "Author and request") var author: AuthorOptions
    @OptionGroup(title: "Lock") var writer: WriterOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if let batch, batch < 1 { throw ValidationError("--batch is \(batch), but must be at least 1.") }
        if batch != nil, objects.absent == .delete {
            throw ValidationError("--absent delete needs all rows in one transaction, and --batch makes several. Omit one of them.")
        }
        if batch != nil, author.request != nil {
            throw ValidationError("--request is for one transaction, and --batch makes several. Omit one of them.")
        }
        let inputs = files + (input.mapping.map { [$0] } ?? [])
        if inputs.count(where: { $0 == "-" }) > 1 {
            throw ValidationError("Standard input can be read only once. Give - only once.")
        }
    }

    func run() throws {
        var options = ImportOptions()
        options.missing = values.missing
        options.null = values.null
        options.mismatch = values.mismatch
        options.existing = objects.existing
        options.absent = objects.absent
        options.orphans = objects.orphans
        if let absentMax = objects.absentMax { options.absentMax = absentMax }
        options.absentScope = try objects.scope.map { scope in
            try QueryRequest.named("--scope") { try Condition(parsing: scope) }
        }
        options.toMany = values.toMany
        options.references = values.references
        options.unknown = input.unknown
        options.onError = input.onError
        options.rows = input.rows
        options.batchRowCount = batch
        options.effect = dryRun ? .dryRun : .commit
        options.mapping = try input.mapping.map { try ImportMapping(json: try Terminal.text(of: $0), file: Terminal.name(of: $0)) }
        // The program before a pipe may need a long time for its first row. Other processes can write until then.
        if files.contains("-"), !dryRun { try Terminal.waitForInput { try checkStore() } }
        // A dry run takes no lock, so that another process can write in the meantime.
        let store = try dryRun ? Store.rehearsal(of: store) : writer.open(store)
        let progress = Progress("import", sourceCount: files.count, byteCount: InputFiles.byteCount(files))
        let sources = InputFiles.sources(files, input.format, onError: input.onError, progress)
        let report: ImportReport
        var reached: ImportReport?
        do {
            let author = try requestAuthor()
            // The request is checked first, because a migration may have renamed the entity since the request was applied.
            if author.requestID != nil { try store.graph.check(author) }
            let entity = try store.schema.required(self.entity)
            try checkScope(entity, store.graph)
            report = try store.importRows(entity, from: sources, options, author: author) { reached = $0 }
            Terminal.report(committed: report.transaction)
        } catch {
            progress.end()
            let error = store.close(after: error)
            if let repeated = error.repeatedRequest {
                return try Repetition(self.store, repeated).printWithoutReport(json: output.json)
            }
            if let reached { print(failed: reached, after: error) }
            throw error
        }
        try store.close()
        progress.end()
        print(report)
        if !report.errors.isEmpty { throw ExitCode(Failure.badNews) }
    }

    /// Checks the store, the entity and the condition of `--scope`. Without this check, a mistake in them would be reported only after the
    /// first row, which may take a long time to arrive.
    private func checkStore() throws {
        let graph = try ReadOnlyStore(at: store).graph
        // If a request is repeated, a migration may have renamed the entity since the request was applied.
        if author.request == nil { try checkScope(graph.schema.required(entity), graph) }
    }

    /// Checks that the condition of `--scope` fits the entity. An error of this check states the position of the mistake. The import itself
    /// does not have the text of the condition, so it could not state the position.
    private func checkScope(_ entity: Entity, _ graph: Graph) throws {
        guard let scope = objects.scope else { return }
        try QueryRequest.named("--scope") { try graph.check(Query(entity.name, where: scope)) }
    }

    /// Prints the report of a failed import. The error names only the row that stopped the import, but the report also lists the rows that
    /// were skipped before that row.
    ///
    /// With `--json`, prints the error before the report, and ends the program. Thus the user sees the error even if the report cannot be
    /// written.
    private func print(failed report: ImportReport, after error: any Error) {
        Terminal.report(committed: report.transaction)
        if output.json {
            guard let error = error as? CambiumError else { return print(report) }
            Failure.report(error)
            print(report)
            Terminal.exit(Failure.exitCode(error.code))
        }
        if input.onError == .skip { ReportText.printErrors(report) }
    }

    /// Returns the author with the digest of the request. The digest includes the options, the mapping and the bytes of the files. For this
    /// purpose, the files are read a second time. Standard input and pipes cannot be read twice, so the digest does not include their
    /// bytes.
    private func requestAuthor() throws -> Author {
        guard author.request != nil else { return author.author(of: []) }
        var hasher = RequestHasher()
        let limit = objects.absentMax?.text ?? ""
        var words = [
            values.missing.rawValue, values.null.rawValue, values.mismatch.rawValue, objects.existing.rawValue, objects.absent.rawValue,
            limit, values.toMany.rawValue, values.references.rawValue, input.unknown.rawValue, input.onError.rawValue,
            input.format?.rawValue ?? "",
        ]
        // Without these options, the digest is the same as in versions without them. So the store still recognizes a repeated
        // request of such a version.
        if let scope = objects.scope { words += ["--scope", scope] }
        if objects.orphans != .keep { words += ["--orphans", objects.orphans.rawValue] }
        if let rows = input.rows { words += ["--rows", rows.text] }
        for part in ["import", entity] + words { hasher.add(part) }
        for path in (input.mapping.map { [$0] } ?? []) + files {
            hasher.add(ImportSource.file(path).format.rawValue)
            if InputFiles.byteCount([path]) != nil { try InputFiles.add(path, to: &hasher) }
            hasher.endPart()
        }
        return Author(
            actor: author.actor, message: author.message, requestID: author.request, requestDigest: hasher.finish())
    }

    private func print(_ report: ImportReport) {
        if output.json { return Terminal.printJSON(report.write) }
        ReportText.print(report, isDryRun: dryRun, deletesAbsent: objects.absent == .delete)
    }
}

/// The report of an import in a form for human readers.
enum ReportText {
    static func print(_ report: ImportReport, isDryRun: Bool, deletesAbsent: Bool) {
        // If standard output cannot be written, the program ends at the first line of the summary.
        printErrors(report)
        let effect =
            switch report.transaction {
            case let number? where !isDryRun: "transaction \(number), \(Readable.bytes(report.logByteCount)) of log"
            default: isDryRun ? "a dry run: nothing was written" : "nothing changed, and nothing was written"
            }
        let objects = report.counts == ImportReport.Counts() ? "" : ": \(counts(report.counts))"
        Terminal.print("\(Readable.of(report.rowCount, "row"))\(objects); \(effect)")
        for (name, counts) in report.entities.sorted(by: { $0.key < $1.key }) {
            Terminal.print("  \(name): \(self.counts(counts))")
        }
        let badRowCount = report.errors.count + report.errorsLeftOut
        if badRowCount > 0 { Terminal.print("  skipped \(Readable.of(badRowCount, "bad row")); standard error states the mistakes") }
        let stubCount = report.entities.values.reduce(0) { $0 + $1.stubs }
        if stubCount > 0 {
            Terminal.print("  \(Readable.of(stubCount, "new stub")) for references without an object; --references error refuses them")
        }
        if deletesAbsent, !report.errors.isEmpty {
            Terminal.print("  --absent deletes nothing, because a skipped row may describe an absent object")
        }
        for (key, count) in report.unknownKeys.sorted(by: { $0.key < $1.key }) {
            Terminal.print("  the key '\(key)' maps to nothing (\(Readable.of(count, "time")))")
        }
        if report.unknownKeysLeftOut > 0 {
            Terminal.print("  other keys map to nothing (\(Readable.of(report.unknownKeysLeftOut, "time")))")
        }
    }

    static func printErrors(_ report: ImportReport) {
        for error in report.errors {
            Terminal.error(
                "cambium: \(error.file):\(error.line): row \(error.row)"
                    + (error.pointer.isEmpty ? "" : " at \(error.pointer)") + ": \(error.message)")
        }
        if report.errorsLeftOut > 0 { Terminal.error("cambium: and \(Readable.of(report.errorsLeftOut, "more error"))") }
    }

    static func counts(_ counts: ImportReport.Counts) -> String {
        let named = [
            (counts.inserted, "inserted"), (counts.updated, "updated"), (counts.unchanged, "unchanged"), (counts.deleted, "deleted"),
            (counts.stubs, counts.stubs == 1 ? "stub" : "stubs"), (counts.repeated, "repeated"),
        ]
        let parts = named.filter { $0.0 > 0 }.map { "\(Readable.count($0.0)) \($0.1)" }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }
}
