import ArgumentParser
import Cambium
import CambiumJSON

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Write a page for people about the history of a store or of one object.",
        discussion: Discussion.text(
            """
            The page has a timeline, the changes with the values before and after them, the work of each actor, the lineage of clones as \
            a picture, and the result of verifying the store. It is one HTML file of at most 4 MB, without scripts. The page and standard \
            error state everything that was left out. If the store is not sound, the page ends before its first corrupt transaction, and \
            the exit code is 1. The verification always covers the whole store.
            A moment is \(Moment.forms). \(Moment.rules)
            """,
            examples: "cambium report notes --to report.html", "cambium report notes Note/42 --to note.html",
            "cambium report notes --since label:monday --at label:friday --to week.html"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "Report only this object: \(ObjectIdentity.forms). The object may have been deleted.") var id: String?
    @Option(
        parsing: .unconditional,  // Accepts a minus sign, so that an error can state the wrong moment.
        help: .init("Report only the transactions after this moment.", valueName: "moment"))
    var since: Moment?
    @Option(
        parsing: .unconditional,
        help: .init("Report only the transactions up to this moment. The newest one by default.", valueName: "moment"))
    var at: Moment?
    @Option(help: .init("Report only the transactions of this actor.", valueName: "name")) var actor: String?
    @Option(
        help: .init("Write the page to this file. An existing file is replaced.", valueName: "file"),
        completion: .file(extensions: ["html"]))
    var to: String
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
        let past = EarlierGraphs(of: store)
        let (verification, signed) = try verified()
        let readable = try lastReadable(verification)
        let newest = try newestGraph(past, readable)
        // The end of a corrupt log may not be readable.
        let trail = AuditTrail(past, through: verification.isSound ? nil : newest.transaction)
        let subject = try id.map { try object($0, newest, trail) }
        let first = try since.map { try moment($0, trail) } ?? .none
        if let since, first > newest.transaction {
            throw CambiumError(
                .notFound,
                "'\(since.text)' is after transaction \(newest.transaction), the last one of the report. Name an earlier moment.")
        }
        let (data, retired) = try gathered(trail, subject?.id, after: first, upTo: newest)
        let begin = max(first, retired)
        if let subject, data.transactionCount == 0, since == nil, actor == nil, !newest.contains(subject.id) {
            throw CambiumError(.notFound, "The object \(subject.name) never existed, or its changes were retired. Check the id.")
        }
        let page = ReportPage(
            store: store, data: data, subject: subject?.name, actor: actor, range: (begin, newest.transaction),
            isNewest: at == nil && readable == nil, retired: retired, verification: verification, signed: signed,
            made: StoreEnvironment.system.now())
        try OutputFile.write(page.html, to: to)
        Terminal.report("The report '\(to)' was written.")
        for note in page.omissions { Terminal.error("cambium: \(note)") }
        print(data)
        if !page.verification.isSound { throw ExitCode(Failure.badNews) }
    }

    /// Returns the last transaction before the first corrupt one; `nil` if no corrupt transaction concerns the report. Corrupt envelopes of
    /// retired transactions do not.
    private func lastReadable(_ verification: Verification) throws -> TransactionNumber? {
        guard let first = verification.firstCorrupt?.lowerBound, try first >= AuditTrail(of: store).oldest() else { return nil }
        if first > AuditRange.first { return TransactionNumber(rawValue: first.rawValue - 1) }
        throw CambiumError(.corrupted, verification.findings.first ?? "The first transaction of the store is corrupt.")
    }

    /// Returns the graph after the last transaction of the report.
    private func newestGraph(_ past: EarlierGraphs, _ readable: TransactionNumber?) throws -> Graph {
        guard let readable else { return try past.graph(at: at?.point() ?? .latest) }
        do {
            if let at {
                let graph = try past.graph(at: at.point())
                if graph.transaction <= readable { return graph }
            }
        } catch let error as CambiumError where error.code == .corrupted {}  // The moment is after the corrupt transaction.
        return try past.graph(at: .transaction(readable))
    }

    /// Returns the content of the report, and the last transaction whose changes were retired.
    private func gathered(
        _ trail: AuditTrail, _ subject: ObjectID?, after first: TransactionNumber, upTo newest: Graph
    ) throws -> (ReportData, retired: TransactionNumber) {
        while true {
            let oldest = try trail.oldest()
            let retired = TransactionNumber(rawValue: oldest.rawValue - 1)
            do {
                var data = ReportData(subject: subject)
                let progress = Terminal.isInteractive ? Progress("report", byteCount: nil) : nil
                defer { progress?.end() }
                var transactions = try trail.transactions(from: max(first, retired).next, through: newest.transaction)
                while let step = try transactions.next() {
                    if let actor, !step.entry.metadata.isBy(actor) { continue }
                    let isMigration = step.changesSchema && !step.before.schema.entities.isEmpty
                    let migration = isMigration ? SchemaMigration(logged: step.before.schema, step.after.schema) : nil
                    try data.add(step, migration: migration.map { Array(OpText.lines($0).dropFirst()) } ?? [])
                    progress?.add(step.entry.byteCount)
                }
                data.finish(newest)
                return (data, retired)
            } catch let error as CambiumError where error.code == .notFound || error.code == .expired {
                // A compaction may have retired transactions in the meantime. The page then begins after them.
                if try trail.oldest() == oldest { throw error }
            }
        }
    }

    /// Returns the last transaction of a moment. It is `.none` if the moment precedes the store, and the moment may have been retired.
    private func moment(_ moment: Moment, _ trail: AuditTrail) throws -> TransactionNumber {
        switch moment.point() {
        case .latest: return try trail.newest()
        case .transaction(let number):
            let newest = try trail.newest()
            if number > newest || number < AuditRange.first { throw AuditTrail.missing(number, newest) }
            return number
        case .label(let name):
            let labels = try trail.graph(at: .latest).labels
            if let number = labels[name] { return number }
            return try trail.graph(at: .label(name)).transaction
        case .time(let time):
            return TransactionNumber(rawValue: try trail.firstTransaction(from: .time(time + .microseconds(1))).rawValue - 1)
        }
    }

    /// Returns the object of the report, which may have been deleted.
    private func object(_ text: String, _ graph: Graph, _ trail: AuditTrail) throws -> (id: ObjectID, name: String) {
        guard let identity = try ObjectIdentity(parsing: text, graph.schema) else {
            let (id, entity) = try graph.schema.parsedID(text)
            return (id, graph.contains(id) ? graph.title(of: id) : graph.schema.text(of: id, entity: entity))
        }
        let id = try trail.object(named: text, through: graph.transaction)
        if graph.contains(id) { return (id, graph.title(of: id)) }
        return (id, "\(graph.schema.text(of: id, entity: identity.entity)) (\(identity.texts.joined(separator: ",")))")
    }

    /// Verifies the store, and compares its log with the checkpoint that it signed last. Returns a sentence about this checkpoint, too.
    private func verified() throws -> (Verification, String) {
        let head: TreeHead?
        do {
            head = try Store.lastSigned(at: store)
        } catch {
            guard error.code == .corrupted else { throw error }
            return (try Store.verify(at: store), error.message)
        }
        guard let head else { return (try Store.verify(at: store), "The store has signed none.") }
        let verification = try Store.verify(at: store, against: head)
        let size = Readable.of(Int(clamping: head.size), "transaction")
        let end = verification.isSound ? ". The log continues it." : "."
        return (verification, "\(size), signed by \(head.origin)\(end)")
    }

    private func print(_ data: ReportData) {
        if output.json { return Terminal.printObject { $0.member("file", to) } }
        let transactions = Readable.of(data.transactionCount, "transaction")
        Terminal.print("\(to): \(transactions), \(Readable.of(data.changeCount, "change of an object", "changes of objects"))")
    }
}
