import Cambium
import CambiumJSON

extension LogCommand {
    /// The number of columns that a time with microseconds takes.
    private static let timeWidth = 27
    /// The number of columns that is enough for the byte count of most transactions.
    private static let sizeWidth = 12

    func print(_ entry: TransactionLog.Entry, _ ops: [Op]?, _ reading: Reading) {
        if output.json {
            var writer = JSONWriter()
            write(entry, ops, reading, to: &writer)
            return Terminal.print(writer.text)
        }
        // An empty actor is quoted. Otherwise, the message would look like the actor.
        let actor = entry.metadata.actor.map { ObjectText.text(.string($0)) }
        var notes = [actor ?? entry.metadata.message.map { _ in "-" }, entry.metadata.message].compactMap(\.self)
        if let request = entry.metadata.requestID {
            notes = (notes.isEmpty ? ["-"] : notes) + [AuditText.request(request)]
        }
        if entry.isRetired { notes.append("(its changes were retired)") }
        if entry.metadata.clockLag > .zero { notes.append("(the clock was \(entry.metadata.clockLag / .seconds(1)) s slow)") }
        let time = entry.metadata.time.description.padded(to: Self.timeWidth)
        let size = Readable.of(entry.byteCount, "byte").padded(to: notes.isEmpty ? 0 : Self.sizeWidth)
        Terminal.print((["\(entry.number)", time, size] + notes).joined(separator: "  "))
        var migrations = reading.migrations[...]
        for op in ops ?? [] {
            if case .schema = op, let migration = migrations.popFirst() {
                for line in OpText.lines(migration) { Terminal.print("    " + line) }
            } else {
                let line = OpText.line(op, reading.schema) { reading.identities.identity(of: $0, in: entry.number) }
                Terminal.print("    " + line)
            }
        }
    }

    private func write(_ entry: TransactionLog.Entry, _ ops: [Op]?, _ reading: Reading, to writer: inout JSONWriter) {
        func text(_ key: String, _ value: String?) {
            writer.key(key)
            if let value { writer.string(value) } else { writer.null() }
        }
        writer.beginObject()
        writer.key("transaction")
        writer.number(entry.number.rawValue)
        text("time", entry.metadata.time.description)
        text("actor", entry.metadata.actor)
        text("message", entry.metadata.message)
        if let request = entry.metadata.requestID { text("request", request) }
        if entry.metadata.clockLag > .zero {
            writer.key("clockLagMicroseconds")
            writer.number(entry.metadata.clockLagMicroseconds)
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
            var migrations = reading.migrations[...]
            for op in ops {
                if case .schema = op, let migration = migrations.popFirst() {
                    OpText.write(migration, to: &writer)
                } else {
                    OpText.write(op, reading.schema, to: &writer)
                }
            }
            writer.endArray()
        }
        writer.endObject()
    }
}
