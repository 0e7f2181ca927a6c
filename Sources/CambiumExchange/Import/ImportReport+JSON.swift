package import CambiumJSON

extension ImportReport {
    /// Writes the report in the form that the command line prints.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("transaction")
        if let transaction { writer.number(transaction.rawValue) } else { writer.null() }
        writer.key("rows")
        writer.number(rowCount)
        write(counts, to: &writer)
        writer.key("unknownKeys")
        writer.write(.object(unknownKeys.sorted { $0.key < $1.key }.map { .init($0.key, .number(String($0.value))) }))
        if unknownKeysLeftOut > 0 {
            writer.key("unknownKeysLeftOut")
            writer.number(unknownKeysLeftOut)
        }
        writer.key("errors")
        writer.beginArray()
        for error in errors { error.write(to: &writer) }
        writer.endArray()
        if errorsLeftOut > 0 {
            writer.key("errorsLeftOut")
            writer.number(errorsLeftOut)
        }
        writer.key("entities")
        writer.beginObject()
        for (name, counts) in entities.sorted(by: { $0.key < $1.key }) {
            writer.key(name)
            writer.beginObject()
            write(counts, to: &writer)
            writer.endObject()
        }
        writer.endObject()
        writer.key("logBytes")
        writer.number(logByteCount)
        writer.endObject()
    }

    private func write(_ counts: Counts, to writer: inout JSONWriter) {
        let named = [
            ("inserted", counts.inserted), ("updated", counts.updated), ("unchanged", counts.unchanged),
            ("deleted", counts.deleted), ("stubs", counts.stubs), ("repeated", counts.repeated),
        ]
        for (key, count) in named {
            writer.key(key)
            writer.number(count)
        }
    }
}

extension ImportReport.RowError {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("file")
        writer.string(file)
        writer.key("row")
        writer.number(row)
        writer.key("line")
        writer.number(line)
        for (key, text) in [("pointer", pointer), ("code", code.rawValue), ("message", message)] {
            writer.key(key)
            writer.string(text)
        }
        writer.endObject()
    }
}
