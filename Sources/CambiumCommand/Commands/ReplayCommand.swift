import ArgumentParser
import Cambium
import CambiumJSON
import Glibc

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Show transactions one by one, or find the first one after which a condition holds.",
        discussion: Discussion.text(
            "--until shows only the first transaction after which an object satisfies the condition. Without --entity, the condition may "
                + "hold for an object of any entity. By default, each transaction of the range is examined. --bisect reads far fewer "
                + "moments, and assumes that the condition never ceases to hold once it holds. The output says which method was used. With "
                + "--step, the command then continues with the following transactions. If there is no such transaction, the exit code is "
                + "1.",
            examples: "cambium replay notes --from yesterday --step", "cambium replay notes --until 'price > 10' --entity Item --json",
            "cambium replay notes --from 40 --to 60"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @OptionGroup(title: "Range") var range: AuditRange
    @OptionGroup(title: "Selection") var entity: AuditEntityOptions
    @OptionGroup(title: "Search") var search: ReplaySearchOptions
    @Flag(help: "Wait for the Enter key between transactions; q and Enter end the command. Does nothing if input is not a terminal.")
    var step = false
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
        let trail = AuditTrail(of: store)
        let entity = try entity.selection(trail)
        let bounds = try range.bounds(in: trail)
        var first = try bounds.first ?? trail.oldest()
        if bounds.first == nil, first > AuditRange.first {
            let end = TransactionNumber(rawValue: first.rawValue - 1)
            Terminal.error("cambium: The changes of transactions 1 to \(end) were retired by a compaction, so they are not shown.")
        }
        if search.until != nil {
            guard let found = try search.find(trail, entity.name, from: first, through: bounds.last) else {
                Terminal.error("cambium: \(search.absence(from: first, through: try bounds.last ?? trail.newest()))")
                throw ExitCode(Failure.badNews)
            }
            print(ChangedTransaction(found.step, of: entity), found)
            guard step else { return }
            first = TransactionNumber(rawValue: found.step.entry.number.rawValue + 1)
        }
        var isFirst = search.until == nil
        var cursor = try trail.transactions(from: first, through: bounds.last)
        while let step = try cursor.next() {
            let transaction = ChangedTransaction(step, of: entity)
            if entity.name != nil, transaction.isEmpty { continue }
            // The command waits only if another transaction follows.
            if self.step, !isFirst, !waits(for: step.entry.number) { return }
            print(transaction)
            isFirst = false
        }
    }

    /// Waits for the Enter key. Returns whether the command continues with a transaction.
    private func waits(for number: TransactionNumber) -> Bool {
        guard isatty(STDIN_FILENO) == 1 else { return true }
        if isatty(STDERR_FILENO) == 1 { Terminal.showProgress("Enter: transaction \(number), q: end ") }
        guard let line = readLine() else {
            // The end of input has left the cursor after the question.
            if isatty(STDERR_FILENO) == 1 { Terminal.showProgress("\n") }
            return false
        }
        return line.first?.lowercased() != "q"
    }

    private func print(_ transaction: ChangedTransaction, _ match: FirstMatch? = nil) {
        guard output.json else {
            for line in transaction.lines { Terminal.print(line) }
            if let match {
                let method = match.method == .scan ? "a scan of each transaction" : "a bisection of the moments"
                Terminal.print("The condition holds for \(match.objects.map(\.title).joined(separator: ", ")); found by \(method).")
                if match.isHeldBefore { Terminal.print("It already held before this transaction, with which the range begins.") }
            }
            return
        }
        Terminal.printObject { writer in
            transaction.write(to: &writer)
            guard let match else { return }
            writer.member("method", match.method.rawValue)
            writer.member("objects", match.objects)
            if match.isHeldBefore { writer.member("heldBefore", true) }
        }
    }
}

/// The options for the condition at which `replay` stops.
struct ReplaySearchOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,  // A condition may begin with a minus sign.
        help: .init("Show the first transaction after which an object satisfies this condition.", valueName: "condition"))
    var until: String?
    @Flag(help: "Bisect the moments. Assumes that the condition never ceases to hold.") var bisect = false
    @Option(help: .init("Set a parameter of the condition, as find does.", valueName: "name=value")) var set: [AssignmentArgument] = []

    func validate() throws {
        try Arguments.checkOnce("--until")
        try set.checkNames()
        if until == nil, bisect { throw ValidationError("--bisect finds the transaction of --until. Add --until, or omit --bisect.") }
        if until == nil, let first = set.first {
            throw ValidationError("--set gives a value to $\(first.name), but there is no condition. Add --until, or omit --set.")
        }
    }

    /// Returns the sentence which states that the search has found no transaction.
    func absence(from first: TransactionNumber, through last: TransactionNumber) -> String {
        if first > last { return "There is no transaction after \(last), so the condition of --until was not examined." }
        if bisect {
            return "After transaction \(last), no object satisfies the condition of --until. --bisect examined only this moment. Omit it "
                + "to examine each transaction from \(first) on."
        }
        return "No object satisfies the condition of --until after any of the transactions \(first) to \(last)."
    }

    /// Returns the first transaction after which the condition of `--until` holds.
    func find(
        _ trail: AuditTrail, _ entity: String?, from first: TransactionNumber, through last: TransactionNumber?
    ) throws -> FirstMatch? {
        return try QueryRequest.named("--until") {
            try trail.firstTransaction(
                where: until ?? "", set.operands(), entity: entity, from: first, through: last, by: bisect ? .bisection : .scan)
        }
    }
}
