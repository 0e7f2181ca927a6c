import CambiumGraph
import CambiumJSON
import CambiumLog
import CambiumModel

/// One import: its rows, in one transaction or in batches.
struct ImportRun {
    let store: Store
    let entity: Entity
    let source: ImportSource
    let options: ImportOptions
    let author: Author
    private(set) var report = ImportReport()
    /// Rows that broke a rule which is only seen when they are applied: left out when the batch is begun again.
    private var refused: [Int: ImportReport.RowError] = [:]
    private var totals: [EntityNumber: ImportReport.Counts] = [:]

    /// How often a batch is begun again because of such rows.
    static let refusedCountMax = 1000

    init(store: Store, entity: Entity, source: ImportSource, options: ImportOptions, author: Author) {
        self.store = store
        self.entity = entity
        self.source = source
        self.options = options
        self.author = author
    }

    mutating func run() throws {
        var splitter = DocumentSplitter(file: source.name, read: try source.open())
        var isAtEnd = false
        while !isAtEnd {
            let firstRow = report.rowCount
            var batch = ImportBatch(firstRow: firstRow, refused: refused)
            do {
                let receipt = try store.transact(author) { [options, entity] draft in
                    isAtEnd = try batch.apply(&splitter, to: &draft, entity, options)
                    return options.effect == .commit ? batch.payload : nil
                }
                report.logByteCount += receipt.logByteCount
                report.transaction = receipt.transaction ?? report.transaction
                take(batch)
            } catch let failure as ImportBatch.RefusedRow {
                try refuse(failure.row)
                splitter = DocumentSplitter(file: source.name, read: try source.open())
                for _ in 0..<firstRow { _ = try splitter.next() }
            } catch let failure as ImportBatch.FailedRow {
                take(batch, isFailed: true)
                throw error(failure.row)
            }
        }
    }

    private mutating func refuse(_ row: ImportReport.RowError) throws {
        guard options.onError == .skip else {
            report.errors.append(row)
            throw error(row)
        }
        guard source.isRepeatable else {
            throw CambiumError(
                .invalidInput, "Row \(row.row) breaks a rule that is seen only afterwards (\(row.message)), and the input cannot be read twice; import it from a file.",
                place: .init(file: source.name, line: row.line))
        }
        refused[row.row] = row
        guard refused.count <= Self.refusedCountMax else {
            throw CambiumError(
                .limitExceeded, "More than \(Self.refusedCountMax) rows break rules that are seen only afterwards; the last one is row \(row.row): \(row.message)",
                place: .init(file: source.name, line: row.line))
        }
    }

    private func error(_ row: ImportReport.RowError) -> CambiumError {
        CambiumError(
            .invalidInput, "Row \(row.row): \(row.message). \(report.transaction == nil ? "Nothing was imported." : "The batches before were imported.")",
            place: .init(file: source.name, line: row.line, pointer: row.pointer))
    }

    private mutating func take(_ batch: ImportBatch, isFailed: Bool = false) {
        report.rowCount = batch.lastRow
        for (key, count) in batch.unknownKeys { report.unknownKeys[key, default: 0] += count }
        for error in batch.errors {
            if report.errors.count < ImportReport.errorCountMax { report.errors.append(error) } else { report.errorsLeftOut += 1 }
        }
        if isFailed { return }
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
    /// Imports JSON rows as objects of an entity: each is found by its identity and updated, or inserted.
    ///
    /// All rows are one transaction, unless the options ask for batches; where nothing changes, nothing is written. Values are
    /// as the README's "Import" tells. Throws `.invalidInput` with the row, line and pointer of what cannot be imported, in
    /// which case nothing was (but for the batches before). Complexity: O(bytes of input), memory for the changed objects.
    public func importRows(
        _ entity: Entity, from source: ImportSource, _ options: ImportOptions = ImportOptions(), author: Author = Author()
    ) throws -> ImportReport {
        try importRows(entity, from: source, options, author: author) { _ in }
    }

    /// As `importRows(_:from:_:author:)`; `report` takes what was reached, also when the import fails.
    public func importRows(
        _ entity: Entity, from source: ImportSource, _ options: ImportOptions, author: Author,
        reached: (ImportReport) -> Void
    ) throws -> ImportReport {
        var run = ImportRun(store: self, entity: entity, source: source, options: options, author: author)
        defer { reached(run.report) }
        try run.run()
        return run.report
    }
}
