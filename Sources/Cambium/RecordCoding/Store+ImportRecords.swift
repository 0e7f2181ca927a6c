import CambiumExchange

extension Store {
    /// Imports rows as `importRows(_:from:_:hooks:author:reached:)` does, and returns the records of their objects with the report.
    ///
    ///     let notes = try store.importRecords(Note.self, from: [.file("notes.json")]).records
    ///
    /// The records are of the graph right after the last transaction. Their order is that of the rows, so an object with two rows has two
    /// records. A row that `onError: .skip` leaves out has none.
    ///
    /// Throws as `importRows` does. Throws `.unknownName` if the record does not fit the store's schema, and `.invalidInput` for a dry run;
    /// then nothing was imported. Throws `.unexpectedValue` if the record cannot hold a value of an object; then the rows were imported.
    /// Complexity: as `importRows`, and O(properties) for each record.
    ///
    /// - Parameters:
    ///   - type: The record that is a view of the rows' entity.
    ///   - sources: The files or bytes with the rows, which are read one after the other.
    ///   - options: The rules of the import. The report always has the objects of the rows.
    ///   - hooks: The program's changes to each row.
    ///   - author: The author of the transactions.
    ///   - reached: Takes the report of an import that failed, before the error is thrown.
    public func importRecords<Record: EntityRecord>(
        _ type: Record.Type, from sources: [ImportSource], _ options: ImportOptions = ImportOptions(), hooks: ImportHooks = ImportHooks(),
        author: Author = Author(), reached: (ImportReport) -> Void = { _ in }
    ) throws -> ImportedRecords<Record> {
        guard options.effect == .commit else {
            throw CambiumError(
                .invalidInput, "A dry run inserts no objects, so there are no records to return. Call importRows for a dry run.")
        }
        var options = options
        options.rowObjects = .report
        let entity = try graph.binding(type).entity
        var run = ImportRun(store: self, entity: entity, sources: sources, options: options, hooks: hooks, author: author)
        let report: ImportReport
        do {
            report = try run.runToEnd()
        } catch {
            reached(run.report)
            throw error
        }
        let records: [Record] = try (run.graph ?? graph).load(report.rowObjects.compactMap(\.self))
        return ImportedRecords(records: records, report: report)
    }
}
