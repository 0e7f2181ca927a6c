import ArgumentParser
import Cambium
import CambiumJSON

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy a store with all of its history, even while another process writes to it.",
        discussion: Discussion.text(
            "The copy contains the same transactions and checkpoints, and has the same root: the hash of the whole log.",
            examples: "cambium backup notes /mnt/backup/notes"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The copy: a directory that does not exist yet, or is empty.", completion: .directory) var target: String
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws { try Store.backUp(at: store, to: target).print(target, json: output.json) }
}

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Create a store from a backup: with all transactions, or with those up to a moment.",
        discussion: Discussion.text(
            """
            The backup is not changed. With --at, later transactions are omitted, and the new store continues from that moment. A \
            label is a transaction, so the new store usually lacks the label that names the moment. With --archive, the new store also \
            has the changes that compaction retired, so every moment can be shown. Each archived transaction is compared with the hash \
            that the backup has of it. After a compaction, --at needs --archive. Any store can be the backup.
            """,
            examples: "cambium restore copy again --at label:before-the-move", "cambium restore copy again --at 2026-11-21"))

    @Argument(help: "The directory of the backup.", completion: .directory) var backup: String
    @Argument(help: "The new store: a directory that does not exist yet, or is empty.", completion: .directory) var store: String
    @Option(
        parsing: .unconditional,  // Accepts a minus sign, so that an error can state the wrong moment.
        help: .init("Restore this moment: \(Moment.forms).", discussion: Moment.rules, valueName: "moment"))
    var at: Moment?
    @Option(
        help: .init("Read the retired changes from this archive, which 'compact --archive' made.", valueName: "directory"),
        completion: .directory)
    var archive: String?
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
        try Store.backUp(at: backup, to: store, point: at?.point() ?? .latest, archive: archive).print(store, json: output.json)
    }
}

extension Backup {
    fileprivate func print(_ target: String, json: Bool) {
        Terminal.report("The copy '\(target)' is complete, up to transaction \(transaction).")
        guard json else {
            let checkpoints = checkpointCount > 0 ? " and \(Readable.of(checkpointCount, "checkpoint"))" : ""
            return Terminal.print(
                "\(target): transactions 1 to \(transaction)\(checkpoints), \(Readable.bytes(byteCount)).")
        }
        Terminal.printObject { writer in
            writer.member("transaction", transaction)
            writer.member("bytes", byteCount)
            writer.member("checkpoints", checkpointCount)
        }
    }
}
