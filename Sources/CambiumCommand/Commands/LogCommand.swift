import ArgumentParser
import Cambium
import CambiumJSON

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "List the transactions of a store.",
        discussion: Discussion.text(
            "A moment is \(Moment.forms). \(Moment.rules) As the moment of --from, a day means its beginning. Transactions that were "
                + "written together, for example by a restore, have equal shares of the bytes. A dash before a message means that the "
                + "transaction has no author. --object omits transactions that change an object without naming it: a migration, a delete "
                + "rule, or a clone that is linked to it. If one of these deleted the object, standard error names its number.",
            examples: "cambium log notes --from yesterday --ops", "cambium log notes --object Note/1 --actor jane --json"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @OptionGroup(title: "Selection") var selection: LogSelection
    @Flag(help: "Print the ops of each transaction: its single changes. Most ops name an object by its root entity.") var ops = false
    @Flag(help: "Wait for transactions that other processes commit, up to the moment of --to.") var follow = false
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if follow, selection.at != nil {
            throw ValidationError("--follow waits for later transactions, and --at omits them. Write --to in place of --at.")
        }
    }

    private var object: String? { selection.object }
    private var entity: String? { selection.entity }
    /// Whether the command reads the log as it was at an earlier moment.
    private var isEarlier: Bool { selection.at != nil }

    /// The state of a walk through the log.
    struct Reading {
        /// The schema to which the next ops refer.
        var schema = Schema.empty
        /// The last retired transaction that was read; `nil` once a transaction with ops has been read. A retired transaction has no ops,
        /// only its envelope: author, time and message.
        var retired: TransactionNumber?
        /// The last retired transaction, if the command has informed the user that the log lacks the retired changes; otherwise `nil`.
        var reportedRetired: TransactionNumber?
        /// The first transaction that refers to the object of `--object`, among the transactions that were read so far.
        var firstNaming: TransactionNumber?
        /// Whether the current transaction refers to the object of `--object`.
        var isObjectNamed = false
        /// Whether a delete op in any transaction that was read so far names the object of `--object`.
        var isDeletionNamed = false
        /// The object of `--object`; `nil` until the log contains a schema with the name of its entity. Ids never change their meaning.
        var object: ObjectID?
        /// The root entity of `--entity`; `nil` until the log contains a schema with that name. Entity numbers never change their meaning.
        var root: EntityNumber?
        /// The changes to the schema in the current transaction, in order.
        var migrations: [SchemaMigration] = []
        /// The transactions that `--from`, `--to` and `--at` select.
        let range: LogRange
        let log: TransactionLog
        let identities: LoggedIdentities
    }

    func run() throws {
        var command = self
        command.selection.object = try selection.objectID(in: store)
        try command.list()
    }

    private func list() throws {
        let log = try TransactionLog(of: store)
        var reading = Reading(range: try selection.range(in: store), log: log, identities: LoggedIdentities(of: store))
        // The name in `--entity` or `--object` means the entity in the schema at the moment of `--at`, or in the newest schema. If that
        // schema does not have the name, the first schema with the name decides. Errors are ignored here, because the walk through the
        // log reports corruption.
        if object != nil || entity != nil, let schema = reading.range.schema ?? (try? ReadOnlyStore(at: store))?.graph.schema {
            resolveNames(&reading, schema)
        }
        if !areNamesResolved(reading) { try? resolveFormerNames(log, &reading) }
        if follow {
            try checkNames(reading)
            try log.follow(reading.range) { try printIfWanted($0, &reading) }
            reportRetired(&reading)
        } else {
            try printAll(log, &reading)
            reportRetired(&reading)
            if let object {
                try check(object, reading)
                reportUnnamedDeletion(log, object, reading)
            }
            if let entity, reading.root == nil { _ = try lastSchema(reading).required(entity) }
        }
    }

    /// Checks the names in `--object` and `--entity` before the command waits for transactions. With a misspelled name, the command would
    /// wait without end and print nothing.
    private func checkNames(_ reading: Reading) throws {
        if areNamesResolved(reading) { return }
        let schema = try ReadOnlyStore(at: store).graph.schema
        if let object, reading.object == nil { _ = try schema.parsedID(object) }
        if let entity, reading.root == nil { _ = try schema.required(entity) }
    }

    /// Prints the wanted transactions of the log. Does not read the log after the moment of `--at`.
    private func printAll(_ log: TransactionLog, _ reading: inout Reading) throws {
        struct EndOfMoment: Error {}
        do {
            try log.forEach { entry in
                try printIfWanted(entry, &reading)
                if isEarlier, !reading.range.mayContinue(after: entry) { throw EndOfMoment() }
            }
        } catch is EndOfMoment {}  // The moment has no later transaction.
    }

    /// Checks that the object of `--object` has existed; otherwise, throws `.notFound`.
    private func check(_ object: String, _ reading: Reading) throws {
        guard let id = reading.object else {
            _ = try lastSchema(reading).parsedID(object)
            return
        }
        if reading.firstNaming != nil { return }
        if let retired = reading.reportedRetired {
            // If the object is in this graph, one of the retired transactions created it.
            if try ReadOnlyStore.graph(of: store, after: retired).contains(id) { return }
            let message =
                "The object \(object) did not exist after transaction \(retired), and no later transaction names it. Check the id."
            throw CambiumError(.notFound, message)
        }
        throw CambiumError(
            .notFound,
            isEarlier
                ? "The object \(object) did not exist at the moment of --at or earlier. Check the id, or name a later moment."
                : "The object \(object) never existed. Check the id.")
    }

    /// Returns the schema after the last transaction that was read. If that transaction was retired, the log has no op with the schema, so
    /// the schema is read from the graph. Without this schema, an error would state that the schema has no entities.
    private func lastSchema(_ reading: Reading) throws -> Schema {
        guard let retired = reading.retired else { return reading.schema }
        return try ReadOnlyStore.graph(of: store, after: retired).schema
    }

    private func reportRetired(_ reading: inout Reading) {
        let subject = object ?? entity.map { "objects of '\($0)'" }
        guard let subject, let retired = reading.retired, reading.reportedRetired == nil else { return }
        reading.reportedRetired = retired
        let hint = reading.log.archiveHint()
        Terminal.error(
            "cambium: The changes of transactions 1 to \(retired) were retired, so the log does not show how they changed \(subject)."
                + (hint.isEmpty ? " An archive may contain these changes." : hint))
    }

    private func resolveNames(_ reading: inout Reading, _ schema: Schema) {
        if let object, reading.object == nil { reading.object = schema.id(object)?.id }
        if let entity, reading.root == nil { reading.root = schema.entity(entity)?.root }
    }

    private func areNamesResolved(_ reading: Reading) -> Bool {
        (object == nil || reading.object != nil) && (entity == nil || reading.root != nil)
    }

    /// Resolves names that only earlier schemas have. This must precede the walk that prints. If a migration gave the entity this name,
    /// transactions before that migration also refer to the entity, and the walk must print them. Retired transactions have no ops, so
    /// the schema after the last of them is read from its graph.
    private func resolveFormerNames(_ log: TransactionLog, _ reading: inout Reading) throws {
        struct EndOfSearch: Error {}
        var retired: TransactionNumber?
        do {
            try log.forEach { entry in
                if areNamesResolved(reading) || isEarlier && reading.range.isAfterEnd(entry) { throw EndOfSearch() }
                if entry.isRetired {
                    retired = entry.number
                    return
                }
                if let number = retired { resolveNames(&reading, try ReadOnlyStore.graph(of: store, after: number).schema) }
                retired = nil
                for case .schema(let catalog) in try entry.ops() { resolveNames(&reading, try Schema(catalog: catalog)) }
            }
        } catch is EndOfSearch {}  // The log after this transaction cannot change the result.
    }

    private func printIfWanted(_ entry: TransactionLog.Entry, _ reading: inout Reading) throws {
        if isEarlier, reading.range.isAfterEnd(entry) { return }
        if entry.isRetired {
            reading.retired = entry.number
        } else if let retired = reading.retired {
            reading.schema = try ReadOnlyStore.graph(of: store, after: retired).schema
            reportRetired(&reading)
            reading.retired = nil
        }
        // If any ops are needed, all ops are read, because a change to the schema determines the names in later ops.
        let needsOps = ops || object != nil || entity != nil
        let ops = needsOps && !entry.isRetired ? try entry.ops() : []
        reading.migrations = []
        for case .schema(let catalog) in ops {
            let schema = try Schema(catalog: catalog)
            reading.migrations.append(SchemaMigration(logged: reading.schema, schema))
            reading.schema = schema
            resolveNames(&reading, schema)
        }
        reading.isObjectNamed = false
        if let id = reading.object {
            for op in ops where op.names(id, reading.schema) {
                reading.isObjectNamed = true
                if case .delete = op { reading.isDeletionNamed = true }
            }
            if reading.isObjectNamed, reading.firstNaming == nil { reading.firstNaming = entry.number }
        }
        guard reading.range.contains(entry), isWanted(entry, ops, reading) else { return }
        print(entry, self.ops && !entry.isRetired ? ops : nil, reading)
    }

    private func isWanted(_ entry: TransactionLog.Entry, _ ops: [Op], _ reading: Reading) -> Bool {
        if let actor = selection.actor, !entry.metadata.isBy(actor) { return false }
        if object != nil, !reading.isObjectNamed { return false }
        if entity != nil {
            guard let root = reading.root, ops.contains(where: { $0.roots(reading.schema).contains(root) }) else { return false }
        }
        return true
    }
}

