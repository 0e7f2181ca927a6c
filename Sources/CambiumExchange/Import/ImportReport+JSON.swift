package import CambiumJSON

extension ImportReport {
    /// Writes the report in the form that the command line prints.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("transaction", transaction?.rawValue)
            writer.member("rows", rowCount)
            write(counts, to: &writer)
            writer.object("unknownKeys") { writer in
                for (key, count) in unknownKeys.sorted(by: { $0.key < $1.key }) { writer.member(key, count) }
            }
            if unknownKeysLeftOut > 0 { writer.member("unknownKeysLeftOut", unknownKeysLeftOut) }
            writer.array("errors", errors) { writer, error in error.write(to: &writer) }
            if errorsLeftOut > 0 { writer.member("errorsLeftOut", errorsLeftOut) }
            writer.object("entities") { writer in
                for (name, counts) in entities.sorted(by: { $0.key < $1.key }) { writer.object(name) { write(counts, to: &$0) } }
            }
            writer.member("logBytes", logByteCount)
        }
    }

    private func write(_ counts: Counts, to writer: inout JSONWriter) {
        writer.member("inserted", counts.inserted)
        writer.member("updated", counts.updated)
        writer.member("unchanged", counts.unchanged)
        writer.member("deleted", counts.deleted)
        writer.member("stubs", counts.stubs)
        writer.member("repeated", counts.repeated)
    }
}

extension ImportReport.RowError {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("file", file)
            writer.member("row", row)
            writer.member("line", line)
            writer.member("pointer", pointer)
            writer.member("code", code.rawValue)
            writer.member("message", message)
        }
    }
}
