import CambiumGraph
import CambiumJSON
import CambiumLog
import CambiumModel

/// The rows of one transaction, and what came of them.
struct ImportBatch {
    /// A row that cannot be imported, where one such row stops the import.
    struct FailedRow: Error {
        let row: ImportReport.RowError
    }

    /// A row that was applied and breaks a rule of the schema.
    struct RefusedRow: Error {
        let row: ImportReport.RowError
    }

    private(set) var lastRow: Int
    private(set) var unknownKeys: [String: Int] = [:]
    private(set) var errors: [ImportReport.RowError] = []
    private(set) var counts: [EntityNumber: NetCounts] = [:]
    private(set) var repeated: [EntityNumber: Int] = [:]
    /// The ops that the rows come to; nil where nothing changes.
    private(set) var payload: [UInt8]?
    private let refused: [Int: ImportReport.RowError]
    private var seen: [RowSet] = []
    private let parser = JSONParser()

    init(firstRow: Int, refused: [Int: ImportReport.RowError]) {
        lastRow = firstRow
        self.refused = refused
    }

    /// Applies rows up to the end, or to the end of the batch. Returns whether that was the end of the input.
    mutating func apply(
        _ splitter: inout DocumentSplitter, to draft: inout Draft, _ entity: Entity, _ options: ImportOptions
    ) throws -> Bool {
        let entities = try ImportEntities(draft)
        guard let target = entities[entity.number] else { throw CambiumError(.notFound, "The schema has no entity '\(entity.name)'.") }
        var planner = RowPlanner(options: options, entities: entities)
        draft.trackChanges()
        seen = draft.emptyRowSets()
        let end = options.batchRowCount.map { lastRow + $0 } ?? .max
        var isAtEnd = false
        while lastRow < end {
            guard let document = try splitter.next() else {
                isAtEnd = true
                break
            }
            lastRow += 1
            try row(document, splitter, &planner, target, &draft)
        }
        counts = draft.netCounts(seen: seen)
        var writer = OpCodec.PayloadWriter()
        try draft.deriveOps { op in writer.append(op) }
        payload = writer.opCount > 0 ? writer.finish() : nil
        return isAtEnd
    }

    private mutating func row(
        _ document: DocumentSplitter.Document, _ splitter: DocumentSplitter, _ planner: inout RowPlanner,
        _ entity: ImportEntity, _ draft: inout Draft
    ) throws {
        if let known = refused[lastRow] { return errors.append(known) }
        do {
            try splitter.window.withUnsafeBytes { window in
                let bytes = UnsafeRawBufferPointer(rebasing: window[document.start..<document.end])
                try apply(bytes, &planner, entity, &draft)
            }
        } catch let failure as RowFailure {
            try fail(failure, document, planner.options)
        } catch let error as JSONError {
            let failure = RowFailure(code: .malformed, pointer: "", message: "malformed JSON: \(error.message), at column \(error.column)")
            try fail(failure, document, planner.options, line: document.line + error.line - 1)
        }
        for key in planner.unknownKeys { unknownKeys[key, default: 0] += 1 }
        let violations = draft.takeViolations()
        if let first = violations.first {
            throw RefusedRow(row: rowError(.init(code: first.rule.rowErrorCode, pointer: "", message: first.description), document.line))
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

    private mutating func fail(
        _ failure: RowFailure, _ document: DocumentSplitter.Document, _ options: ImportOptions, line: Int? = nil
    ) throws {
        let error = rowError(failure, line ?? document.line)
        errors.append(error)
        if options.onError == .stop { throw FailedRow(row: error) }
    }

    private func rowError(_ failure: RowFailure, _ line: Int) -> ImportReport.RowError {
        .init(row: lastRow, line: line, pointer: failure.pointer, code: failure.code, message: failure.message)
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
