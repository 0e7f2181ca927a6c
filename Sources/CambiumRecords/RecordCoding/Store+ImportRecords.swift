import CambiumExchange

extension Store {
    /// Imports rows as `importRows(_:from:_:hooks:author:reached:)` does, and returns the records of their objects with the report.
    ///
    /// ```swift
    /// let notes = try store.importRecords(Note.self, from: [.file("notes.json")]).records
    /// ```
    ///
    /// The records are read from the graph directly after the last transaction, in the order of the rows. If two rows describe one object,
    /// there are two records of this object. A row that `onError: .skip` omits has no record. If rows are imported in batches, a row whose
    /// object another writer deletes before the last batch has no record.
    ///
    /// Throws as `importRows` does. Throws `.unknownName` if the record does not fit the store's schema, and `.invalidInput` for a dry run;
    /// in these cases, nothing was imported. Throws `.unexpectedValue` if the record cannot hold a value of an object; in that case, the
    /// rows were imported. Complexity: that of `importRows`, and O(properties) for each record.
    ///
    /// - Parameters:
    ///   - type: The record type, which determines the entity of the rows.
    ///   - sources: The files or bytes with the rows, in the order in which the import reads the sources.
    ///   - options: The rules of the import. The report always contains the objects of the rows.
    ///   - hooks: The functions of the program that change each row, or the object of each row.
    ///   - author: The author of the transactions.
    ///   - reached: Receives the report of a failed import, before the error is thrown.
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
        let imported = run.graph ?? graph
        // Between two batches, another writer may have deleted an object of an earlier batch.
        let ids = report.rowObjects.compactMap(\.self).filter { imported.contains($0) }
        return ImportedRecords(records: try imported.load(ids), report: report)
    }
}
