import ArgumentParser
import Cambium
import CambiumJSON

struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Undo transactions by a new transaction with the inverse of their changes.",
        discussion: Discussion.text(
            """
            Deleted objects come back under their own ids. A value that was changed again since then is a conflict: without --policy, the \
            command then changes nothing, names the conflicts, and exits with 1. Undoing an undo is a redo. \
            With --since, --actor names the actor whose transactions after that moment are undone. Without a transaction and --since, \
            --request names the request to undo. In all other cases, --actor and --request describe the undo itself, as in other commands.
            A moment is \(Moment.forms). \(Moment.rules)
            """,
            examples: "cambium undo notes 41 --plan", "cambium undo notes 41..45 --policy skip --actor jane",
            "cambium undo notes --actor importer --since label:monday --by jane", "cambium undo notes --request import-7"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The transaction, such as 41, or the first and the last one, such as 41..45.") var transactions: UndoArgument?
    @Option(
        parsing: .unconditional,  // Accepts a minus sign, so that an error can state the wrong moment.
        help: .init("Undo the transactions of --actor after this moment.", valueName: "moment"))
    var since: Moment?
    @Flag(help: "Show the changes and conflicts of the undo, and change nothing. The exit code is 1 if the undo would fail.")
    var plan = false
    @Option(
        help: .init(
            "In conflicts, fail ('error', the default), keep the present state ('skip'), or restore the former one ('force').",
            valueName: "policy"),
        completion: .list(UndoPolicy.allCases.map(\.rawValue)))
    var policy: UndoPolicy = .error
    @Option(help: .init("Record this author of an undo with --since in the log.", valueName: "name")) var by: String?
    @OptionGroup(title: "Author and request") var author: AuthorOptions
    @OptionGroup(title: "Lock") var writer: WriterOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if transactions != nil, since != nil {
            throw ValidationError("--since selects transactions by their actor, but a transaction is named. Give one of them.")
        }
        if since != nil, author.actor == nil {
            throw ValidationError("--since needs --actor, the actor whose transactions are undone.")
        }
        if transactions == nil, since == nil, author.request == nil {
            throw ValidationError("There is nothing to undo. Name a transaction, --actor with --since, or --request.")
        }
        if by != nil, since == nil { throw ValidationError("--by is for an undo with --since. Name the author with --actor.") }
    }

    /// Whether `--request` names the request to undo.
    private var undoesRequest: Bool { transactions == nil && since == nil }

    private var selection: UndoSelection {
        if let transactions { return .transactions(transactions.range) }
        if let since, let actor = author.actor { return .actor(actor, since: since.point()) }
        return .request(author.request ?? "")
    }

    private var ownAuthor: Author {
        let parts = ["undo", transactions?.text ?? "", since == nil ? "" : author.actor ?? "", since?.text ?? "", policy.rawValue]
        var own = undoesRequest ? Author(message: author.message) : author.author(of: parts)
        own.actor = since == nil ? author.actor : by
        return own
    }

    func run() throws {
        if plan { return try showPlan() }
        do {
            print(
                try writer.open(store).use { opened in
                    let undo = try opened.undo(selection, policy: policy, author: ownAuthor)
                    Terminal.report(committed: undo.receipt.transaction)
                    return undo
                })
        } catch let error as CambiumError {
            if let repeated = error.repeatedRequest { return try print(repeated) }
            if output.json, let conflicts = error.underlying as? UndoConflicts { print(nil, [], conflicts.conflicts) }
            throw error
        }
    }

    // MARK: Plan

    private func showPlan() throws {
        let isPossible = try Store.rehearsal(of: store).previewUndo(selection, policy: policy, from: EarlierGraphs(of: store)) { preview in
            if output.json { printJSON(preview) } else { printText(preview) }
            return preview.violations.isEmpty && (policy != .error || preview.conflicts.isEmpty)
        }
        if !isPossible { throw ExitCode(Failure.badNews) }
    }

    private func printJSON(_ preview: borrowing UndoPreview) {
        Terminal.printObject { writer in
            writer.member("transaction", String?.none)
            writer.undone(preview.transactions)
            writer.array("changes", preview.changes) { writer, change in
                let object = ChangedObject(change, from: preview.changes.before, to: preview.changes.after)
                if !object.isUnchanged { object.write(to: &writer) }
            }
            writer.conflicts(preview.conflicts)
            writer.member("violations", preview.violations)
        }
    }

    private func printText(_ preview: borrowing UndoPreview) {
        var counts: [ObjectChange.Kind: Int] = [:]
        for change in preview.changes {
            let object = ChangedObject(change, from: preview.changes.before, to: preview.changes.after)
            if object.isUnchanged { continue }
            counts[change.kind, default: 0] += 1
            object.lines.forEach(Terminal.print)
        }
        for label in preview.changes.labels {
            Terminal.print("label \(LabelCommand.text(of: label.name)): \(label.after.map { "transaction \($0)" } ?? "removed")")
        }
        let parts = [ObjectChange.Kind.inserted, .deleted, .changed].map { "\(Readable.count(counts[$0] ?? 0)) \($0.rawValue)" }
        let fails = policy == .error && !preview.conflicts.isEmpty
        let effect = fails ? "would be refused. Without the conflicts, it would make" : "would make"
        Terminal.print("The undo of \(Self.text(preview.transactions)) \(effect) these changes: \(parts.joined(separator: ", ")).")
        for conflict in preview.conflicts { Terminal.print("conflict: \(conflict)") }
        for violation in preview.violations { Terminal.print("violation: \(violation)") }
        if fails {
            Terminal.print("--policy skip keeps the present state of everything in conflict, and --policy force restores the former one.")
        }
    }

    // MARK: Result

    private func print(_ undo: UndoReceipt) {
        if output.json { return print(undo.receipt.transaction, undo.undone, undo.conflicts) }
        let subject = Self.text(undo.undone)
        for conflict in undo.conflicts { Terminal.print("\(policy == .force ? "overwritten" : "skipped"): \(conflict)") }
        guard let number = undo.receipt.transaction, undo.receipt.hasChanges else {
            return Terminal.print("Nothing changed: \(subject) left nothing to undo.")
        }
        Terminal.print("Undid \(subject) in transaction \(number), \(Readable.of(undo.receipt.logByteCount, "byte")) of log.")
    }

    private func print(_ number: TransactionNumber?, _ undone: [ClosedRange<TransactionNumber>], _ conflicts: [UndoConflict]) {
        Terminal.printObject { writer in
            writer.member("transaction", number)
            writer.undone(undone)
            if !conflicts.isEmpty { writer.conflicts(conflicts) }
        }
    }

    /// Prints the result of the first call again, because the request was applied earlier.
    private func print(_ request: RepeatedRequest) throws {
        var undone: [ClosedRange<TransactionNumber>] = []
        if let entry = try TransactionLog(of: store).entry(request.transaction), !entry.isRetired {
            for case .undo(let ranges) in try entry.ops() { undone = ranges }
        }
        guard output.json else { return Terminal.print(Repetition.text(request.transaction)) }
        Terminal.printObject { writer in
            writer.member("transaction", request.transaction)
            writer.undone(undone)
            writer.member("repeated", true)
        }
    }

    private static func text(_ ranges: [ClosedRange<TransactionNumber>]) -> String {
        let texts = ranges.map { $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }
        let isOne = ranges.count == 1 && ranges[0].lowerBound == ranges[0].upperBound
        return "transaction\(isOne ? "" : "s") \(texts.joined(separator: ", "))"
    }
}

