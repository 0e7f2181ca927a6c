import ArgumentParser
import Cambium
import CambiumJSON

struct ApplyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply", abstract: "Replay the changes of one store into another.",
        discussion: Discussion.text(
            "Afterwards the target is a copy of the source: it contains the same objects with the same ids, and the same transactions with "
                + "their authors and times. The command creates the target if it does not exist. Transactions that the target already has "
                + "are not applied again. Repeat the command if it was interrupted, or if the source has grown. The command "
                + "refuses a target with changes that the source does not have.",
            examples: "cambium apply notes mirror"))

    @Argument(help: "The store to read the changes from.", completion: .directory) var source: String
    @Argument(
        help: "The store that gets the changes: a new store, an empty one, or the target of an earlier apply.", completion: .directory)
    var target: String
    @OptionGroup(title: "Lock") var writer: WriterOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
        let report = try writer.apply(from: source, to: target)
        Terminal.report("'\(target)' has every transaction of '\(source)', up to transaction \(report.lastTransaction).")
        if output.json { return Terminal.printJSON(report.write) }
        let applied = Readable.of(report.appliedCount, "transaction")
        Terminal.print("\(target): \(applied) applied, \(Readable.count(report.presentCount)) already present")
        Terminal.print(
            "\(Readable.of(report.objectCount, "object")) and \(Readable.of(report.linkCount, "link")), the same as in \(source): "
                + "digest \(report.digest)")
        if report.laterTimeCount > 0 {
            let later = Readable.of(report.laterTimeCount, "transaction")
            Terminal.print("\(later) got a later time, because '\(target)' already had a newer transaction")
        }
    }
}
