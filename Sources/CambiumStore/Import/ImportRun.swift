internal import CambiumBytes
import CambiumExchange
import CambiumGraph
internal import CambiumJSON
internal import CambiumLog
import CambiumModel

/// One import: its rows, in one transaction or in batches.
package struct ImportRun {
    let store: Store
    let entity: Entity
    let sources: [ImportSource]
    let options: ImportOptions
    let hooks: ImportHooks
    let author: Author
    /// Reports whether the caller has cancelled the import; `nil` if the import cannot be cancelled.
    var cancellation: Cancellation?
    /// The call in which a task waits for the import; `nil` for a blocking import. Until the first transaction begins, cancelling the task
    /// ends the call at once.
    var call: WaitingCall?
    package private(set) var report = ImportReport()
    /// The graph after the last transaction; `nil` if there was no transaction.
    package private(set) var graph: Graph?
    /// The refused rows, by row number: they broke a rule after they had been applied. The next attempt to import the batch omits them.
    private var refused: [Int: ImportBatch.RefusedRows.Refusal] = [:]

    /// The number of runs of the present batch that refused a row.
    private var attempt = 0

    /// The maximum number of runs of a batch. If even more runs refuse rows, the import fails.
    static let attemptCountMax = 64

    package init(store: Store, entity: Entity, sources: [ImportSource], options: ImportOptions, hooks: ImportHooks, author: Author) {
        (self.store, self.entity, self.sources) = (store, entity, sources)
        (self.options, self.hooks, self.author) = (options, hooks, author)
    }

    package mutating func runToEnd() throws -> ImportReport {
        defer { if report.rowCount > 10_000 { Heap.trim() } }
        try run()
        return report
    }

    private mutating func run() throws {
        try store.writer.checkOutsideOfWrites("importRows")
        if author.requestID != nil, options.batchRowCount != nil {
            throw CambiumError(.invalidInput, "An import with a request id is one transaction. Omit the batch size or the request id.")
        }
        if options.absent == .delete, options.batchRowCount != nil {
            throw CambiumError(
                .invalidInput, "An import that deletes absent objects must read all rows in one transaction. Omit the batch size.")
        }
        if options.absent == .delete, !options.absentMax.isValid {
            throw CambiumError(
                .invalidInput, "The limit of absent objects is \(options.absentMax.text). Use a number of at least 0, or 0% to 100%.")
        }
        if let count = options.batchRowCount, count < 1 {
            throw CambiumError(.invalidInput, "The batch size is \(count), but must be at least 1.")
        }
        let graph = store.graph
        if let scope = options.absentScope { try graph.check(Query(entity.name, where: scope)) }
        let input = try ImportInput(sources, entity, options, graph.schema, hashNumbers: graph.hashNumbers)
        var feed = try feed(input)
        defer { feed.stop() }
        var isAtEnd = false
        while !isAtEnd {
            var batch = ImportBatch(input, firstRow: report.rowCount, refused: refused, attempt: attempt)
            do {
                feed.begin()
                isAtEnd = try commit(&batch, feed, input)
                attempt = 0
            } catch is ImportBatch.NoRow {
                report.addRows(of: batch)
                throw CambiumError(
                    .invalidInput,
                    "No row of the input can be imported, so the import would delete every object of '\(entity.name)' as absent. "
                        + "Nothing was imported. Check the input.")
            } catch let failure as ImportBatch.RefusedRows {
                do {
                    try refuse(failure)
                } catch {
                    report.addRows(of: batch)
                    throw error
                }
                feed.stop()
                feed = try self.feed(input)
            } catch let failure as ImportBatch.FailedRow {
                report.addRows(of: batch)
                throw error(failure.row)
            } catch {
                // The input or the transaction failed. The rows that were skipped before the failure must be reported, too.
                report.addRows(of: batch)
                throw error
            }
        }
    }

    /// Creates the feed that reads the rows after those that earlier batches imported.
    private func feed(_ input: ImportInput) throws -> RowFeed {
        let prepare = hooks.prepare(entity, input.schema)
        let isHooked = prepare != nil || hooks.finish != nil
        let pace = isHooked ? RowPace.single(prepare: prepare) : .batches
        return try input.feed(firstRow: report.rowCount, refused: refused.keys, pace)
    }

    /// Commits the rows of one transaction. Returns whether the input has ended.
    private mutating func commit(_ batch: inout ImportBatch, _ feed: RowFeed, _ input: ImportInput) throws -> Bool {
        var isAtEnd = false
        let receipt = try store.transact(author) { [self] transaction in
            if call?.begin() == false { throw CancellationError() }
            guard transaction.schema === input.schema else {
                throw CambiumError(.conflict, "The schema changed while the import read rows. Import the rows again.")
            }
            isAtEnd = try apply(feed, &batch, to: &transaction)
            // The deletion of objects makes their unique values available again, and ends the violations of their own rules. So if objects
            // may be deleted, the import makes the deferred checks only after the deletion.
            let mayDelete = options.absent == .delete || transaction.draft.hasLosses
            if !mayDelete { try batch.checkDeferred(transaction.draft) }
            var changed: [RowSet]?
            if options.effect == .commit {
                changed = ImportOutcome.restoreProvenance(&transaction.draft)
                try transaction.deriveOps()
            }
            try deleteObjects(&batch, from: &transaction)
            if mayDelete { try batch.checkDeferred(transaction.draft) }
            transaction.isRehearsal = options.effect == .dryRun
            // The deletion of objects may change objects that are not in `changed`.
            batch.count(transaction.draft, changed: mayDelete ? nil : changed)
            try cancellation?.check()
        }
        graph = receipt.graph
        report.logByteCount += receipt.logByteCount
        report.transaction = receipt.transaction ?? report.transaction
        report.addRows(of: batch)
        report.addObjects(of: batch)
        return isAtEnd
    }

    /// Applies rows to the transaction, until the batch is full or the input ends. Returns whether the input has ended.
    private func apply(_ feed: RowFeed, _ batch: inout ImportBatch, to transaction: inout WriteTransaction) throws -> Bool {
        transaction.recording = .comparison
        if options.orphans == .delete { transaction.draft.deleteOwnedOrphans() }
        var planner = try batch.begin(&transaction.draft)
        var isAtEnd = false
        while !batch.isFull, !isAtEnd {
            try cancellation?.check()
            var rows = feed.next()
            if let finish = hooks.finish, let value = rows.value {
                try apply(rows, value, finish, &batch, &planner, to: &transaction)
            } else {
                try batch.apply(rows, &planner, to: &transaction.draft)
            }
            switch rows.end {
            case .more: ImportWriter.prepareMemory(transaction.draft)
            case .nothing: isAtEnd = true
            case .failed(let error): throw error
            }
            feed.recycle(&rows)
        }
        try transaction.draft.restorePositions()
        transaction.recording = .ops
        return isAtEnd
    }

    /// Applies one row. If the row results in an object, calls `finish` with the object.
    private func apply(
        _ rows: borrowing RowBatch, _ value: JSONValue, _ finish: ImportHooks.Finish, _ batch: inout ImportBatch,
        _ planner: inout RowPlanner, to transaction: inout WriteTransaction
    ) throws {
        let object = try batch.applySingle(rows, &planner, to: &transaction.draft)
        var failure: RowFailure?
        if let object {
            do throws(RowFailure) {
                try RowFailure.ofHook { try finish(&transaction, object, value) }
                try planner.checkLacks(transaction.draft)
            } catch { failure = error }
        }
        let changed = transaction.takeHookedObjects()
        try batch.endSingle(rows, changed: changed, failure, &planner, &transaction.draft)
    }

    /// Deletes the objects that do not occur in the input, if the options request that. Also deletes the objects that lost their last
    /// owner, if the options or the schema request that.
    private func deleteObjects(_ batch: inout ImportBatch, from transaction: inout WriteTransaction) throws {
        let absent = try batch.absent(from: transaction.draft)
        let orphans = transaction.draft.takeOrphans()
        let ids = orphans.isEmpty ? absent : Set(absent).union(orphans).sorted()
        if ids.isEmpty { return }
        batch.trackDeleted(ids, transaction.draft)
        if options.effect == .commit { return try transaction.delete(ids) }
        try transaction.draft.apply(.delete(ids))
        try transaction.draft.check()
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
        for refusal in [failure.first] + failure.others where refused[refusal.place] == nil { refused[refusal.place] = refusal }
        attempt += 1
        guard attempt < Self.attemptCountMax else {
            throw CambiumError(
                .limitExceeded,
                "In each of \(Self.attemptCountMax) runs, the import omitted bad rows, and further rows then violated rules. One of "
                    + "them is row \(row.row): \(row.message). Correct these rows.",
                place: .init(file: row.file, line: row.line))
        }
    }

    private func error(_ row: ImportReport.RowError) -> CambiumError {
        CambiumError(
            .invalidInput,
            "Row \(row.row): \(row.message). \(report.transaction == nil ? "Nothing was imported." : "The earlier batches were imported.")",
            place: .init(file: row.file, line: row.line, pointer: row.pointer))
    }
}

extension Store {
    /// Imports JSON rows as objects of an entity. If there is an object with the identity of a row, the import updates this object.
    /// Otherwise, the import inserts an object.
    ///
    /// All rows of all sources form one transaction, unless the options request batches. If nothing changes, nothing is written, except the
    /// author's request id, if there is one.
    ///
    /// Throws `.invalidInput` with the row, line and pointer of a value that cannot be imported. An import that deletes absent objects
    /// throws `.invalidInput` if no row can be imported, or if the scope does not fit the entity. It throws `.limitExceeded` if more
    /// objects are absent than the options allow. After an error, nothing was imported, except earlier batches. Complexity: O(bytes of
    /// input), memory for the changed objects.
    ///
    /// - Parameters:
    ///   - entity: The entity of the objects that the rows describe.
    ///   - sources: The files or bytes with the rows, in the order in which the import reads the sources.
    ///   - options: The rules of the import.
    ///   - hooks: The functions of the program that change each row, or the object of each row.
    ///   - author: The author of the transactions.
    ///   - reached: Receives the report of a failed import, before the error is thrown.
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
