import ArgumentParser
import Cambium
import CambiumJSON
import Glibc

struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Create a store.",
        discussion: Discussion.text(
            "A schema is a JSON file or a Core Data model (.xcdatamodeld, .xcdatamodel, or its contents file).",
            examples: "cambium init notes --schema schema.json"))

    @Argument(help: "The new store: a directory that does not exist yet, or is empty.", completion: .directory) var store: String
    @Option(help: .init("Use this schema: a JSON file, or a Core Data model.", valueName: "file"), completion: .file()) var schema: String
    @OptionGroup(title: "Author and request") var author: AuthorOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
        let schema = try SchemaFile.read(schema)
        let author = author.author(of: ["init", schema.definition.json.text])
        do {
            let made = try Store.create(at: store, schema: schema, author: author)
            Terminal.report("The store '\(store)' was created, and transaction \(made.graph.transaction) was committed.")
            try made.close()
        } catch let error as CambiumError where error.code == .cannotCreate {
            guard try wasMade(by: author) else { throw error }
            return print(schema, isRepeated: true)
        }
        print(schema, isRepeated: false)
    }

    /// Returns whether an earlier run with the same `--request` has created the store.
    private func wasMade(by author: Author) throws -> Bool {
        guard let request = author.requestID else { return false }
        do {
            guard let entry = try ReadOnlyStore(at: store).graph.request(request) else { return false }
            return entry.transaction == TransactionNumber(rawValue: 1) && entry.digest == author.requestDigest
        } catch let error as CambiumError where error.code == .notFound {
            return false
        }
    }

    private func print(_ schema: Schema, isRepeated: Bool) {
        let count = schema.entities.count
        if output.json {
            return Terminal.printObject { writer in
                writer.member("store", store)
                writer.member("entities", count)
                if isRepeated { writer.member("repeated", true) }
            }
        }
        let entities = count == 1 ? "1 entity" : "\(count) entities"
        Terminal.print(
            isRepeated
                ? "The store \(store) with \(entities) exists: the request was applied earlier, and is not repeated."
                : "Created the store \(store) with \(entities).")
    }
}

