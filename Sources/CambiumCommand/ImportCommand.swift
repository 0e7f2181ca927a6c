import ArgumentParser
import Cambium
import CambiumJSON

extension ImportOptions.MissingKey: ExpressibleByArgument {}
extension ImportOptions.NullValue: ExpressibleByArgument {}
extension ImportOptions.Mismatch: ExpressibleByArgument {}
extension ImportOptions.Existing: ExpressibleByArgument {}
extension ImportOptions.Absent: ExpressibleByArgument {}
extension ImportOptions.ToMany: ExpressibleByArgument {}
extension ImportOptions.Reference: ExpressibleByArgument {}
extension ImportOptions.UnknownKey: ExpressibleByArgument {}
extension ImportOptions.RowError: ExpressibleByArgument {}
extension AbsentLimit: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
extension ImportSource.Format: ExpressibleByArgument {}

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Upsert objects from JSON or CSV.",
        discussion:
            "A file is a JSON array of objects, one object after the other (JSON Lines), or CSV where its name ends in .csv; each of "
            + "them compressed where .gz comes behind. Objects are found by their identity and updated, or inserted; what does not "
            + "change is not written."
    )

    @Argument(help: "The store.") var store: String
    @Argument(help: "The entity of the rows.") var entity: String
    @Argument(help: "Files; - is standard input.") var files: [String]
    @Option(help: "Where in a row each property is, and how it is read: a JSON file (Docs/IMPORT.md).") var mapping: String?
    @Option(help: "What the files are, whatever their names; standard input has none.") var format: ImportSource.Format?
    @Option(help: "What an absent key does.") var missing = ImportOptions.MissingKey.keep
    @Option(help: "What null does.") var null = ImportOptions.NullValue.clear
    @Option(help: "What a value of the wrong type does.") var mismatch = ImportOptions.Mismatch.error
    @Option(help: "What a row does to an object that is there.") var existing = ImportOptions.Existing.update
    @Option(help: "What becomes of objects of the entity that the files do not mention.") var absent = ImportOptions.Absent.keep
    @Option(help: "How many of them may be deleted: a number, or a share of all; 50% if it is not given.") var absentMax: AbsentLimit?
    @Option(help: "What the members given do to those of a to-many relationship.") var toMany = ImportOptions.ToMany.replace
    @Option(help: "What an id does that has no object: make one of which only the id is known, or...") var references = ImportOptions
        .Reference.create
    @Option(help: "What a key does that maps to nothing.") var unknown = ImportOptions.UnknownKey.report
    @Option(help: "What a bad row does.") var onError = ImportOptions.RowError.stop
    @Option(help: "A transaction for every so many rows; else all rows are one.") var batch: Int?
    @Flag(help: "Report, and write nothing.") var dryRun = false
    @OptionGroup var author: AuthorOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let batch, batch < 1 { throw ValidationError("--batch is 1 or more.") }
        if batch != nil, absent == .delete {
            throw ValidationError("--absent delete needs all rows in one transaction, and --batch makes several.")
        }
        if absentMax != nil, absent == .keep { throw ValidationError("--absent-max is for --absent delete.") }
        if batch != nil, author.request != nil {
            throw ValidationError("--request is for one transaction, and --batch makes several.")
        }
        if files.filter({ $0 == "-" }).count > 1 { throw ValidationError("Standard input can be read once only.") }
    }

    func run() throws {
        var options = ImportOptions()
        options.missing = missing
        options.null = null
        options.mismatch = mismatch
        options.existing = existing
        options.absent = absent
        if let absentMax { options.absentMax = absentMax }
        options.toMany = toMany
        options.references = references
        options.unknown = unknown
        options.onError = onError
        options.batchRowCount = batch
        options.effect = dryRun ? .dryRun : .commit
        options.mapping = try mapping.map { try ImportMapping(json: try Terminal.contents(of: $0), file: $0) }
        let store = try Store.open(at: store)
        let entity = try store.schema.required(self.entity)
        let progress = Progress("import", sourceCount: files.count, byteCount: InputFiles.byteCount(files))
        let sources = InputFiles.sources(files, format, progress)
        let report: ImportReport
        var reached: ImportReport?
        do {
            report = try store.importRows(entity, from: sources, options, author: try requestAuthor()) { reached = $0 }
            Terminal.note(committed: report.transaction)
        } catch {
            progress.end()
            try store.close()
            if let repeated = (error as? CambiumError)?.underlying as? RepeatedRequest {
                return try Repetition(self.store, repeated).tell(json: output.json)
            }
            if let reached { tell(failed: reached) }
            throw error
        }
        try store.close()
        progress.end()
        tell(report)
        if !report.errors.isEmpty { throw ExitCode(Failure.badNews) }
    }

    /// The error itself names the row that stopped an import. The rows that were skipped before must be named, too.
    private func tell(failed report: ImportReport) {
        Terminal.note(committed: report.transaction)
        if output.json { tell(report) } else if onError == .skip { ReportText.printErrors(report) }
    }

    /// Returns the author with the digest of the request. The digest covers the options, the mapping and the bytes of the files, which are
    /// read a second time for this. Standard input and pipes cannot be read twice, so the digest omits their bytes.
    private func requestAuthor() throws -> Author {
        guard author.request != nil else { return author.author(of: []) }
        var hasher = RequestHasher()
        let limit = absentMax.map { "\($0)" } ?? ""
        let words = [
            missing.rawValue, null.rawValue, mismatch.rawValue, existing.rawValue, absent.rawValue, limit, toMany.rawValue,
            references.rawValue, unknown.rawValue, onError.rawValue, format?.rawValue ?? "",
        ]
        for part in ["import", entity] + words { hasher.add(part) }
        for path in (mapping.map { [$0] } ?? []) + files {
            hasher.add(ImportSource.file(path).format.rawValue)
            if InputFiles.byteCount([path]) != nil { try InputFiles.add(path, to: &hasher) }
            hasher.endPart()
        }
        return Author(
            actor: author.actor, message: author.message, requestID: author.request, requestDigest: hasher.finish())
    }

    private func tell(_ report: ImportReport) {
        if output.json {
            var writer = JSONWriter()
            report.write(to: &writer)
            return Terminal.print(writer.text)
        }
        ReportText.print(report, isDryRun: dryRun)
    }
}

/// The report of an import in a form for human readers.
enum ReportText {
    static func print(_ report: ImportReport, isDryRun: Bool) {
        let effect =
            switch report.transaction {
            case let number? where !isDryRun: "transaction \(number), \(Readable.bytes(report.logByteCount)) of log"
            default: isDryRun ? "a dry run: nothing was written" : "nothing changed, nothing was written"
            }
        Terminal.print("\(Readable.of(report.rowCount, "row")): \(counts(report.counts)); \(effect)")
        for (name, counts) in report.entities.sorted(by: { $0.key < $1.key }) {
            Terminal.print("  \(name): \(self.counts(counts))")
        }
        for (key, count) in report.unknownKeys.sorted(by: { $0.key < $1.key }) {
            Terminal.print("  the key '\(key)' maps to nothing (\(Readable.of(count, "time")))")
        }
        printErrors(report)
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
            (counts.stubs, "stubs"), (counts.repeated, "repeated"),
        ]
        let told = named.filter { $0.0 > 0 }.map { "\(Readable.count($0.0)) \($0.1)" }
        return told.isEmpty ? "nothing" : told.joined(separator: ", ")
    }
}
