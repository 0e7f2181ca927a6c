package import CambiumGraph
package import CambiumModel

/// The end of a batch: the checks and deletions that take place after all rows have been applied, and the errors of rows.
extension ImportBatch {
    /// The error for a row that cannot be imported, if the options stop the import at such a row.
    package struct FailedRow: Error {
        package let row: ImportReport.RowError
    }

    /// The error for rows that were applied, but break rules of the schema. The rows are in ascending order. The caller must repeat the
    /// batch without these rows.
    package struct RefusedRows: Error {
        package struct Refusal {
            /// The number of the row, counted from 1 across all sources.
            package let place: Int
            package let row: ImportReport.RowError
            /// The unknown keys of the row. The repeated batch reports these keys, although it does not read the row.
            let unknownKeys: UnknownKeys
        }

        package let first: Refusal
        package var others: [Refusal] = []
    }

    /// A row that caused a violation which the import checks again later.
    struct DeferredRow {
        let row: RowBatch.Row
        let unknownKeys: UnknownKeys
    }

    /// The error of an import that must delete absent objects, but could import no row. Without this error, the import would delete every
    /// object.
    package struct NoRow: Error {}

    /// Ends the only row of a batch. Throws `RefusedRows` if the row or the program's hook has broken a rule.
    ///
    /// - Parameters:
    ///   - changed: the objects that the hook has inserted, or whose attributes it has changed.
    ///   - failure: the reason why the program refused the row; `nil` if the program accepted it.
    package mutating func endSingle(
        _ rows: borrowing RowBatch, changed: [ObjectID], _ failure: RowFailure?, _ planner: inout RowPlanner, _ draft: inout Draft
    ) throws {
        if let failure { try refuse(failure, rows.rows[0]) }
        planner.track(changed, draft)
        try check(rows.rows[0], &planner, &draft)
    }

    /// Returns the objects to delete as absent: no row refers to them, and they are in the scope that the options state. Returns no objects
    /// if the options do not request deletions, or if a row was omitted, because that row may refer to any object.
    ///
    /// Throws `NoRow` if no row could be imported. Throws `.invalidInput` if all rows concern only other entities, and `.limitExceeded` if
    /// more objects are absent than the options allow.
    package mutating func absent(from draft: borrowing Draft) throws -> [ObjectID] {
        let (entity, options) = (input.entity, input.options)
        guard options.absent == .delete else { return [] }
        guard goodRowCount > 0 else { throw NoRow() }
        guard errors.isEmpty else { return [] }
        var absent = ImportOutcome.absent(draft, entity, mentioned: mentioned)
        var all = draft.original.count(of: entity)
        // If fewer objects are absent than existed before the import, a row mentions at least one object, and no search is needed.
        var isMentioned = absent.count < all
        if !isMentioned { isMentioned = ImportOutcome.hasObject(draft, of: entity, in: mentioned) }
        if let scope = options.absentScope {
            let covered = try draft.original.find(Query(entity.name, where: scope))
            all = covered.count
            let ids = Set(covered)
            absent.removeAll { !ids.contains($0) }
        }
        if !isMentioned, !absent.isEmpty {
            try checkDeferred(draft)
            throw CambiumError(
                .invalidInput,
                "No row of the input describes or refers to an object of '\(entity.name)', so the import would delete \(absent.count) "
                    + "objects as absent. Nothing was imported. Check the input.")
        }
        deleted = ImportOutcome.countDeleted(draft, absent)
        let count = deleted.reduce(0) { entity.family.contains($1.key) ? $0 + $1.value : $0 }
        if options.absentMax.isExceeded(by: count, of: all) {
            // The user should correct errors in rows first, so these errors are thrown before the error below.
            try checkDeferred(draft)
            let place = options.absentScope == nil ? "" : " in the scope"
            throw CambiumError(
                .limitExceeded,
                "The import would delete \(count) of \(all) objects of '\(entity.name)'\(place), because they are not in the input, "
                    + "but the limit is \(options.absentMax.text). Nothing was imported. "
                    + "If the input is complete, raise the limit with --absent-max, or with absentMax in Swift.")
        }
        return absent
    }

