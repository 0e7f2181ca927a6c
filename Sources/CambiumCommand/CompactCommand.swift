import ArgumentParser
import Cambium
import CambiumJSON

struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Retire what of the log is not to be kept.",
        discussion: """
            Of retired transactions only who made them, when and why is left, and a hash of what they did, which a checkpoint stands for: \
            it is made first, and compared with the log. --dry-run tells what could not be asked for any more.
            """)

    @Argument(help: "The store.") var store: String
    @Option(help: "What to keep: all, since:POINT, or snapshots:N, which is all since the oldest of the N newest checkpoints.")
    var retain: RetentionArgument
    @Flag(help: "Tell what would be retired with the checkpoints that there are, and change nothing.") var dryRun = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        let opened = try Store.open(at: store)
        let compaction = try opened.compact(retain.retention, isDryRun: dryRun)
        try opened.close()
        if output.json { return tell(compaction) }
        let would = dryRun ? "Would retire" : "Retired"
        let segments = Readable.of(compaction.segmentCount, "segment")
        let dropped = Readable.of(compaction.droppedCount, "checkpoint")
        Terminal.print("\(would) \(segments) of log, \(Readable.bytes(compaction.logByteCount)); dropped \(dropped).")
        if compaction.retiredEnd == .none { return Terminal.print("Every moment can be shown.") }
        Terminal.print(
            "What transactions 1 to \(compaction.retiredEnd) did \(dryRun ? "could not" : "cannot") be told any more, only who made "
                + "them, when and why; the first moment that can be shown is \(compaction.firstMoment).")
    }

    private func tell(_ compaction: Compaction) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("retired")
        writer.number(Int(compaction.retiredEnd.rawValue))
        writer.key("firstMoment")
        writer.number(Int(compaction.firstMoment.rawValue))
        for (key, value) in [
            ("segments", compaction.segmentCount), ("logBytesFreed", compaction.logByteCount),
            ("checkpointsDropped", compaction.droppedCount),
            ("storedBytesFreed", compaction.storedByteCount),
        ] {
            writer.key(key)
            writer.number(value)
        }
        writer.key("dryRun")
        writer.bool(dryRun)
        writer.endObject()
        Terminal.print(writer.text)
    }
}

/// A retention policy as it is given on the command line.
struct RetentionArgument: ExpressibleByArgument {
    let retention: Retention

    init?(argument: String) {
        if argument == "all" {
            retention = .all
        } else if argument.hasPrefix("since:"), let moment = Moment(argument: String(argument.dropFirst(6))) {
            retention = .since(moment.point)
        } else if argument.hasPrefix("snapshots:"), let count = Int(argument.dropFirst(10)), count > 0 {
            retention = .checkpoints(count)
        } else {
            return nil
        }
    }
}
