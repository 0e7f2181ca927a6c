import ArgumentParser
import Cambium
import CambiumJSON

struct LabelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "label", abstract: "Name a moment, so that --at label:NAME shows it.",
        discussion: Discussion.text(
            "A name keeps its moment until --move gives it another moment. Without a name, the command lists the labels. \(Moment.rules)",
            examples: "cambium label notes before-the-move", "cambium label notes november 2026-11-30"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The name.") var name: String?
    @Argument(help: "The moment: \(Moment.forms). The newest one by default.") var point: Moment?
    @Flag(help: "Move the name to this moment if another moment has it.") var move = false
    @OptionGroup(title: "Author and request") var author: AuthorOptions
    @OptionGroup(title: "Lock") var writer: WriterOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if name == nil, let option = move ? "--move" : author.firstOption {
            throw ValidationError("\(option) is for a new label, but there is no name. Add a name, or omit \(option) to list the labels.")
        }
    }

    func run() throws {
        guard let name else {
            let labels = try ReadOnlyStore(at: store).graph.labels
            for (name, number) in labels.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) { print(name, number, verb: nil) }
            if labels.isEmpty, !output.json { Terminal.print("No moment has a label.") }
            return
        }
        let author = author.author(of: ["label", name] + (point.map { [$0.text] } ?? []) + (move ? ["--move"] : []))
        do {
            try label(name, author)
        } catch {
            guard let repeated = error.repeatedRequest else { throw error }
            try print(name, repeated)
        }
    }

    private func label(_ name: String, _ author: Author) throws {
        // The request is checked first, because a compaction may have retired the labeled moment since the request was applied.
        if author.requestID != nil { try ReadOnlyStore(at: store).graph.check(author) }
        let number = try point.map { try ReadOnlyStore(at: store, point: $0.point()).graph.transaction }
        let labeled = try writer.open(store).use { opened in
            let before = opened.graph.transaction
            let labeled = try opened.label(name, number, existing: move ? .move : .refuse, author: author)
            if opened.graph.transaction > before { Terminal.report(committed: opened.graph.transaction) }
            return labeled
        }
        print(name, labeled, verb: "names")
    }

    /// Prints the result of the first call again, because the request was applied earlier.
    private func print(_ name: String, _ request: RepeatedRequest) throws {
        // If the moment was retired, the newest graph is read. It has the same label, unless a later transaction moved or removed the
        // label.
        let labels = try ReadOnlyStore.graph(of: store, after: request.transaction).labels
        // A later transaction may have moved or removed the label, so the text states what the label named then.
        print(name, labels[name] ?? request.transaction, verb: "named", isRepeated: true)
    }

    private func print(_ name: String, _ number: TransactionNumber, verb: String?, isRepeated: Bool = false) {
        if output.json {
            return Terminal.printObject { writer in
                writer.member("label", name)
                writer.member("transaction", number)
                if isRepeated { writer.member("repeated", true) }
            }
        }
        let end = isRepeated ? ": the request was applied earlier, and is not repeated." : "."
        Terminal.print(verb.map { "'\(name)' \($0) transaction \(number)\(end)" } ?? "\(number)  \(Self.text(of: name))")
    }

    /// Returns a name as text. The name is quoted if its spaces would not be visible, or if it would read as a quoted name.
    static func text(of name: String) -> String {
        let isPlain = name.first?.isWhitespace != true && name.last?.isWhitespace != true && !name.hasPrefix("\"")
        return isPlain ? name : JSONValue.string(name).text
    }
}