    /// Counts the objects that the import deletes. Call this method before the deletion.
    package mutating func trackDeleted(_ ids: [ObjectID], _ draft: borrowing Draft) { deleted = ImportOutcome.countDeleted(draft, ids) }

    /// Repeats the checks of values that were not unique when assigned, and of relationships that had too few or too many members. Throws
    /// `RefusedRows` if a rule is still broken.
    package mutating func checkDeferred(_ draft: borrowing Draft) throws {
        if deferred.isEmpty, self.refusals.isEmpty { return }
        if isLastResort { return try refuseAll(draft) }
        let refusals = DeferredChecks.check(draft, deferred).filter { deferredRows[$0.place] != nil }
        // An import that skips errors omits all rows of this error, and applies the remaining rows again. So the error contains the first
        // refused row, and only those other rows that would be refused even without that row. These other rows are in `certain`. If
        // `certain` is empty, `followers` finds them. The remaining refused rows may be valid in the next pass, and are then imported
        // (Docs/Use/IMPORT.md).
        let certain = hasDependentRow ? [] : refusals.dropFirst().filter(\.isCertain)
        var others = certain.isEmpty ? followers(refusals) : certain
        guard let first = refusals.first.flatMap(refusal) else { return }
        if !hasDependentRow, let leaders = couplings?.leaders(refusals, draft) { others += leaders.filter { $0.place != first.place } }
        throw RefusedRows(first: first, others: others.compactMap(refusal))
    }

    /// Throws `RefusedRows` with all rows that the run refuses, and with the rows that need one of them: it corrected a number of members
    /// that they had made wrong.
    private func refuseAll(_ draft: borrowing Draft) throws {
        var found: [Int: RefusedRows.Refusal] = [:]
        for late in refusals + DeferredChecks.check(draft, deferred).compactMap(refusal) where found[late.place] == nil {
            found[late.place] = late
        }
        var pending = Array(found.keys)
        while let place = pending.popLast() {
            for row in corrected[place] ?? [] where found[row] == nil {
                guard let other = deferredRows[row] else { continue }
                let needed = found[place]?.row.row ?? place
                let failure = RowFailure(
                    code: .ruleViolated, pointer: "", message: "the row needs row \(needed), which cannot be imported")
                found[row] = .init(place: row, row: rowError(failure, other.row), unknownKeys: other.unknownKeys)
                pending.append(row)
            }
        }
        let all = found.values.sorted { $0.place < $1.place }
        if let first = all.first { throw RefusedRows(first: first, others: Array(all.dropFirst())) }
    }

    /// Returns the other refused rows that the import can omit together with the first refused row. Otherwise, the import would omit them
    /// one by one in repeated runs; `RowInfluences` proves that the outcome is the same.
    private func followers(_ refusals: [DeferredChecks.Refusal]) -> [DeferredChecks.Refusal] {
        guard var influences else { return [] }
        var all = refusals
        for refusal in refusals where influences.reportRefusal(refusal) { all += refusal.successors }
        // If several refusals concern the same row, the import reports the first of them.
        let ordered = all.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }.map(\.element)
        let count = ordered.prefix { influences.isIndependent($0.place) }.count
        return Array(ordered.prefix(count + 1).dropFirst())
    }

    private func refusal(_ refusal: DeferredChecks.Refusal) -> RefusedRows.Refusal? {
        deferredRows[refusal.place].map { deferred in
            .init(
                place: refusal.place, row: rowError(RowFailure(refusal.violation), deferred.row), unknownKeys: deferred.unknownKeys)
        }
    }

    func rowError(_ failure: RowFailure, _ row: RowBatch.Row) -> ImportReport.RowError {
        .init(
            file: input.sources[Int(row.source)].name, row: row.number, line: row.line,
            pointer: ImportReport.cut(failure.pointer, ImportReport.pointerLengthMax), code: failure.code, message: failure.message)
    }
}
