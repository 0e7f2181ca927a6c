import ArgumentParser
import Cambium
import CambiumJSON

struct CheckpointCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "checkpoint", abstract: "Store the graph, so that the next opening begins with it.",
        discussion: """
            That happens by itself when the log has grown by some MiB. Nothing is written where nothing has changed since. Older \
            checkpoints are kept, spread over the log, so that moments of the past are shown soon.
            """)

    @Argument(help: "The store.") var store: String
    @Option(help: "From now on, keep at most so many checkpoints.") var keep: Int?
    @Option(help: "From now on, let those that only the past needs take so many percent of what the newest one takes.")
    var pastPercent: Int?
    @Option(help: "From now on, store pages in this form, all of them: lz4 takes about half of the disk, none is mapped as it is.")
    var compression: PageCompression?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let keep, keep < 1 { throw ValidationError("--keep is 1 or more.") }
        if let pastPercent, pastPercent < 0 { throw ValidationError("--past-percent is 0 or more.") }
    }

    func run() throws {
        var opened = try Store.open(at: store)
        let before = try opened.checkpointPolicy()
        var policy = before
        policy.countMax = keep ?? policy.countMax
        policy.pastPercent = pastPercent ?? policy.pastPercent
        policy.compression = compression?.policy ?? policy.compression
        if policy != before { try opened.setCheckpointPolicy(policy) }
        if policy.compression != before.compression {
            try opened.close()
            opened = try Store.open(at: store)
        }
        let receipt = try opened.checkpoint()
        Terminal.note("The checkpoint of transaction \(receipt.transaction) is stored.")
        try opened.close()
        if output.json {
            var writer = JSONWriter()
            writer.beginObject()
            for (key, value) in [
                ("transaction", Int(receipt.transaction.rawValue)), ("bytes", receipt.byteCount), ("dropped", receipt.droppedCount),
            ] {
                writer.key(key)
                writer.number(value)
            }
            writer.endObject()
            return Terminal.print(writer.text)
        }
        if receipt.byteCount == 0 {
            Terminal.print("The checkpoint of transaction \(receipt.transaction) is there already.")
        } else {
            Terminal.print("Stored the graph of transaction \(receipt.transaction) in \(Readable.bytes(receipt.byteCount)).")
        }
        if receipt.droppedCount > 0 { Terminal.print("Dropped \(Readable.of(receipt.droppedCount, "older checkpoint")).") }
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
