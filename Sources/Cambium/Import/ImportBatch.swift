import CambiumGraph
internal import CambiumJSON
internal import CambiumLog
import CambiumModel

/// The rows of one transaction, and their outcome.
struct ImportBatch {
    /// A row that cannot be imported, if one such row stops the import.
    struct FailedRow: Error {
        let row: ImportReport.RowError
    }

    /// The rows that were applied and break rules of the schema, ascending.
    struct RefusedRows: Error {
        struct Refusal {
            /// The number of the row, counted from 1 over all sources.
            let place: Int
            let row: ImportReport.RowError
        }

        let first: Refusal
        var others: [Refusal] = []
    }

    /// No row could be imported, so every object would be absent.
    struct NoRow: Error {}

    private(set) var lastRow: Int
    private(set) var rowObjects: [ObjectID?] = []
    private(set) var unknownKeys: [String: Int] = [:]
    private(set) var unknownKeysLeftOut = 0
    private(set) var errors: [ImportReport.RowError] = []
    private(set) var counts: [EntityNumber: NetCounts] = [:]
    private(set) var repeated: [EntityNumber: Int] = [:]
    /// The number of objects that the import deletes as absent, with their cascades, by entity.
    var deleted: [EntityNumber: Int] = [:]
    private let refused: [Int: ImportReport.RowError]
    /// The number of rows that were applied.
    private(set) var goodRowCount = 0
    /// The values that were not unique when a row gave them, and these rows.
    private(set) var duplicates = ImportDuplicates()
    private(set) var duplicateRows: [Int: RowBatch.Row] = [:]
    /// If there are more duplicates than this, the batch drops those whose values are unique by now. So memory does not grow with the
    /// input.
    private var duplicateCountMax = 4096
    /// The table rows of the objects that were described.
    private var seen: [RowSet] = []
    /// The table rows of the objects that were described or named; kept only if absent objects are to be deleted.
    private(set) var mentioned: [RowSet] = []
    var cancellation: Cancellation?
    /// The unknown keys of the row that is being applied.
    private var unknownOfRow: [String] = []
    private let hooks: ImportHooks
    private let sources: [ImportSource]
    private let rereader: RowRereader

    init(
        firstRow: Int, refused: [Int: ImportReport.RowError], hooks: ImportHooks, sources: [ImportSource], rereader: RowRereader
    ) {
        lastRow = firstRow
        self.refused = refused
        self.hooks = hooks
        self.sources = sources
        self.rereader = rereader
    }

    /// Applies rows up to the end of the input or of the batch. Returns whether the input has ended.
    mutating func apply(
        _ feed: RowFeed, to transaction: inout WriteTransaction, _ options: ImportOptions, _ resolver: MappingResolver
    ) throws -> Bool {
        var planner = RowPlanner(options: options, entities: try ImportEntities(transaction.draft, resolver))
        planner.plan.notesNames = options.absent == .delete
        transaction.draft.trackChanges()
        transaction.recording = .comparison
        seen = transaction.draft.emptyRowSets()
        if options.absent == .delete { mentioned = seen }
        let end = options.batchRowCount.map { lastRow + $0 } ?? .max
        var isAtEnd = false
        while lastRow < end, !isAtEnd {
            try cancellation?.check()
            var rows = feed.next()
            try apply(rows, &planner, to: &transaction)
            switch rows.end {
            case .more: transaction.draft.prepareMemory()
            case .nothing: isAtEnd = true
            case .failed(let error): throw error
            }
            feed.recycle(&rows)
        }
        transaction.recording = .ops
        return isAtEnd
    }

    /// The number of rows in advance for which the memory of their identities is prefetched.
    private static let prefetchDistance = 8

    private mutating func apply(
        _ batch: borrowing RowBatch, _ planner: inout RowPlanner, to transaction: inout WriteTransaction
    ) throws {
        let count = batch.rows.count
        for place in 0..<min(count, Self.prefetchDistance) {
            Self.prefetch(batch.rows[place], batch, planner.entities, transaction.draft)
        }
        for place in 0..<count {
            let ahead = place + Self.prefetchDistance
            if ahead < count { Self.prefetch(batch.rows[ahead], batch, planner.entities, transaction.draft) }
            lastRow += 1
            try row(batch.rows[place], batch, &planner, &transaction)
        }
    }

    @inline(__always)
    private static func prefetch(
        _ row: RowBatch.Row, _ batch: borrowing RowBatch, _ entities: ImportEntities, _ draft: borrowing Draft
    ) {
        for place in row.keys.range {
            let key = batch.keys[place]
            if let keys = entities.keyPlaces[Int(key.entity.rawValue)] { draft.prefetch(keys, hash: key.hash) }
        }
    }

    /// Counts the net effect of the rows, after all of them are applied.
    mutating func count(_ draft: borrowing Draft) { counts = draft.netCounts(seen: seen) }

