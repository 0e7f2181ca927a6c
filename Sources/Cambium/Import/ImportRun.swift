internal import CambiumBytes
import CambiumGraph
internal import CambiumJSON
internal import CambiumLog
import CambiumModel

/// One import: its rows, in one transaction or in batches.
struct ImportRun {
    let store: Store
    private(set) var entity: Entity
    let sources: [ImportSource]
    let options: ImportOptions
    let hooks: ImportHooks
    let author: Author
    /// Reports whether the caller cancelled the import; `nil` if the import cannot be cancelled.
    var cancellation: Cancellation?
    private(set) var report = ImportReport()
    /// The rows that broke a rule which is checked after they are applied. The next run of the batch leaves them out.
    private var refused: [Int: ImportReport.RowError] = [:]
    private var totals: [EntityNumber: ImportReport.Counts] = [:]

    /// The maximum number of rows that may break such rules before the import fails.
    static let refusedCountMax = 1000

    init(store: Store, entity: Entity, sources: [ImportSource], options: ImportOptions, hooks: ImportHooks, author: Author) {
        self.store = store
        self.entity = entity
        self.sources = sources
        self.options = options
        self.hooks = hooks
        self.author = author
    }

    /// Runs the import and returns the report.
    mutating func runToEnd() throws -> ImportReport {
        defer { if report.rowCount > 10_000 { Heap.trim() } }
        try run()
        return report
    }

    private mutating func run() throws {
        try store.committer.checkOutsideOfWrites("importRows")
        if author.requestID != nil, options.batchRowCount != nil {
            throw CambiumError(.invalidInput, "An import with a request id is one transaction. Omit the batch size or the request id.")
        }
        if options.absent == .delete, options.batchRowCount != nil {
            throw CambiumError(.invalidInput, "Absent objects are known only after all rows are read. Omit the batch size.")
        }
        if let count = options.batchRowCount, count < 1 { throw CambiumError(.invalidInput, "A batch must have at least one row.") }
        let graph = store.graph
        let (schema, hashKey) = (graph.schema, graph.hashKey)
        entity = try schema.current(entity)
        let resolver = try MappingResolver(options.mapping, importing: entity, schema)
        let rereader = RowRereader { [options, entity] in
            try RowReader(options, schema, resolver, importing: entity, hashKey: hashKey)
        }
        var feed = try feed(schema, resolver, hashKey)
        defer { feed.stop() }
        var isAtEnd = false
        while !isAtEnd {
            var batch = ImportBatch(firstRow: report.rowCount, refused: refused, hooks: hooks, sources: sources, rereader: rereader)
            batch.cancellation = cancellation
            var isLast = false
            do {
                feed.begin()
                let receipt = try store.transact(author) { [options, entity, cancellation] transaction in
                    guard transaction.schema === schema else {
                        throw CambiumError(.conflict, "The schema changed while the import read rows. Import the rows again.")
                    }
                    isLast = try batch.apply(feed, to: &transaction, options, resolver)
                    // Deleted objects free their unique values for other objects.
                    if options.absent == .keep { try batch.checkDuplicates(transaction.draft) }
                    if options.effect == .commit { try transaction.deriveOps() }
                    try batch.deleteAbsent(from: &transaction, entity, options)
                    if options.absent == .delete { try batch.checkDuplicates(transaction.draft) }
                    transaction.isRehearsal = options.effect == .dryRun
                    batch.count(transaction.draft)
                    try cancellation?.check()
                }
                report.logByteCount += receipt.logByteCount
                report.transaction = receipt.transaction ?? report.transaction
                take(batch)
                isAtEnd = isLast
            } catch is ImportBatch.NoRow {
                take(batch, isFailed: true)
                throw CambiumError(
                    .invalidInput,
                    "No row of the input can be imported, so the import would delete every object of '\(entity.name)' as absent. "
                        + "Nothing was imported. Check the input.")
            } catch let failure as ImportBatch.RefusedRows {
                try refuse(failure)
                feed.stop()
                feed = try self.feed(schema, resolver, hashKey)
            } catch let failure as ImportBatch.FailedRow {
                take(batch, isFailed: true)
                throw error(failure.row)
            }
        }
    }

    /// Creates the feed of the rows that follow those that are in the store.
    private func feed(_ schema: Schema, _ resolver: MappingResolver, _ hashKey: HashKey) throws -> RowFeed {
        let columns = CSVColumns(entity, schema, resolver.discriminator(entity), isMapped: options.mapping != nil)
        let source = RowSource(
            DocumentStream(sources, columns: columns), try RowReader(options, schema, resolver, importing: entity, hashKey: hashKey),
            firstRow: report.rowCount, refused: refused.keys, hooks: hooks)
        // A source that cannot be read twice may wait forever for more input. A hook must see each row after the previous one was applied.
        return RowFeed(source, isAhead: hooks.isEmpty && sources.allSatisfy(\.isRepeatable))
    }

