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
            error state everything that was left out. If the store is not sound, the exit code is 1.
            A moment is \(Moment.forms). \(Moment.rules)
            """,
            examples: "cambium report notes --to report.html", "cambium report notes Note/42 --to note.html",
            "cambium report notes --since label:monday --to week.html"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "Report only this object: \(ObjectIdentity.forms). A deleted object is named by its id.") var id: String?
    @Option(
        parsing: .unconditional,  // Accepts a minus sign, so that an error can state the wrong moment.
        help: .init("Report only the transactions after this moment.", valueName: "moment"))
    var since: Moment?
    @Option(
        help: .init("Write the page to this file. An existing file is replaced.", valueName: "file"),
        completion: .file(extensions: ["html"]))
    var to: String
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
        let past = EarlierGraphs(of: store)
        let newest = try past.graph(at: .latest)
        let subject = try id.map { try object($0, newest) }
        let first = try since.map { try past.graph(at: $0.point()).transaction } ?? .none
        var data = ReportData(subject: subject?.id)
        let progress = Terminal.isInteractive ? Progress("report", byteCount: nil) : nil
        let trail = AuditTrail(of: store)
        let begin = max(first, TransactionNumber(rawValue: try trail.oldest().rawValue - 1))
        var transactions = try trail.transactions(from: begin.next, through: newest.transaction)
        while let step = try transactions.next() {
            try data.add(step)
            progress?.add(step.entry.byteCount)
        }
        progress?.end()
        data.finish(newest)
        if let subject, data.transactionCount == 0, since == nil, !newest.contains(subject.id) {
            throw CambiumError(.notFound, "The object \(subject.name) never existed, or its changes were retired. Check the id.")
        }
        let page = ReportPage(
            store: store, data: data, subject: subject?.name, range: (begin, newest.transaction), retired: begin > first ? begin : .none,
            verification: try Store.verify(at: store), made: StoreEnvironment.system.now())
        try write(page.html)
        for note in page.omissions { Terminal.error("cambium: \(note)") }
        print(data)
        if !page.verification.isSound { throw ExitCode(Failure.badNews) }
    }

    private func object(_ text: String, _ graph: Graph) throws -> (id: ObjectID, name: String) {
        if let identity = try ObjectIdentity(parsing: text, graph.schema) {
            let id = graph.id(of: try identity.place(in: graph))
            return (id, graph.title(of: id))
        }
        let (id, entity) = try graph.schema.parsedID(text)
        return (id, graph.contains(id) ? graph.title(of: id) : graph.schema.text(of: id, entity: entity))
    }

    /// Writes the page to a temporary file, and renames that file, so that no reader finds half a page.
    private func write(_ html: String) throws {
        let file = try OutputFile(to, option: "--to")
        do {
            try file.write(Array(html.utf8))
            try file.end()
        } catch {
            file.discard()
            throw error
        }
        try file.keep()
        Terminal.note("The report '\(to)' was written.")
    }

    private func print(_ data: ReportData) {
        if output.json {
            var writer = JSONWriter()
            writer.beginObject()
            writer.key("file")
            writer.string(to)
            writer.endObject()
            return Terminal.print(writer.text)
        }
        let transactions = Readable.of(data.transactionCount, "transaction")
        Terminal.print("\(to): \(transactions), \(Readable.of(data.changeCount, "changed object"))")
    }
}
