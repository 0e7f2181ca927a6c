import ArgumentParser
import Cambium
import CambiumJSON

struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Retire the changes of early transactions, to make the log smaller.",
        discussion: Discussion.text(
            """
            A retired transaction keeps its author, time and message, and a hash of its changes. A checkpoint replaces the changes, after \
            the command has compared this checkpoint with the log. The command also makes a checkpoint of the newest transaction. \
            --dry-run reports the moments that could not be shown any more. --archive keeps the retired changes in another directory; \
            'restore --archive' makes a store with all changes from the compacted store and this directory. If \
            'checkpoint --keep-days' has told the store to keep a moment of each day, those states can still be shown.
            With --json, logBytesFreed and storedBytesFreed are negative if hashes or the new checkpoint take more bytes than were freed. \
            --dry-run states the bytes of the existing files, without the hashes that replace changes.
            """,
            examples: "cambium compact notes --retain since:2026-01-01 --archive kept --dry-run",
            "cambium compact notes --retain snapshots:3"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Option(
        help: .init(
            "Keep all changes with 'all', those since a moment with 'since:MOMENT', or those since the Nth newest checkpoint with "
                + "'snapshots:N'. If there are fewer than N checkpoints, all changes are kept.",
            discussion:
                "With a moment, the changes since the newest checkpoint that is not later than the moment are kept. "
                + "'cambium checkpoint' makes a checkpoint of the newest transaction. "
                + "A moment is \(Moment.forms). A day such as 2026-11-21, 'today' or 'yesterday' means its beginning in UTC. A time is in "
                + "UTC, unless it ends with an offset such as +01:00.",
            valueName: "retention"))
    var retain: RetentionArgument
    @Option(
        help: .init(
            "Archive the retired changes in this directory: a new or empty one, or the archive of earlier compactions.",
            valueName: "directory"), completion: .directory)
    var archive: String?
    @Flag(help: "Report which changes could be retired with the existing checkpoints, and change nothing.") var dryRun = false
    @OptionGroup(title: "Lock") var writer: WriterOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
        let compaction = try dryRun ? Store.previewCompaction(of: store, retain.retention(), archive: archive) : compact()
        if output.json { return printJSON(compaction) }
        if let archive { printArchived(compaction, in: archive) }
        let segments = Readable.of(compaction.segmentCount, "segment")
        let dropped = Readable.of(compaction.droppedCount, "checkpoint")
        let (retired, lost) = dryRun ? ("Would retire", "drop") : ("Retired", "dropped")
        let byteCount = compaction.logByteCount
        let size = byteCount < 0 ? "" : ", \(bytes(byteCount)),"
        let growth = byteCount < 0 ? " The log grew by \(Readable.bytes(-byteCount)), because hashes replaced smaller changes." : ""
        Terminal.print("\(retired) \(segments) of log\(size) and \(lost) \(dropped).\(growth)")
        if compaction.retiredEnd == .none {
            if let lack = retain.lack { Terminal.print(lack) }
            return Terminal.print("Every moment can still be shown.")
        }
        Terminal.print(
            "Transactions 1 to \(compaction.retiredEnd) \(dryRun ? "would keep" : "keep") only their envelopes: author, time and "
                + "message. The earliest state that \(dryRun ? "could" : "can") be shown is the one after transaction "
                + "\(compaction.firstMoment).")
        if let first = compaction.dailyMoments.first {
            let moments = Readable.of(compaction.dailyMoments.count, "earlier state")
            Terminal.print("\(moments), one a day, \(dryRun ? "would stay" : "stay"), beginning with the one after transaction \(first).")
        }
    }

    /// Returns a number of bytes as text. A dry run writes no hashes and seals no segment, so it can only estimate the number.
    private func bytes(_ count: Int) -> String { (dryRun && count > 0 ? "about " : "") + Readable.bytes(count) }

    private func compact() throws -> Compaction {
        try writer.open(store).use { opened in
            let compaction = try opened.compact(retain.retention(), archive: archive)
            Terminal.report("The log was compacted; its first moment is transaction \(compaction.firstMoment).")
            return compaction
        }
    }

    private func printArchived(_ compaction: Compaction, in archive: String) {
        let segments = Readable.of(compaction.archivedSegmentCount, "segment")
        Terminal.print(
            "\(dryRun ? "Would put" : "Put") \(segments) of log, \(bytes(compaction.archivedByteCount)), into \(archive).")
        for range in compaction.missingFromArchive {
            Terminal.print(
                "The changes of transactions \(range.lowerBound) to \(range.upperBound) were retired earlier and are not in '\(archive)', "
                    + "so '\(archive)' cannot restore every moment.")
        }
    }

    private func printJSON(_ compaction: Compaction) {
        Terminal.printObject { writer in
            writer.member("retired", compaction.retiredEnd)
            writer.member("firstMoment", compaction.firstMoment)
            writer.member("segments", compaction.segmentCount)
            writer.member("logBytesFreed", compaction.logByteCount)
            writer.member("checkpointsDropped", compaction.droppedCount)
            writer.member("storedBytesFreed", compaction.storedByteCount)
            if !compaction.dailyMoments.isEmpty {
                writer.array("dailyMoments", compaction.dailyMoments) { writer, number in writer.number(number.rawValue) }
            }
            if archive != nil {
                writer.member("segmentsArchived", compaction.archivedSegmentCount)
                writer.member("bytesArchived", compaction.archivedByteCount)
                writer.member("missing", compaction.missingFromArchive)
            }
            writer.member("dryRun", dryRun)
        }
    }
}

/// A retention policy as it is written on the command line.
struct RetentionArgument: ExpressibleByArgument {
    private enum Form {
        case all
        case since(Moment)
        case checkpoints(Int)
    }

    private let form: Form

    init?(argument: String) {
        if argument == "all" {
            form = .all
        } else if argument.hasPrefix("since:"), let moment = Moment(argument: String(argument.dropFirst(6))) {
            form = .since(moment)
        } else if argument.hasPrefix("snapshots:"), let count = Int(argument.dropFirst(10)), count > 0 {
            form = .checkpoints(count)
        } else {
            return nil
        }
    }

    /// The reason to state if a compaction with this policy has retired nothing; `nil` if the policy keeps everything.
    var lack: String? {
        switch form {
        case .all: nil
        case .since: "A checkpoint must replace the retired changes, and no checkpoint is as early as the given moment."
        case .checkpoints(let count): "The store has fewer than \(Readable.of(count, "checkpoint"))."
        }
    }

    /// Returns the policy. A day after `since:` means the beginning of that day, so all changes of the day are kept.
    func retention(now: Timestamp = StoreEnvironment.system.now()) -> Retention {
        switch form {
        case .all: .all
        case .since(let moment): .since(moment.point(.start, now: now))
        case .checkpoints(let count): .checkpoints(count)
        }
    }
}
