package import CambiumGraph
package import CambiumModel

/// The rows of one transaction, and their outcome. A *row* is an element of the input, but a *table row* is the number of an object in its
/// table of the graph.
package struct ImportBatch {
    private(set) var lastRow: Int
    private(set) var rowObjects: [ObjectID?] = []
    private(set) var unknownKeys = UnknownKeys()
    private(set) var errors: [ImportReport.RowError] = []
    private(set) var errorsLeftOut = 0
    private(set) var counts: [EntityNumber: NetCounts] = [:]
    private(set) var repeated: [EntityNumber: Int] = [:]
    /// For each entity, the number of objects that the import deletes because they are absent from the input, or because they lost their
    /// last owner. The number includes the objects that a cascade deletes.
    var deleted: [EntityNumber: Int] = [:]
    private let refused: [Int: RefusedRows.Refusal]
    /// The number of rows that were applied.
    private(set) var goodRowCount = 0
    /// The violations that the import checks again after its last row. A violation is a value that was already in use when a row assigned
    /// the value, or a wrong number of members. Each violation has the number of the row that caused the violation.
    private(set) var deferred: DeferredChecks
    /// The rows that caused the entries of `deferred`, by row number.
    private(set) var deferredRows: [Int: DeferredRow] = [:]
    /// If `deferred` or `deferredRows` has more elements than this number, the batch drops the elements that later rows have resolved.
    /// Therefore, the memory does not grow with the input.
    private var deferredCountMax = 4096
    /// Whether the outcome of a row may depend on an earlier row, for a reason other than the rules about unique values and numbers of
    /// members. Always `true` if a hook may change the graph.
    private(set) var hasDependentRow: Bool
    /// The influences of the rows on each other; `nil` if no earlier run refused a row of the batch, or if a hook changes the graph.
    private(set) var influences: RowInfluences?
    /// The groups of rows that influence each other; `nil` if `influences` is `nil`.
    var couplings: RowCouplings?
    /// The number of earlier runs of the batch that refused a row.
    private let attempt: Int
    /// After this number of runs, a run no longer searches for the rows that it would refuse without the first refused row. It omits all
    /// refused rows together, and the rows that need them.
    private static let exactAttemptCount = 16
    /// Whether the run omits all refused rows together.
    var isLastResort: Bool { attempt >= Self.exactAttemptCount }
    /// In the last resort: for each row that corrected a number of members, the rows that had made the number wrong.
    private(set) var corrected: [Int: [Int]] = [:]
    /// In the last resort: the rows that broke a rule which is checked after each row.
    private(set) var refusals: [RefusedRows.Refusal] = []
    /// For each table, the table rows (the row numbers in the table) of the objects that rows of the input described.
    private var seen: [RowSet] = []
    /// For each table, the table rows of the objects that rows of the input described or referred to. The list is filled only if the import
    /// must delete absent objects.
    private(set) var mentioned: [RowSet] = []
    /// The unknown keys of the row that is being applied.
    private var unknownKeysOfRow: [String] = []
    /// The number of the row that ends the batch, unless the input ends first.
    private let end: Int
    let input: ImportInput

    /// - Parameters:
    ///   - firstRow: the number of rows that precede the batch.
    ///   - refused: the rows that broke a rule in an earlier run of the batch, and that are omitted now.
    ///   - attempt: the number of earlier runs of the batch.
    package init(_ input: ImportInput, firstRow: Int, refused: [Int: RefusedRows.Refusal], attempt: Int = 0) {
        self.attempt = attempt
        lastRow = firstRow
        // A dry run commits no batch, and a later row may need the objects of an earlier batch. So a dry run applies all rows as one batch.
        end = input.options.effect == .dryRun ? .max : input.options.batchRowCount.map { firstRow + $0 } ?? .max
        self.refused = refused
        self.input = input
        influences = refused.keys.contains { $0 > firstRow } ? RowInfluences() : nil
        deferred = DeferredChecks(notesSeries: influences != nil)
        // If the options skip existing objects, a row also skips a stub that an earlier row has completed. Without the earlier row, the
        // later row would complete the stub itself.
        hasDependentRow = input.options.existing == .skip
    }

    /// Whether the batch has as many rows as the options allow.
    package var isFull: Bool { lastRow >= end }

    /// Prepares a draft for the rows of the batch. Returns the planner, which the caller passes to `apply`.
    package mutating func begin(_ draft: inout Draft) throws -> RowPlanner {
        var planner = RowPlanner(options: input.options, entities: try ImportEntities(draft, input.resolver))
        planner.plan.notesNames = input.options.absent == .delete
        planner.notesFindings = influences != nil
        draft.trackChanges()
        if influences != nil { couplings = RowCouplings(listedEnds: DeferredChecks.listMemberChanges(&draft)) }
        seen = ImportOutcome.emptyRowSets(draft)
        if input.options.absent == .delete { mentioned = seen }
        return planner
    }

    /// While a row is applied, memory is prefetched for the identities of the row that comes this many rows later.
    private static let prefetchDistance = 8

    /// Applies rows of the batch to a draft.
    package mutating func apply(_ rows: borrowing RowBatch, _ planner: inout RowPlanner, to draft: inout Draft) throws {
        let count = rows.rows.count
        for place in 0..<min(count, Self.prefetchDistance) { Self.prefetch(rows.rows[place], rows, planner.entities, draft) }
        for place in 0..<count {
            let ahead = place + Self.prefetchDistance
            if ahead < count { Self.prefetch(rows.rows[ahead], rows, planner.entities, draft) }
            _ = try row(rows.rows[place], rows, &planner, &draft)
            try check(rows.rows[place], &planner, &draft)
        }
    }

    /// Applies the only row of a batch. Returns the object of the row. Returns `nil` if the row is omitted, or if its object stays
    /// unchanged.
    ///
    /// After this call, the hook of the program may change the draft. The caller must call `endSingle` afterwards.
    package mutating func applySingle(
        _ rows: borrowing RowBatch, _ planner: inout RowPlanner, to draft: inout Draft
    ) throws -> ObjectID? {
        // A hook may read and change any object, so the influences of rows on each other are unknown. Without an earlier row, the hook may
        // assign other values, so even the refusal of the row is not certain.
        (influences, couplings) = (nil, nil)
        hasDependentRow = true
        planner.notesFindings = false
        planner.isFinishedByHook = true
        guard try row(rows.rows[0], rows, &planner, &draft), !planner.isRootSkipped else { return nil }
        return planner.rootObject(draft)
    }

    @inline(__always)
    private static func prefetch(
        _ row: RowBatch.Row, _ batch: borrowing RowBatch, _ entities: ImportEntities, _ draft: borrowing Draft
    ) {
        for place in row.keys.range {
            let key = batch.keys[place]
            if let keys = entities.keyPlaces[Int(key.entity.rawValue)] { ImportWriter.prefetch(draft, keys, hash: key.hash) }
        }
    }

    /// Counts objects by their net change. The caller must have applied all rows.
    ///
    /// - Parameter changed: The objects that differ from the original graph, if they are known; otherwise `nil`.
    package mutating func count(_ draft: borrowing Draft, changed: [RowSet]?) {
        counts = ImportOutcome.netCounts(draft, seen: seen, changed: changed)
    }

    /// Applies a row, unless an earlier run of the batch refused the row, or the row cannot be imported. Returns whether the row was
    /// applied.
    private mutating func row(
        _ row: RowBatch.Row, _ batch: borrowing RowBatch, _ planner: inout RowPlanner, _ draft: inout Draft
    ) throws -> Bool {
        lastRow += 1
        var object: ObjectID?
        defer { if planner.options.rowObjects == .report { rowObjects.append(object) } }
        if let known = refused[lastRow] {
            track(known.row)
            unknownKeys.track(known.unknownKeys)
            return false
        }
        var isApplied = false
        // The unknown keys of the previous row were counted, and must not be counted again if this row cannot be read.
        unknownKeysOfRow.removeAll(keepingCapacity: true)
        // If this row stops the import, the report also has the row's unknown keys, because one of them may be a misspelled name.
        defer { for key in unknownKeysOfRow { unknownKeys.track(key) } }
        do {
            if row.failure >= 0 { throw batch.failures[Int(row.failure)] }
            try apply(row, batch, &planner, &draft)
            isApplied = true
            goodRowCount += 1
            if planner.options.rowObjects == .report { object = planner.rootObject(draft) }
        } catch let failure as RowFailure {
            if row.failure < 0, Self.canDepend(failure, planner.options) { hasDependentRow = true }
            try fail(rowError(failure, row), planner.options)
        }
        if influences != nil { trackInfluences(isApplied, &planner, &draft) }
        return isApplied
    }

    /// Whether a row that cannot be applied could be applied if an earlier row were omitted. Without the earlier row, an object may belong
    /// to another entity, or may not exist yet and so get its defaults. All other failures do not depend on earlier rows.
    private static func canDepend(_ failure: RowFailure, _ options: RowRules) -> Bool {
        switch failure.code {
        case .duplicate, .ruleViolated: true
        case .missingMandatory: options.missing == .clear
        default: false
        }
    }

    /// Checks a row that was applied. Throws `RefusedRows` if the row breaks a rule. Values that are not unique, and wrong numbers of
    /// members, are only recorded, because a later row may correct the violation.
    @inline(__always)
    mutating func check(_ row: RowBatch.Row, _ planner: inout RowPlanner, _ draft: inout Draft) throws {
        var (isDeferred, corrects) = (false, false)
        let violation = DeferredChecks.takeViolation(&draft, finding: planner.entities.finding) { check in
            if influences != nil, deferred.isCorrected(by: check) { corrects = true }
            if isLastResort, let row = deferred.rowCorrected(by: check) { corrected[lastRow, default: []].append(row) }
            if deferred.track(check, place: lastRow) { isDeferred = true }
        }
        if isDeferred { deferredRows[lastRow] = DeferredRow(row: row, unknownKeys: unknownKeys.part(unknownKeysOfRow)) }
        if isDeferred { couplings?.add(lastRow, planner.plan, planner.entities) }
        if isDeferred, !corrects { influences?.add(lastRow, planner.plan, planner.entities) }
        if max(deferred.count, deferredRows.count) > deferredCountMax, !isLastResort { forgetResolvedChecks(draft) }
        if let violation { try refuse(RowFailure(violation), row) }
    }

    /// Refuses the row that was applied last. In the last resort, the run continues, and refuses further rows.
    mutating func refuse(_ failure: RowFailure, _ row: RowBatch.Row) throws {
        let refused = refusedRow(failure, row)
        guard isLastResort else { throw refused }
        refusals.append(refused.first)
    }

    /// Returns the error for the row that was applied last.
    func refusedRow(_ failure: RowFailure, _ row: RowBatch.Row) -> RefusedRows {
        RefusedRows(first: .init(place: lastRow, row: rowError(failure, row), unknownKeys: unknownKeys.part(unknownKeysOfRow)))
    }

    private mutating func trackInfluences(_ isApplied: Bool, _ planner: inout RowPlanner, _ draft: inout Draft) {
        influences?.track(planner.findings)
        couplings?.track(planner.findings, lastRow)
        if isApplied { couplings?.track(DeferredChecks.takeMemberChanges(&draft), planner.plan, planner.entities, lastRow) }
        planner.findings.removeAll(keepingCapacity: true)
        if isApplied { influences?.trackLinks(planner.plan, planner.entities) }
    }

    private mutating func forgetResolvedChecks(_ draft: borrowing Draft) {
        DeferredChecks.forgetResolved(draft, &deferred)
        let rows = deferred.rows
        deferredRows = deferredRows.filter { rows.contains($0.key) }
        deferredCountMax = max(deferredCountMax, 2 * deferred.count)
    }

    /// Plans a row and applies it. If the reader assumed the wrong entity for an object, first reads the row again.
    private mutating func apply(
        _ row: RowBatch.Row, _ batch: borrowing RowBatch, _ planner: inout RowPlanner, _ draft: inout Draft
    ) throws {
        if try isPlanned(row.object, batch, &planner, draft) { return try applyPlan(batch, &planner, &draft) }
        hasDependentRow = true
        var readAs: [Int: EntityNumber] = [:]
        while true {
            readAs.merge(planner.misread) { $1 }
            let isRecord = input.sources[Int(row.source)].format == .csv
            let again = try input.rereader.read(batch.bytes[row.document.range], readAs, isRecord: isRecord)
            if try isPlanned(0, again, &planner, draft) { return try applyPlan(again, &planner, &draft) }
        }
    }

    /// Plans a row. Returns whether the reader assumed the right entity for each object.
    private mutating func isPlanned(
        _ object: Int32, _ batch: borrowing RowBatch, _ planner: inout RowPlanner, _ draft: borrowing Draft
    ) throws(RowFailure) -> Bool {
        let failure: RowFailure?
        do throws(RowFailure) {
            try planner.plan(object, batch, draft)
            failure = nil
        } catch { failure = error }
        if !planner.misread.isEmpty { return false }
        for keys in planner.unknownKeys { unknownKeysOfRow += batch.unknownKeys[keys.range] }
        if let failure { throw failure }
        return true
    }

    private mutating func applyPlan(
        _ batch: borrowing RowBatch, _ planner: inout RowPlanner, _ draft: inout Draft
    ) throws(CambiumError) {
        try planner.plan.apply(to: &draft, batch, planner.entities) { object, entity, row in
            let table = entity.table.number
            if object.isDescribed, !seen[table].insert(row) { repeated[object.entity, default: 0] += 1 }
            if !mentioned.isEmpty { mentioned[table].insert(row) }
        }
    }

    private mutating func fail(_ error: ImportReport.RowError, _ options: RowRules) throws {
        track(error)
        if options.onError == .stop { throw FailedRow(row: error) }
    }

    /// Adds an error to the report. Beyond a limit, errors are only counted, so that the memory does not grow with the input.
    private mutating func track(_ error: ImportReport.RowError) {
        if errors.count < ImportReport.errorCountMax { errors.append(error) } else { errorsLeftOut += 1 }
    }
}