    private mutating func row(
        _ row: RowBatch.Row, _ batch: borrowing RowBatch, _ planner: inout RowPlanner, _ transaction: inout WriteTransaction
    ) throws {
        var object: ObjectID?
        defer { if planner.options.rowObjects == .report { rowObjects.append(object) } }
        if let known = refused[lastRow] { return errors.append(known) }
        var isApplied = false
        // The unknown keys of the previous row were counted, and a row that cannot be read adds none.
        unknownOfRow.removeAll(keepingCapacity: true)
        do {
            if row.failure >= 0 { throw batch.failures[Int(row.failure)] }
            try apply(row, batch, &planner, &transaction, &isApplied)
            goodRowCount += 1
            if planner.options.rowObjects == .report { object = planner.rootObject(transaction.draft) }
        } catch let failure as RowFailure {
            let error = rowError(failure, row)
            if isApplied { throw RefusedRows(first: .init(place: lastRow, row: error)) }
            try fail(error, planner.options)
        }
        for key in unknownOfRow { noteUnknown(key) }
        let violation = transaction.draft.takeViolation(finding: planner.entities.finding) { entry in
            duplicates.append(entry, place: lastRow)
            duplicateRows[lastRow] = row
        }
        if duplicates.count > duplicateCountMax { forgetResolvedDuplicates(transaction.draft) }
        if let violation { throw RefusedRows(first: .init(place: lastRow, row: rowError(RowFailure(violation), row))) }
    }

    private mutating func forgetResolvedDuplicates(_ draft: borrowing Draft) {
        draft.forgetResolved(&duplicates)
        let rows = duplicates.rows
        duplicateRows = duplicateRows.filter { rows.contains($0.key) }
        duplicateCountMax = max(duplicateCountMax, 2 * duplicates.count)
    }

    /// Plans a row and applies it. If objects turn out to be of other entities than they were read as, reads the row again.
    private mutating func apply(
        _ row: RowBatch.Row, _ batch: borrowing RowBatch, _ planner: inout RowPlanner, _ transaction: inout WriteTransaction,
        _ isApplied: inout Bool
    ) throws {
        if try isPlanned(row.object, batch, &planner, transaction.draft) {
            return try applyPlan(batch, batch.value, planner: &planner, &transaction, &isApplied)
        }
        var readAs: [Int: EntityNumber] = [:]
        while true {
            readAs.merge(planner.misread) { $1 }
            let isRecord = sources[Int(row.source)].format == .csv
            let again = try rereader.read(batch.bytes[row.document.range], readAs, isRecord: isRecord)
            if try isPlanned(0, again, &planner, transaction.draft) {
                return try applyPlan(again, batch.value, planner: &planner, &transaction, &isApplied)
            }
        }
    }

    /// Plans a row. Returns whether all its objects were read as objects of their entities.
    private mutating func isPlanned(
        _ object: Int32, _ batch: borrowing RowBatch, _ planner: inout RowPlanner, _ draft: borrowing Draft
    ) throws(RowFailure) -> Bool {
        let failure: RowFailure?
        do throws(RowFailure) {
            try planner.plan(object, batch, draft)
            failure = nil
        } catch { failure = error }
        if !planner.misread.isEmpty { return false }
        for keys in planner.unknownKeys { unknownOfRow += batch.unknownKeys[keys.range] }
        if let failure { throw failure }
        return true
    }

    private mutating func applyPlan(
        _ batch: borrowing RowBatch, _ value: JSONValue?, planner: inout RowPlanner, _ transaction: inout WriteTransaction,
        _ isApplied: inout Bool
    ) throws {
        try planner.plan.apply(to: &transaction.draft, batch, planner.entities) { object, entity, row in
            let table = entity.table.number
            if object.isDescribed, !seen[table].insert(row) { repeated[object.entity, default: 0] += 1 }
            if !mentioned.isEmpty { mentioned[table].insert(row) }
        }
        isApplied = true
        guard let finish = hooks.finish, let value, !planner.isRootSkipped else { return }
        let id = planner.rootObject(transaction.draft)
        try RowFailure.ofHook { try finish(&transaction, id, value) }
        planner.noteRoot(transaction.draft)
    }

    private mutating func noteUnknown(_ key: String) {
        if unknownKeys[key] == nil, unknownKeys.count >= ImportReport.unknownKeyCountMax {
            unknownKeysLeftOut += 1
        } else {
            unknownKeys[key, default: 0] += 1
        }
    }

    private mutating func fail(_ error: ImportReport.RowError, _ options: RowRules) throws {
        errors.append(error)
        if options.onError == .stop { throw FailedRow(row: error) }
    }

    func rowError(_ failure: RowFailure, _ row: RowBatch.Row) -> ImportReport.RowError {
        .init(
            file: sources[Int(row.source)].name, row: row.number, line: row.line, pointer: failure.pointer, code: failure.code,
            message: failure.message)
    }
}