struct StatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Count the objects, links, transactions and bytes of a store.",
        discussion: Discussion.text(
            "With --at, the objects and links are counted as they were at that moment, but the files as they are now.",
            examples: "cambium stats notes --json", "cambium stats notes --at yesterday"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @OptionGroup(title: "Moment") var point: PointOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
        let statistics = try Statistics(of: store, at: point.at?.point() ?? .latest)
        if output.json { return Terminal.printJSON(statistics.write) }
        Terminal.print(
            "\(Readable.of(statistics.objectCount, "object")), \(Readable.of(statistics.linkCount, "link")), "
                + Readable.of(statistics.transactionCount, "transaction")
        )
        let width = statistics.entities.map(\.name.columnCount).max() ?? 0
        for (name, count) in statistics.entities { Terminal.print("  \(name.padded(to: width))  \(Readable.count(count))") }
        Terminal.print("log     \(Readable.bytes(statistics.logByteCount)) in \(Readable.of(statistics.segmentCount, "segment"))")
        if let last = statistics.checkpoints.last {
            let count = Readable.of(statistics.checkpoints.count, "checkpoint")
            let read = statistics.readCheckpointCount
            let readers = read == 0 ? "" : "; \(Readable.count(read)) of them \(read == 1 ? "is" : "are") being read"
            Terminal.print("stored  \(Readable.bytes(statistics.storedByteCount)) in \(count), the last of transaction \(last)\(readers)")
        }
        Terminal.print("memory  \(Readable.bytes(statistics.pageByteCount)) of pages")
    }
}

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check every byte of a store.",
        discussion: Discussion.text(
            "Verifies every checksum, replays the log, and checks the resulting graph. The exit code is 1 if anything is corrupt. Then "
                + "restore the store from a backup, or save its intact parts with 'cambium repair'.",
            examples: "cambium verify notes", "cambium verify notes --archive kept"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Option(
        help: .init(
            "Check that the log begins with the one that had this root, which 'verify' printed (64 hexadecimal digits), or with the "
                + "checkpoint in this file.",
            valueName: "root-or-note"), completion: .file())
    var against: String?
    @Option(help: .init("Check that the log of this public key has signed the checkpoint of --against.", valueName: "key"))
    var key: String?
    @Option(
        help: .init("Check that a log and witnesses of this policy have signed the checkpoint of --against.", valueName: "file"),
        completion: .file())
    var policy: String?
    @Option(
        help: .init("Verify this archive, too, which 'compact --archive' made, and replay the whole log.", valueName: "directory"),
        completion: .directory)
    var archive: String?
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if key != nil || policy != nil, against == nil || root != nil || key != nil && policy != nil {
            throw ValidationError("--key and --policy exclude each other, and check the checkpoint that --against names. Give one of them.")
        }
    }

    /// The root that `--against` states; `nil` if it names a file.
    private var root: TreeHash? { against.flatMap(TreeHash.init(hex:)) }

    /// Returns the checkpoint that `--against` names, after its signatures were checked if that is requested.
    private func known() throws -> TreeHead? {
        guard let against, root == nil else { return nil }
        guard access(against, F_OK) == 0 else {
            throw CambiumError(
                .notFound,
                "--against is '\(against.excerpt)', but must be a root, which has 64 hexadecimal digits, or the file of a checkpoint.")
        }
        let text = String(decoding: try Terminal.contents(of: against, byteCountMax: SignedNote.byteCountMax), as: UTF8.self)
        let trust = try TrustOptions(key: key, policy: policy).trust()
        return try trust.map { try $0.head(ofCheckpoint: text) } ?? TreeHead(checkpoint: text)
    }

    func run() throws {
        let known = try known()
        let verification =
            if let root {
                try Store.verify(at: store, archive: archive, againstRoot: root)
            } else {
                try Store.verify(at: store, archive: archive, against: known)
            }
        let isSound = verification.isSound
        if output.json {
            Terminal.printObject { writer in
                writer.member("ok", isSound)
                writer.member("transactions", verification.transactionCount)
                writer.member("root", verification.root)
                writer.member("digest", verification.digest?.description)
                writer.member("firstCorrupt", verification.firstCorrupt?.lowerBound)
                writer.member("firstCorruptThrough", verification.firstCorrupt?.upperBound)
                writer.member("findings", verification.findings)
            }
        } else {
            let transactions = Readable.of(verification.transactionCount, "transaction")
            // The size of the log is not known if the store cannot be opened at all.
            let log = verification.logByteCount > 0 ? ", \(Readable.bytes(verification.logByteCount)) of log" : ""
            Terminal.print(isSound ? "Sound: \(transactions)\(log)" : "CORRUPT: \(transactions) could be verified\(log)")
            Terminal.print("root    \(verification.root)")
            if let digest = verification.digest { Terminal.print("digest  \(digest)") }
            if let known {
                // If all of the tree could be verified and differs, a finding says so.
                let isCompared = verification.transactionCount >= known.size
                if isSound || !isCompared { Terminal.print("note    \(isSound ? text(of: known) : text(ofUncompared: known))") }
            }
            if root != nil, let moment = verification.knownRootMoment, moment.rawValue < verification.transactionCount {
                Terminal.print("note    the log had the given root after transaction \(moment), and continues it")
            }
            if let first = verification.firstCorrupt { Terminal.print("first   \(text(ofFirst: first))") }
            for finding in verification.findings { Terminal.print("- \(finding)") }
        }
        if !isSound { throw ExitCode(Failure.badNews) }
    }

    private func text(ofFirst range: ClosedRange<TransactionNumber>) -> String {
        let (first, last) = (range.lowerBound, range.upperBound)
        if first == last { return "transaction \(first) is the first corrupt or missing one" }
        return "one of the transactions \(first) to \(last) is the first one that was replaced"
    }

    private func text(ofUncompared known: TreeHead) -> String {
        let size = Readable.of(Int(clamping: known.size), "transaction")
        return "the tree of \(size) of \(known.origin) could not be compared, because not all of its transactions could be verified"
    }

    /// Returns what was compared with the log: the checkpoint of `--against`, and whether its signatures were checked.
    private func text(of known: TreeHead) -> String {
        let size = Readable.of(Int(clamping: known.size), "transaction")
        let isChecked = key != nil || policy != nil
        return "the log continues the \(isChecked ? "signed" : "stated") tree of \(size) of \(known.origin)"
            + (isChecked ? "" : "; add --key or --policy to check its signature")
    }
}

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - columnCount)) }
}

struct RepairCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair", abstract: "Save the parts of a corrupt store that pass verification into a new store.",
        discussion: Discussion.text(
            "The command reads the log, the checkpoints and the archive, and does not change the old store. Transactions keep their "
                + "numbers, times and authors. If changes are missing, the state of the next checkpoint replaces them. The exit "
                + "code is 1 if anything that the command reads is corrupt, or if changes are missing.",
            examples: "cambium repair notes --to saved"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Option(
        help: .init("Create the new store in this directory, which does not exist yet, or is empty.", valueName: "directory"),
        completion: .directory)
    var to: String
    @Option(
        help: .init(
            "Read the retired parts of the log from this archive, which 'compact --archive' made. Needed only if the archive was moved.",
            valueName: "directory"), completion: .directory)
    var archive: String?
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
        let repair = try Store.repair(at: store, to: to, archive: archive)
        Terminal.report("The store '\(to)' was created.")
        if output.json {
            Terminal.printObject { writer in
                writer.member("transactions", repair.transactionCount)
                writer.member("objects", repair.objectCount)
                writer.member("links", repair.linkCount)
                writer.member("root", repair.root)
                writer.member("missing", repair.missing)
                writer.member("findings", repair.findings)
            }
        } else {
            Terminal.print(
                "\(to): \(Readable.of(repair.transactionCount, "transaction")), \(Readable.of(repair.objectCount, "object")) and "
                    + "\(Readable.of(repair.linkCount, "link")) of \(store)")
            for finding in repair.findings { Terminal.print("- \(finding)") }
        }
        if !repair.findings.isEmpty { throw ExitCode(Failure.badNews) }
    }
}
