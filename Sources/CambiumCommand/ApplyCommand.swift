import ArgumentParser
import Cambium
import CambiumJSON

struct ApplyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply", abstract: "Replay the changes of one store into another.",
        discussion:
            "The target is a copy of the source afterwards: the same objects with the same ids, and the same transactions with "
            + "their authors and times. It is made where there is none. What it has already is not applied again, so that a command "
            + "that was stopped, or whose source has grown, is run once more. A target that was changed otherwise is refused.")

    @Argument(help: "The store whose changes are read.") var source: String
    @Argument(help: "The store that gets them: none yet, an empty one, or one that they were applied to before.") var target: String
    @OptionGroup var output: OutputOptions

    func run() throws {
        let report = try Store.apply(from: source, to: target)
        Terminal.note("'\(target)' has every transaction of '\(source)', up to transaction \(report.lastTransaction).")
        if output.json {
            var writer = JSONWriter()
            report.write(to: &writer)
            return Terminal.print(writer.text)
        }
        let applied = Readable.of(report.appliedCount, "transaction")
        Terminal.print("\(target): \(applied) applied, \(Readable.count(report.presentCount)) there before")
        Terminal.print(
            "\(Readable.of(report.objectCount, "object")) and \(Readable.of(report.linkCount, "link")), the same as in \(source): "
                + "digest \(report.digest)")
        if report.laterTimeCount > 0 {
            Terminal.print("\(Readable.of(report.laterTimeCount, "transaction")) got a later time, because the target was made after them")
        }
    }
}
