import ArgumentParser
import Cambium
import CambiumJSON

struct CheckpointCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "checkpoint", abstract: "Store the graph, so that the next opening begins with it.",
        discussion: "That happens by itself when the log has grown by some MiB. Nothing is written where nothing has changed since.")

    @Argument(help: "The store.") var store: String
    @OptionGroup var output: OutputOptions

    func run() throws {
        let opened = try Store.open(at: store)
        let receipt = try opened.checkpoint()
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