/// The transactions to undo, as they are written on the command line: `41` or `41..45`.
struct UndoArgument: ExpressibleByArgument {
    let range: ClosedRange<TransactionNumber>
    let text: String

    init?(argument: String) {
        let ends = argument.split(separator: "..", omittingEmptySubsequences: false)
        guard ends.count <= 2, let first = ends.first.flatMap(Self.number), let last = ends.last.flatMap(Self.number), first <= last else {
            return nil
        }
        range = TransactionNumber(rawValue: first)...TransactionNumber(rawValue: last)
        text = argument
    }

    private static func number(_ text: Substring) -> UInt64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(text) : nil
    }
}

extension UndoPolicy: ExpressibleByArgument {}

extension JSONWriter {
    fileprivate mutating func conflicts(_ conflicts: [UndoConflict]) { array("conflicts", conflicts) { $0.conflict($1) } }

    private mutating func conflict(_ conflict: UndoConflict) {
        beginObject()
        switch conflict.subject {
        case .attribute(let id, let attribute):
            member("_id", conflict.objectText(id))
            member("attribute", attribute.name)
        case .relationship(let id, let relationship):
            member("_id", conflict.objectText(id))
            member("relationship", relationship.name)
        case .object(let id): member("_id", conflict.objectText(id))
        case .label(let name): member("label", name)
        }
        state("left", conflict.left, conflict)
        state("now", conflict.now, conflict)
        member("transaction", conflict.transactions.upperBound)
        endObject()
    }

    private mutating func state(_ name: String, _ state: UndoConflict.State, _ conflict: UndoConflict) {
        switch state {
        case .value(let value): member(name, value)
        case .moment(let number): member(name, number)
        case .members(let ids):
            let texts = ids.map(conflict.objectText)
            if case .relationship(_, let relationship) = conflict.subject, !relationship.isToMany { return member(name, texts.first) }
            member(name, texts)
        case .present: member(name, "present")
        case .stub: member(name, "stub")
        case .absent: if case .object = conflict.subject { member(name, "absent") } else { member(name, String?.none) }
        }
    }
}

extension UndoConflict {
    /// Returns the id of an object, such as `Note/42`, without its identity.
    fileprivate func objectText(_ id: ObjectID) -> String { name(of: id).split(separator: " ").first.map(String.init) ?? "" }
}
