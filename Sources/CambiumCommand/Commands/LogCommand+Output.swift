import Cambium
import CambiumJSON

extension LogCommand {
    /// The number of columns that a time with microseconds takes.
    private static let timeWidth = 27
    /// The number of columns that is enough for the byte count of most transactions.
    private static let sizeWidth = 12

    func print(_ entry: TransactionLog.Entry, _ ops: [Op]?, _ reading: Reading) {
        if output.json { return Terminal.printObject { write(entry, ops, reading, to: &$0) } }
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
            writer.member(key, value)
        }
        writer.member("transaction", entry.number)
        writer.member("time", entry.metadata.time.description)
        writer.member("actor", entry.metadata.actor)
        writer.member("message", entry.metadata.message)
        if let request = entry.metadata.requestID { writer.member("request", request) }
        if entry.metadata.clockLag > .zero { writer.member("clockLagMicroseconds", entry.metadata.clockLagMicroseconds) }
        writer.member("bytes", entry.byteCount)
        if entry.isRetired { writer.member("retired", true) }
        if let ops {
            var migrations = reading.migrations[...]
            writer.array("ops", ops) { writer, op in
                if case .schema = op, let migration = migrations.popFirst() {
                    OpText.write(migration, to: &writer)
                } else {
                    OpText.write(op, reading.schema, to: &writer)
                }
            }
        }
    }
}
