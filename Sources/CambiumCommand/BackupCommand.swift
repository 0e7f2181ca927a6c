import ArgumentParser
import Cambium
import CambiumJSON

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy a store with all of its history, while it is written to.",
        discussion: "The copy has the same transactions, the same root of the tree, and the checkpoints.")

    @Argument(help: "The store.") var store: String
    @Argument(help: "The copy; a directory that is not there yet, or is empty.") var target: String
    @OptionGroup var output: OutputOptions

    func run() throws { try Backup(of: store, to: target).tell(target, json: output.json) }
}

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Make a store from a backup, all of it or as it was at a moment.",
        discussion: """
            The backup is not touched. With --at what came later is left out, and the store goes on in its own way from there. With \
            --archive the new store has what compaction retired of the old one, too, so that every moment can be shown; each transaction \
            is compared with the hash that is left of it. Any store will do as the backup.
            """)

    @Argument(help: "The backup.") var backup: String
    @Argument(help: "The store; a directory that is not there yet, or is empty.") var store: String
    @Option(help: "The moment: a transaction number, a time such as 2026-01-31T12:00:00Z, or label:NAME.") var at: Moment?
    @Option(help: "Where 'compact --archive' put what was retired.") var archive: String?
    @OptionGroup var output: OutputOptions

    func run() throws {
        try Backup(of: backup, to: store, point: at?.point ?? .latest, archive: archive).tell(store, json: output.json)
    }
}

extension Backup {
    fileprivate func tell(_ target: String, json: Bool) {
        Terminal.note("The copy '\(target)' is complete, up to transaction \(transaction).")
        guard json else {
            let checkpoints = checkpointCount > 0 ? " and \(Readable.of(checkpointCount, "checkpoint"))" : ""
            return Terminal.print(
                "\(target): transactions 1 to \(transaction)\(checkpoints), \(Readable.bytes(byteCount)).")
        }
        var writer = JSONWriter()
        writer.beginObject()
        for (key, value) in [("transaction", Int(transaction.rawValue)), ("bytes", byteCount), ("checkpoints", checkpointCount)] {
            writer.key(key)
            writer.number(value)
        }
        writer.endObject()
        Terminal.print(writer.text)
    }
}
