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
        commandName: "import", abstract: "Insert or update objects from JSON or CSV.",
        discussion:
            "A file is a JSON array of objects, one object after another (JSON Lines), or CSV if its name ends in .csv. A file with "
            + "the ending .gz is decompressed first. An object that is found by its identity is updated. Otherwise it is inserted. "
            + "Values that do not change are not written."
    )

    @Argument(help: "The store.") var store: String
    @Argument(help: "The entity of the rows.") var entity: String
    @Argument(help: "The files to read; - is standard input.") var files: [String]
    @Option(help: "Read rows by this mapping, a JSON file that states where each property is and how it is read (Docs/IMPORT.md).")
    var mapping: String?
    @Option(help: "Read all files in this format, whatever their names are.") var format: ImportSource.Format?
    @Option(help: "Keep or clear a value if the row lacks its key.") var missing = ImportOptions.MissingKey.keep
    @Option(help: "Clear or keep a value if the row has null, or reject the row.") var null = ImportOptions.NullValue.clear
    @Option(help: "Reject a row with a value of the wrong type, read the value as null, or keep the earlier value.")
    var mismatch = ImportOptions.Mismatch.error
    @Option(help: "Update or skip an object that exists already.") var existing = ImportOptions.Existing.update
    @Option(help: "Keep or delete the entity's objects that the files do not mention.") var absent = ImportOptions.Absent.keep
    @Option(help: "Let --absent delete at most this number or percentage of objects (50% by default).") var absentMax: AbsentLimit?
    @Option(help: "Replace the members of a to-many relationship by the given ones, or append these.")
    var toMany = ImportOptions.ToMany.replace
    @Option(help: "Create a stub for an identity that has no object, skip the reference, or reject the row.")
    var references = ImportOptions.Reference.create
    @Option(help: "Report keys that map to nothing, reject their rows, or ignore the keys.") var unknown = ImportOptions.UnknownKey.report
    @Option(help: "Stop the import at a bad row, or skip and report the row.") var onError = ImportOptions.RowError.stop
    @Option(help: "Commit a transaction for each group of this many rows, instead of one for all rows.") var batch: Int?
    @Flag(help: "Print the report, and write nothing.") var dryRun = false
    @OptionGroup var author: AuthorOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let batch, batch < 1 { throw ValidationError("--batch must be at least 1.") }
        if batch != nil, absent == .delete {
            throw ValidationError("--absent delete needs all rows in one transaction, and --batch makes several. Omit one of them.")
        }
        if absentMax != nil, absent == .keep {
            throw ValidationError("--absent-max limits --absent delete. Add --absent delete, or omit --absent-max.")
        }
        if batch != nil, author.request != nil {
            throw ValidationError("--request is for one transaction, and --batch makes several. Omit one of them.")
        }
        if files.filter({ $0 == "-" }).count > 1 { throw ValidationError("Standard input can be read only once. Give - only once.") }
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
                return try Repetition(self.store, repeated).print(json: output.json)
            }
            if let reached { print(failed: reached) }
            throw error
        }
        try store.close()
        progress.end()
        print(report)
        if !report.errors.isEmpty { throw ExitCode(Failure.badNews) }
    }

    /// The error itself names the row that stopped an import. The rows that were skipped before must be named, too.
    private func print(failed report: ImportReport) {
        Terminal.note(committed: report.transaction)
        if output.json { print(report) } else if onError == .skip { ReportText.printErrors(report) }
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

    private func print(_ report: ImportReport) {
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
            default: isDryRun ? "a dry run: nothing was written" : "nothing changed, and nothing was written"
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
        let parts = named.filter { $0.0 > 0 }.map { "\(Readable.count($0.0)) \($0.1)" }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }
}