extension LogCommand {
    /// Reports the transaction that deleted the object of `--object` if no op names the object as one to delete.
    func reportUnnamedDeletion(_ log: TransactionLog, _ object: String, _ reading: Reading) {
        // The list of transactions is complete without this report. So the command ignores a moment that cannot be read. A command that
        // shows this moment reports the error.
        guard let entry = try? unnamedDeletion(log, reading), reading.range.contains(entry) else { return }
        if let actor = selection.actor, !entry.metadata.isBy(actor) { return }
        Terminal.error("cambium: Transaction \(entry.number) deleted \(object) by a delete rule or a migration.")
    }

    /// Returns the transaction that deleted the object. Returns `nil` if the object exists, or if an op names its deletion.
    private func unnamedDeletion(_ log: TransactionLog, _ reading: Reading) throws -> TransactionLog.Entry? {
        guard let id = reading.object, !reading.isDeletionNamed else { return nil }
        var history = HistorySelection(object: id)
        if selection.at != nil, case .transaction(let last) = reading.range.to { history.last = last }
        var deletion: TransactionNumber?
        try AuditTrail(of: store).history(history) { entry in
            if case .deleted = entry.change { deletion = entry.transaction }
            return false
        }
        return try deletion.flatMap { try log.entry($0) }
    }

