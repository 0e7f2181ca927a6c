import ArgumentParser
import Cambium
import CambiumJSON

struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Retire what of the log is not to be kept.",
        discussion: """
            Of retired transactions only who made them, when and why is left, and a hash of what they did, which a checkpoint stands for: \
            it is made first, and compared with the log. --dry-run tells what could not be asked for any more. With --archive what is \
            retired is kept in another place, as it was; 'restore --archive' makes a store of both that has everything.
            """)

    @Argument(help: "The store.") var store: String
    @Option(
        help: "What to keep: all, since:POINT, or snapshots:N, which is all since the oldest of the N newest checkpoints, if there are N.")
    var retain: RetentionArgument
    @Option(help: "Put what is retired here before: a directory that is not there yet, is empty, or has what was retired before.")
    var archive: String?
    @Flag(help: "Tell what would be retired with the checkpoints that there are, and change nothing.") var dryRun = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        let opened = try Store.open(at: store)
        let compaction = try opened.compact(retain.retention, archive: archive, isDryRun: dryRun)
        if !dryRun { Terminal.note("The log was compacted; its first moment is transaction \(compaction.firstMoment).") }
        try opened.close()
        if output.json { return tell(compaction) }
        if let archive { tell(compaction, in: archive) }
        let would = dryRun ? "Would retire" : "Retired"
        let segments = Readable.of(compaction.segmentCount, "segment")
        let dropped = Readable.of(compaction.droppedCount, "checkpoint")
        Terminal.print("\(would) \(segments) of log, \(Readable.bytes(compaction.logByteCount)); dropped \(dropped).")
        if compaction.retiredEnd == .none { return Terminal.print("Every moment can be shown.") }
        Terminal.print(
            "Of transactions 1 to \(compaction.retiredEnd) only the envelopes \(dryRun ? "would be" : "are") left: who made them, when "
                + "and why. The earliest state that \(dryRun ? "could" : "can") be shown is the one after transaction "
                + "\(compaction.firstMoment).")
    }

    private func tell(_ compaction: Compaction, in archive: String) {
        let segments = Readable.of(compaction.archivedSegmentCount, "segment")
        Terminal.print(
            "\(dryRun ? "Would put" : "Put") \(segments) of log, \(Readable.bytes(compaction.archivedByteCount)), into \(archive).")
        for range in compaction.missingFromArchive {
            Terminal.print(
                "What transactions \(range.lowerBound) to \(range.upperBound) did was retired before and is not there, so no store "
                    + "with all moments can be made from it.")
        }
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
        if archive != nil { writeArchive(compaction, to: &writer) }
        writer.key("dryRun")
        writer.bool(dryRun)
        writer.endObject()
        Terminal.print(writer.text)
    }
}

extension CompactCommand {
    private func writeArchive(_ compaction: Compaction, to writer: inout JSONWriter) {
        for (key, value) in [("segmentsArchived", compaction.archivedSegmentCount), ("bytesArchived", compaction.archivedByteCount)] {
            writer.key(key)
            writer.number(value)
        }
        writer.key("missing")
        writer.beginArray()
        for range in compaction.missingFromArchive {
            writer.beginObject()
            writer.key("from")
            writer.number(Int(range.lowerBound.rawValue))
            writer.key("to")
            writer.number(Int(range.upperBound.rawValue))
            writer.endObject()
        }
        writer.endArray()
    }
}

/// A retention policy in the syntax of the command line.
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
