import ArgumentParser
import Cambium
import CambiumJSON

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "log", abstract: "List the transactions of a store.")

    @Argument(help: "The store.") var store: String
    @Option(help: "The first transaction.") var from: UInt64 = 1
    @Option(help: "The last transaction.") var to: UInt64 = .max
    @Option(help: "Only those that name this object.") var object: String?
    @Option(help: "Only those that name objects of this entity's hierarchy.") var entity: String?
    @Option(help: "Only those of this actor.") var actor: String?
    @Flag(help: "Tell the ops of each.") var ops = false
    @Flag(help: "Go on with each transaction that another process commits, up to the last one asked for.") var follow = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        var schema = Schema.empty
        let log = try TransactionLog(of: store)
        if follow {
            try log.follow { entry in
                try tellIfWanted(entry, &schema)
                return entry.number.rawValue < to
            }
        } else {
            try log.forEach { try tellIfWanted($0, &schema) }
        }
    }

    private func tellIfWanted(_ entry: TransactionLog.Entry, _ schema: inout Schema) throws {
        var ops: [Op] = []
        // The schema is in the log, and names are needed to understand what follows it.
        let isRetired = entry.isRetired
        if isRetired, schema.entities.isEmpty { schema = try ReadOnlyStore(at: store).graph.schema }
        if !isRetired, entry.number.rawValue == 1 || self.ops || object != nil || entity != nil { ops = try entry.ops() }
        for case .schema(let catalog) in ops { schema = try Schema(catalog: catalog) }
        guard entry.number.rawValue >= from, entry.number.rawValue <= to, try isWanted(entry, ops, schema) else { return }
        if self.ops, ops.isEmpty, !isRetired { ops = try entry.ops() }
        tell(entry, self.ops && !isRetired ? ops : nil, schema)
    }

    private func isWanted(_ entry: TransactionLog.Entry, _ ops: [Op], _ schema: Schema) throws -> Bool {
        if let actor, entry.metadata.actor != actor { return false }
        if let object {
            guard !schema.entities.isEmpty else { return false }
            let (id, _) = try schema.parsedID(object)
            if !ops.contains(where: { $0.names(id, schema) }) { return false }
        }
        if let entity {
            guard !schema.entities.isEmpty else { return false }
            let root = try schema.required(entity).root
            if !ops.contains(where: { $0.roots(schema).contains(root) }) { return false }
        }
        return true
    }

    private func tell(_ entry: TransactionLog.Entry, _ ops: [Op]?, _ schema: Schema) {
        if output.json {
            var writer = JSONWriter()
            write(entry, ops, schema, to: &writer)
            return Terminal.print(writer.text)
        }
        var line = "\(entry.number)  \(Timestamp.text(microseconds: entry.metadata.time))  \(Readable.of(entry.byteCount, "byte"))"
        if let actor = entry.metadata.actor { line += "  \(actor)" }
        if let message = entry.metadata.message { line += "  \(message)" }
        if entry.isRetired { line += "  (what it did was retired)" }
        if entry.metadata.clockLag > 0 { line += "  (the clock was \(Double(entry.metadata.clockLag) / 1e6) s behind)" }
        Terminal.print(line)
        for op in ops ?? [] { Terminal.print("    " + OpText.line(op, schema)) }
    }

    private func write(_ entry: TransactionLog.Entry, _ ops: [Op]?, _ schema: Schema, to writer: inout JSONWriter) {
        func text(_ key: String, _ value: String?) {
            writer.key(key)
            if let value { writer.string(value) } else { writer.null() }
        }
        writer.beginObject()
        writer.key("transaction")
        writer.number(entry.number.rawValue)
        text("time", Timestamp.text(microseconds: entry.metadata.time))
        text("actor", entry.metadata.actor)
        text("message", entry.metadata.message)
        if let request = entry.metadata.requestID { text("request", request) }
        if entry.metadata.clockLag > 0 {
            writer.key("clockLagMicroseconds")
            writer.number(entry.metadata.clockLag)
        }
        writer.key("bytes")
        writer.number(entry.byteCount)
        if entry.isRetired {
            writer.key("retired")
            writer.bool(true)
        }
        if let ops {
            writer.key("ops")
            writer.beginArray()
            for op in ops { OpText.write(op, schema, to: &writer) }
            writer.endArray()
        }
        writer.endObject()
    }
}
