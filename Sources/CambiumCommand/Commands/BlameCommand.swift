import ArgumentParser
import Cambium
import CambiumJSON

struct BlameCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blame", abstract: "Show who last set each property of an object.",
        discussion: Discussion.text(
            "A value that came with a clone is attributed to the transaction that set it in the source. A property that never changed is "
                + "attributed to the insertion of the object. --ignore passes over transactions, such as a reformatting of all objects, "
                + "and shows the transaction that set the property before. If there is none, the row says that its transaction is ignored.",
            examples: "cambium blame notes Note/1", "cambium blame notes Note:7 --ignore actor:formatter --ignore 42 --json"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The object: \(ObjectIdentity.forms).") var id: String
    @Option(
        help: .init(
            "Pass over these transactions: a number, actor:NAME, or the one that label:NAME names. Repeat the option for each.",
            valueName: "transactions"))
    var ignore: [IgnoredTransactions] = []
    @OptionGroup(title: "Moment") var point: PointOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
        let trail = AuditTrail(of: store)
        let graph = try trail.graph(at: point.at?.point() ?? .latest)
        let object = try graph.object(id)
        let ignored = try ignoredNumbers(trail)
        let actors = Set(ignore.compactMap(\.actor).map(ExactText.init))
        let rows = try trail.blame(of: object, at: .transaction(graph.transaction)) { entry in
            ignored.contains(entry.number) || entry.author.actor.map { actors.contains(ExactText($0)) } ?? false
        }
        if output.json { return rows.forEach(printRow) }
        Self.table(rows).forEach(Terminal.print)
    }

    private func ignoredNumbers(_ trail: AuditTrail) throws -> Set<TransactionNumber> {
        var numbers = Set(ignore.compactMap(\.number))
        if !numbers.isEmpty {
            let newest = try trail.newest()
            for number in numbers where number > newest || number < AuditRange.first { throw AuditTrail.missing(number, newest) }
        }
        let names = ignore.compactMap(\.label)
        if names.isEmpty { return numbers }
        let labels = try trail.graph(at: .latest).labels
        for name in names {
            guard let number = labels[name] else {
                throw CambiumError(.notFound, "The store has no label '\(Excerpt.plain(name))'. 'cambium label' lists the labels.")
            }
            numbers.insert(number)
        }
        return numbers
    }

    private func printRow(_ row: BlameRow) {
        Terminal.printObject { writer in
            switch row.content {
            case .value(let value):
                writer.member("attribute", row.property)
                writer.member("value", value)
            case .target(let target):
                writer.member("relationship", row.property)
                writer.member("value", target?.name)
            case .members(let members):
                writer.member("relationship", row.property)
                writer.member("value", members)
            }
            writer.transaction(row.transaction, row.time, row.author)
            if let message = row.author?.message { writer.member("message", message) }
            if let source = row.source { writer.member("from", source.name) }
            if row.isIgnored { writer.member("ignored", true) }
            if row.transaction == nil { writer.member("retired", true) }
        }
    }

    /// The maximum number of columns of a value.
    private static let valueWidthMax = 32

    private static func table(_ rows: [BlameRow]) -> [String] {
        let cells = rows.map { [$0.property, value($0.content), $0.transaction?.description ?? "-", $0.time?.description ?? "-", end($0)] }
        let widths = (0..<4).map { column in cells.map { $0[column].columnCount }.max() ?? 0 }
        return cells.map { row in
            (zip(row, widths).map { $0.padded(to: $1) } + [row[4]]).joined(separator: "  ")
        }
    }

    private static func value(_ content: BlameRow.Content) -> String {
        let text =
            switch content {
            case .value(let value): AuditText.text(value)
            case .target(let target): target?.title ?? "null"
            case .members(let members): members.isEmpty ? "none" : members.map(\.title).joined(separator: " ")
            }
        return TextTable.cut(ControlText.escaped(text), to: valueWidthMax)
    }

    private static func end(_ row: BlameRow) -> String {
        guard let author = row.author else { return "(retired)" }
        let notes = [author.message, row.source.map { "from \($0.title)" }, row.isIgnored ? "(ignored)" : nil].compactMap(\.self)
        return ([author.actor.map { ObjectText.text(.string($0)) } ?? "-"] + notes).joined(separator: "  ")
    }
}

/// Transactions that `blame` passes over: one with a number, all of an actor, or the one that a label names.
struct IgnoredTransactions: ExpressibleByArgument {
    let number: TransactionNumber?
    let actor: String?
    let label: String?

    init?(argument: String) {
        number = argument.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(argument).map(TransactionNumber.init) : nil
        (actor, label) = (argument.suffix(after: "actor:"), argument.suffix(after: "label:"))
        if number == nil, actor == nil, label == nil { return nil }
    }
}
