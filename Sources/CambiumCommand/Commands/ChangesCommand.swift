import ArgumentParser
import Cambium
import CambiumJSON

struct ChangesCommand: ParsableCommand {
    /// The form of the lines that a consumer reads.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case cambium, debezium, cloudevents
    }

    static let configuration = CommandConfiguration(
        commandName: "changes", abstract: "List transactions with their changes, for other systems.",
        discussion: Discussion.text(
            "The output is JSON Lines. With --format cambium, each line is a transaction with the rows of diff. With debezium and "
                + "cloudevents, each line is an object, and a last line ends the transaction and states the number of its lines. A "
                + "consumer stores the number of the last complete transaction, and continues with the next number as --from. Nothing "
                + "keeps the log for a consumer: if the transaction of --from was retired, the exit code is 66, and the error names the "
                + "oldest one. --snapshot then lists every object as it was before --from.",
            examples: "cambium changes notes --from 1", "cambium changes notes --from 42 --follow --format debezium",
            "cambium changes notes --from 42 --snapshot --entity Note --format cloudevents"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @OptionGroup(title: "Range") var range: AuditRange
    @OptionGroup(title: "Selection") var entity: AuditEntityOptions
    @Flag(help: "Begin with all objects before --from, as the changes of the transaction before it.") var snapshot = false
    @Flag(help: "Wait for transactions that other processes commit.") var follow = false
    @Option(help: "The form of the lines.") var format = Format.cambium
    @Flag(help: "The output is always JSON, so this flag changes nothing.") var json = false

    func validate() throws {
        if range.from == nil { throw ValidationError("--from is missing. Write --from 1 to begin with the first transaction.") }
        if follow, range.to != nil { throw ValidationError("--follow waits for later transactions, and --to ends the list. Omit one.") }
    }

    func run() throws {
        let trail = AuditTrail(of: store)
        let entity = try entity.selection(trail)
        let bounds = try range.bounds(in: trail)
        let first = bounds.first ?? AuditRange.first
        let stream = ChangeStream(format: format, store: store)
        if snapshot, let step = try trail.snapshot(before: first) { print(ChangedTransaction(step, of: entity), stream, isSnapshot: true) }
        if follow {
            try trail.follow(from: first, pause: Terminal.pause) { step in
                print(ChangedTransaction(step, of: entity), stream)
                return true
            }
            return
        }
        var cursor = try trail.transactions(from: first, through: bounds.last)
        while let step = try cursor.next() { print(ChangedTransaction(step, of: entity), stream) }
    }

    private func print(_ transaction: ChangedTransaction, _ stream: ChangeStream, isSnapshot: Bool = false) {
        // With --entity, most transactions may have nothing to show.
        if entity.entity != nil, transaction.isEmpty { return }
        stream.print(transaction, isSnapshot: isSnapshot)
    }
}

extension AuditRange {
    static let first = TransactionNumber(rawValue: 1)
}