    private mutating func refuse(_ failure: ImportBatch.RefusedRows) throws {
        let row = failure.first.row
        guard options.onError == .skip else {
            report.errors.append(row)
            throw error(row)
        }
        guard sources.allSatisfy(\.isRepeatable) else {
            throw CambiumError(
                .invalidInput,
                "Row \(row.row): \(row.message). The import cannot skip the row, because it cannot read the input twice. "
                    + "Import the rows from a file.",
                place: .init(file: row.file, line: row.line))
        }
        for refusal in [failure.first] + failure.others where refused[refusal.place] == nil { refused[refusal.place] = refusal.row }
        guard refused.count <= Self.refusedCountMax else {
            throw CambiumError(
                .limitExceeded,
                "More than \(Self.refusedCountMax) rows violate rules that are checked after a row is applied, such as row \(row.row): "
                    + "\(row.message). Correct these rows.",
                place: .init(file: row.file, line: row.line))
        }
    }

    private func error(_ row: ImportReport.RowError) -> CambiumError {
        CambiumError(
            .invalidInput,
            "Row \(row.row): \(row.message). \(report.transaction == nil ? "Nothing was imported." : "The earlier batches were imported.")",
            place: .init(file: row.file, line: row.line, pointer: row.pointer))
    }

    private mutating func take(_ batch: ImportBatch, isFailed: Bool = false) {
        report.rowCount = batch.lastRow
        for (key, count) in batch.unknownKeys { report.note(unknownKey: key, count) }
        report.unknownKeysLeftOut += batch.unknownKeysLeftOut
        for error in batch.errors {
            if report.errors.count < ImportReport.errorCountMax { report.errors.append(error) } else { report.errorsLeftOut += 1 }
        }
        report.rowObjects += batch.rowObjects
        if isFailed { return }
        for (number, count) in batch.deleted { totals[number, default: .init()].deleted += count }
        for (number, net) in batch.counts {
            totals[number, default: .init()].add(net)
            totals[number, default: .init()].repeated += batch.repeated[number] ?? 0
        }
        report.entities = [:]
        report.counts = .init()
        for (number, counts) in totals {
            report.entities[store.schema.entity(number)?.name ?? ""] = counts
            if entity.family.contains(number) { report.counts.add(counts) }
        }
    }
}

extension ImportReport.Counts {
    mutating func add(_ net: NetCounts) {
        inserted += net.inserted
        updated += net.updated
        unchanged += net.unchanged
        stubs += net.stubs
    }

    mutating func add(_ other: ImportReport.Counts) {
        inserted += other.inserted
        updated += other.updated
        unchanged += other.unchanged
        deleted += other.deleted
        stubs += other.stubs
        repeated += other.repeated
    }
}

extension Store {
    /// Imports JSON rows as objects of an entity. An object with the identity of a row is updated; otherwise the row inserts one.
    ///
    /// All rows of all sources are one transaction, unless the options ask for batches. If nothing changes, nothing is written, except the
    /// author's request if there is one, which is remembered.
    ///
    /// Throws `.invalidInput` with the row, line and pointer of a value that cannot be imported. Throws `.invalidInput` if absent objects
    /// are to be deleted and no row can be imported, and `.limitExceeded` if more objects are absent than the options allow. If it throws,
    /// nothing was imported, except earlier batches. Complexity: O(bytes of input), memory for the changed objects.
    ///
    /// - Parameters:
    ///   - entity: The entity of the rows.
    ///   - sources: The files or bytes with the rows, which are read one after the other.
    ///   - options: The rules of the import.
    ///   - hooks: The program's changes to each row.
    ///   - author: The author of the transactions.
    ///   - reached: Takes the report of an import that failed, before the error is thrown.
    public func importRows(
        _ entity: Entity, from sources: [ImportSource], _ options: ImportOptions = ImportOptions(),
        hooks: ImportHooks = ImportHooks(), author: Author = Author(), reached: (ImportReport) -> Void = { _ in }
    ) throws -> ImportReport {
        var run = ImportRun(store: self, entity: entity, sources: sources, options: options, hooks: hooks, author: author)
        do {
            return try run.runToEnd()
        } catch {
            reached(run.report)
            throw error
        }
    }
}
