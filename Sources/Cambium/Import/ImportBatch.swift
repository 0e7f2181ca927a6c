import CambiumGraph
import CambiumJSON
internal import CambiumLog
import CambiumModel

/// The rows of one transaction, and what came of them.
struct ImportBatch {
    /// A row that cannot be imported, where one such row stops the import.
    struct FailedRow: Error {
        let row: ImportReport.RowError
    }

    /// A row that was applied and breaks a rule of the schema.
    struct RefusedRow: Error {
        /// Counted from 1 over all sources.
        let place: Int
        let row: ImportReport.RowError
    }

    private(set) var lastRow: Int
    private(set) var unknownKeys: [String: Int] = [:]
    private(set) var errors: [ImportReport.RowError] = []
    private(set) var counts: [EntityNumber: NetCounts] = [:]
    private(set) var repeated: [EntityNumber: Int] = [:]
    private let refused: [Int: ImportReport.RowError]
    private var seen: [RowSet] = []
    private let parser = JSONParser()

    init(firstRow: Int, refused: [Int: ImportReport.RowError]) {
        lastRow = firstRow
        self.refused = refused
    }

    /// Applies rows up to the end, or to the end of the batch. Returns whether that was the end of the input.
    mutating func apply(
        _ documents: inout DocumentStream, to draft: inout Draft, _ entity: Entity, _ options: ImportOptions
    ) throws -> Bool {
        let entities = try ImportEntities(draft)
        guard let target = entities[entity.number] else { throw CambiumError(.notFound, "The schema has no entity '\(entity.name)'.") }
        var planner = RowPlanner(options: options, entities: entities)
        draft.trackChanges()
        seen = draft.emptyRowSets()
        let end = options.batchRowCount.map { lastRow + $0 } ?? .max
        var isAtEnd = false
        while lastRow < end {
            guard let document = try documents.nextDocument() else {
                isAtEnd = true
                break
            }
            lastRow += 1
            try row(document, documents, &planner, target, &draft)
        }
        counts = draft.netCounts(seen: seen)
        return isAtEnd
    }

    private mutating func row(
        _ document: DocumentSplitter.Document, _ documents: borrowing DocumentStream, _ planner: inout RowPlanner,
        _ entity: ImportEntity, _ draft: inout Draft
    ) throws {
        if let known = refused[lastRow] { return errors.append(known) }
        do {
            try documents.withWindow { window in
                let bytes = UnsafeRawBufferPointer(rebasing: window[document.start..<document.end])
                try apply(bytes, &planner, entity, &draft)
            }
        } catch let failure as RowFailure {
            try fail(rowError(failure, document.line, documents), planner.options)
        } catch let error as JSONError {
            let failure = RowFailure(code: .malformed, pointer: "", message: "malformed JSON: \(error.message), at column \(error.column)")
            try fail(rowError(failure, document.line + error.line - 1, documents), planner.options)
        }
        for key in planner.unknownKeys { unknownKeys[key, default: 0] += 1 }
        let violations = draft.takeViolations()
        if let first = violations.first {
            let failure = RowFailure(code: first.rule.rowErrorCode, pointer: "", message: first.description)
            throw RefusedRow(place: lastRow, row: rowError(failure, document.line, documents))
        }
    }

    private mutating func apply(
        _ bytes: UnsafeRawBufferPointer, _ planner: inout RowPlanner, _ entity: ImportEntity, _ draft: inout Draft
    ) throws {
        let tokens = try parser.parse(bytes)
        try planner.plan(tokens, as: entity, draft)
        try planner.plan.apply(to: &draft, tokens) { entity, row in
            if !seen[entity.table.number].insert(row) { repeated[entity.entity.number, default: 0] += 1 }
        }
    }

    private mutating func fail(_ error: ImportReport.RowError, _ options: ImportOptions) throws {
        errors.append(error)
        if options.onError == .stop { throw FailedRow(row: error) }
    }

    private func rowError(
        _ failure: RowFailure, _ line: Int, _ documents: borrowing DocumentStream
    ) -> ImportReport.RowError {
        .init(
            file: documents.sourceName, row: documents.row, line: line, pointer: failure.pointer, code: failure.code,
            message: failure.message)
    }
}

extension Violation.Rule {
    var rowErrorCode: ImportReport.RowError.Code {
        switch self {
        case .mandatoryAttribute: .missingMandatory
        case .duplicate: .duplicate
        case .tooFewMembers, .tooManyMembers, .deleteDenied: .ruleViolated
        }
    }
}