    /// The number of columns that a time with microseconds takes.
    private static let timeWidth = 27
    /// The number of columns that is enough for the byte count of most transactions.
    private static let sizeWidth = 12

    func print(_ entry: TransactionLog.Entry, _ ops: [Op]?, _ reading: Reading) {
        if output.json { return Terminal.printObject { write(entry, ops, reading, to: &$0) } }
        // An empty actor is quoted. Otherwise, the message would look like the actor.
        let actor = entry.metadata.actor.map { ObjectText.text(.string($0)) }
        var notes = [actor ?? entry.metadata.message.map { _ in "-" }, entry.metadata.message].compactMap(\.self)
        if let request = entry.metadata.requestID {
            notes = (notes.isEmpty ? ["-"] : notes) + [AuditText.request(request)]
        }
        if entry.isRetired { notes.append("(its changes were retired)") }
        if entry.metadata.clockLag > .zero { notes.append("(the clock was \(entry.metadata.clockLag / .seconds(1)) s slow)") }
        let time = entry.metadata.time.description.padded(to: Self.timeWidth)
        let size = Readable.of(entry.byteCount, "byte").padded(to: notes.isEmpty ? 0 : Self.sizeWidth)
        Terminal.print((["\(entry.number)", time, size] + notes).joined(separator: "  "))
        var migrations = reading.migrations[...]
        for op in ops ?? [] {
            if case .schema = op, let migration = migrations.popFirst() {
                for line in OpText.lines(migration) { Terminal.print("    " + line) }
            } else {
                let line = OpText.line(op, reading.schema) { reading.identities.identity(of: $0, in: entry.number) }
                Terminal.print("    " + line)
            }
        }
    }

    private func write(_ entry: TransactionLog.Entry, _ ops: [Op]?, _ reading: Reading, to writer: inout JSONWriter) {
        func text(_ key: String, _ value: String?) {
            writer.member(key, value)
        }
        writer.member("transaction", entry.number)
        writer.member("time", entry.metadata.time.description)
        writer.member("actor", entry.metadata.actor)
        writer.member("message", entry.metadata.message)
        if let request = entry.metadata.requestID { writer.member("request", request) }
        if entry.metadata.clockLag > .zero { writer.member("clockLagMicroseconds", entry.metadata.clockLagMicroseconds) }
        writer.member("bytes", entry.byteCount)
        if entry.isRetired { writer.member("retired", true) }
        if let ops {
            var migrations = reading.migrations[...]
            writer.array("ops", ops) { writer, op in
                if case .schema = op, let migration = migrations.popFirst() {
                    OpText.write(migration, to: &writer)
                } else {
                    OpText.write(op, reading.schema, to: &writer)
                }
            }
        }
    }
}
