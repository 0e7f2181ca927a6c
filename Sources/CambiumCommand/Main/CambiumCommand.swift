import ArgumentParser
import Cambium
import Glibc

@main
struct CambiumCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cambium",
        abstract: "An append-only store of objects and of every change that led to them.",
        discussion: Discussion.text(
            examples: "cambium init notes --schema schema.json", "cambium import notes Note notes.json",
            "cambium show notes Note/1 --at yesterday"),
        version: ProgramVersion.text,
        groupedSubcommands: [
            CommandGroup(
                name: "Reading",
                subcommands: [
                    FindCommand.self, QueryCommand.self, WalkCommand.self, ShowCommand.self, ExportCommand.self, LogCommand.self,
                    DiffCommand.self, ReportCommand.self, StatsCommand.self,
                ]),
            CommandGroup(
                name: "Audit", subcommands: [HistoryCommand.self, BlameCommand.self, ChangesCommand.self, ReplayCommand.self]),
            CommandGroup(
                name: "Writing",
                subcommands: [
                    ImportCommand.self, InsertCommand.self, SetCommand.self, LinkCommand.self, UnlinkCommand.self, MoveCommand.self,
                    DeleteCommand.self, CloneCommand.self, UndoCommand.self, RevertCommand.self, LabelCommand.self,
                ]),
            CommandGroup(
                name: "Proofs",
                subcommands: [
                    SignCommand.self, ProveCommand.self, CheckProofCommand.self, WitnessCommand.self, TilesCommand.self,
                ]),
            CommandGroup(
                name: "Store",
                subcommands: [
                    InitCommand.self, SchemaCommand.self, VerifyCommand.self, CheckpointCommand.self, CompactCommand.self,
                    ApplyCommand.self, BackupCommand.self, RestoreCommand.self, RepairCommand.self,
                ]),
        ])

    /// Runs a command. Each failure ends in an error message on stderr and a documented exit code.
    static func main() {
        SignalPipe.unblock()
        Terminal.begin()
        Store.onCorruptPages { Failure.exit($0) }
        // If a file grows beyond the limit of the process (RLIMIT_FSIZE), the write must fail without ending the process.
        signal(SIGXFSZ, SIG_IGN)
        do {
            try Arguments.check(configuration.subcommands.compactMap { $0.configuration.commandName })
            try MemorySetting.apply()
            var command = try parseAsRoot()
            Terminal.showTime(of: type(of: command).configuration.commandName ?? "cambium")
            try command.run()
            Terminal.finish()
        } catch let error as CambiumError {
            Failure.exit(error)
        } catch let code as ExitCode {
            Terminal.finish()
            exit(withError: code)
        } catch {
            let code = exitCode(for: error)
            guard code != .success else { return printHelp(fullMessage(for: error)) }
            guard code == .validationFailure else { Failure.exit(CambiumError(.ioFailure, "\(error)", underlying: error)) }
            Failure.exit(usage: message(for: error), fullMessage(for: error))
        }
    }

    /// Prints the help or the version. The argument parser throws a request for either of them as an error.
    private static func printHelp(_ text: String) {
        Terminal.write(Array((text + "\n").utf8))
        Terminal.finish()
    }
}
