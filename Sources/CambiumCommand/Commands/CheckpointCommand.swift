import ArgumentParser
import Cambium
import CambiumJSON

struct CheckpointCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "checkpoint", abstract: "Store a checkpoint: the whole graph, so that the store opens faster.",
        discussion: Discussion.text(
            """
            The store also makes checkpoints automatically, after the log has grown by several MiB. The command writes nothing if nothing \
            has changed since the last checkpoint. The store keeps older checkpoints, spread over the log, to show earlier moments quickly.
            """,
            examples: "cambium checkpoint notes", "cambium checkpoint notes --keep 8 --compression lz4",
            "cambium checkpoint notes --keep-days 3650"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @OptionGroup(title: "Settings for this and later checkpoints") var settings: CheckpointSettings
    @OptionGroup(title: "Lock") var writer: WriterOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
        var opened = try writer.open(store)
        let before = try opened.checkpointPolicy()
        var policy = before
        settings.apply(to: &policy)
        if policy != before { try opened.setCheckpointPolicy(policy) }
        if policy.compression != before.compression {
            try opened.close()
            opened = try writer.open(store)
        }
        let receipt = try opened.checkpoint()
        Terminal.report("The checkpoint of transaction \(receipt.transaction) is stored.")
        try opened.close()
        if output.json {
            return Terminal.printObject { writer in
                writer.member("transaction", receipt.transaction)
                writer.member("bytes", receipt.byteCount)
                writer.member("dropped", receipt.droppedCount)
            }
        }
        if receipt.byteCount == 0 {
            Terminal.print("The checkpoint of transaction \(receipt.transaction) exists already.")
        } else {
            Terminal.print("Stored the graph of transaction \(receipt.transaction) in \(Readable.bytes(receipt.byteCount)).")
        }
        if receipt.droppedCount > 0 { Terminal.print("Dropped \(Readable.of(receipt.droppedCount, "older checkpoint")).") }
    }
}

struct CheckpointSettings: ParsableArguments {
    // The parser accepts a minus sign in the value, so that an error can state the negative number.
    @Option(parsing: .unconditional, help: .init("Keep at most this many checkpoints.", valueName: "count")) var keep: Int?
    @Option(
        parsing: .unconditional,
        help: .init(
            "Limit the extra disk space for earlier moments, as a percentage of the newest checkpoint's size.", valueName: "percent"))
    var historyPercent: Int?
    @Option(
        parsing: .unconditional,
        help: .init(
            "Keep the last checkpoint of each of this many days (in UTC), beyond the other limits and after compactions; 0 for none.",
            valueName: "days"))
    var keepDays: Int?
    @Option(
        help: .init(
            "Store all pages in this form: 'lz4' takes about 60% of the disk space, 'none' needs no decompression.", valueName: "form"))
    var compression: PageCompression?

    func validate() throws {
        if let keep, keep < 1 { throw ValidationError("--keep is \(keep), but must be at least 1.") }
        if let historyPercent, historyPercent < 0 {
            throw ValidationError("--history-percent is \(historyPercent), but must be at least 0.")
        }
        if let keepDays, !(0...CheckpointPolicy.dayCountMax).contains(keepDays) {
            throw ValidationError("--keep-days is \(keepDays), but must be 0 to \(CheckpointPolicy.dayCountMax).")
        }
    }

    func apply(to policy: inout CheckpointPolicy) {
        policy.countMax = keep ?? policy.countMax
        policy.historyPercent = historyPercent ?? policy.historyPercent
        policy.dayCount = keepDays ?? policy.dayCount
        policy.compression = compression?.policy ?? policy.compression
    }
}

enum PageCompression: String, ExpressibleByArgument, CaseIterable {
    case none
    case lz4

    var policy: CheckpointPolicy.Compression {
        switch self {
        case .none: .none
        case .lz4: .lz4
        }
    }
}
