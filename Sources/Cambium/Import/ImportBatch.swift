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
    private(set) var rowObjects: [ObjectID?] = []
    private(set) var unknownKeys: [String: Int] = [:]
    private(set) var unknownKeysLeftOut = 0
    private(set) var errors: [ImportReport.RowError] = []
    private(set) var counts: [EntityNumber: NetCounts] = [:]
    private(set) var repeated: [EntityNumber: Int] = [:]
    /// Objects that the rows made absent, and their cascades.
    private(set) var deleted: [EntityNumber: Int] = [:]
    private let refused: [Int: ImportReport.RowError]
    /// The rows of the objects that were described.
    private var seen: [RowSet] = []
    /// The rows of the objects that were described or named; kept where that is asked for.
    private var mentioned: [RowSet] = []
    private let parser = JSONParser()
    private let preparedParser = JSONParser()
    private let hooks: ImportHooks

    init(firstRow: Int, refused: [Int: ImportReport.RowError], hooks: ImportHooks) {
        lastRow = firstRow
        self.refused = refused
        self.hooks = hooks
    }

    /// Applies rows up to the end, or to the end of the batch. Returns whether that was the end of the input.
    mutating func apply(
        _ documents: inout DocumentStream, to transaction: inout WriteTransaction, _ entity: Entity, _ options: ImportOptions,
        _ resolver: MappingResolver
    ) throws -> Bool {
        let entities = try ImportEntities(transaction.draft, resolver)
        guard let target = entities[entity.number] else { throw CambiumError(.notFound, "The schema has no entity '\(entity.name)'.") }
        var planner = RowPlanner(options: options, entities: entities, importing: target)
        planner.plan.notesNames = options.absent == .delete
        transaction.draft.trackChanges()
        transaction.recording = .comparison
        seen = transaction.draft.emptyRowSets()
        if options.absent == .delete { mentioned = seen }
        let end = options.batchRowCount.map { lastRow + $0 } ?? .max
        var isAtEnd = false
        while lastRow < end {
            guard let document = try documents.nextDocument() else {
                isAtEnd = true
                break
            }
            lastRow += 1
            try row(document, documents, &planner, target, &transaction)
        }
        transaction.recording = .ops
        return isAtEnd
    }

    /// What no row mentions and has to be deleted. Throws `.limitExceeded` for more than the options allow.
    mutating func absent(in draft: borrowing Draft, _ entity: Entity, _ options: ImportOptions) throws(CambiumError) -> [ObjectID] {
        guard options.absent == .delete, errors.isEmpty else { return [] }
        let absent = draft.absent(entity, mentioned: mentioned)
        let before = draft.original.count(of: entity)
        if let limit = options.absentMax, limit.isExceeded(by: absent.count, of: before) {
            throw CambiumError(
                .limitExceeded,
                "\(absent.count) of \(before) objects of '\(entity.name)' are not in the input, and at most \(limit) may be deleted.")
        }
        deleted = draft.countDeleted(absent)
        return absent
    }

    /// Counts what came of the rows, once all is done.
    mutating func count(_ draft: borrowing Draft) { counts = draft.netCounts(seen: seen) }

    private mutating func row(
        _ document: DocumentSplitter.Document, _ documents: borrowing DocumentStream, _ planner: inout RowPlanner,
        _ entity: ImportEntity, _ transaction: inout WriteTransaction
    ) throws {
        var object: ObjectID?
        defer { if planner.options.rowObjects == .report { rowObjects.append(object) } }
        if let known = refused[lastRow] { return errors.append(known) }
        var isApplied = false
        // A row that cannot be read has none; those of the row before were counted.
        planner.unknownKeys.removeAll(keepingCapacity: true)
        do {
            if let failure = document.failure { throw failure }
            try documents.withWindow { window in
                let bytes = UnsafeRawBufferPointer(rebasing: window[document.start..<document.end])
                try apply(bytes, &planner, entity, &transaction, &isApplied)
            }
            if planner.options.rowObjects == .report {
                let root = planner.plan.objects[planner.plan.root]
                object = transaction.draft.id(root.entity.table, planner.plan.rootRow)
            }
        } catch let failure as RowFailure {
            let error = rowError(failure, document.line, documents)
            if isApplied { throw RefusedRow(place: lastRow, row: error) }
            try fail(error, planner.options)
        } catch let error as JSONError {
            let failure = RowFailure(code: .malformed, pointer: "", message: "malformed JSON: \(error.message), at column \(error.column)")
            try fail(rowError(failure, document.line + error.line - 1, documents), planner.options)
        }
        for key in planner.unknownKeys { noteUnknown(key) }
        let violations = transaction.draft.takeViolations()
        if let first = violations.first {
            let failure = RowFailure(code: first.rule.rowErrorCode, pointer: "", message: first.description)
            throw RefusedRow(place: lastRow, row: rowError(failure, document.line, documents))
        }
    }

    private mutating func apply(
        _ bytes: UnsafeRawBufferPointer, _ planner: inout RowPlanner, _ entity: ImportEntity,
        _ transaction: inout WriteTransaction, _ isApplied: inout Bool
    ) throws {
        let tokens = try parser.parse(bytes)
        guard hooks.prepare != nil || hooks.finish != nil else { return try apply(tokens, &planner, entity, &transaction.draft) }
        var value = JSONValue(tokens, 0)
        if let prepare = hooks.prepare {
            try RowFailure.ofHook { try prepare(&value) }
            try Array(value.text.utf8).withUnsafeBytes { bytes in
                try apply(try preparedParser.parse(bytes), &planner, entity, &transaction.draft)
            }
        } else {
            try apply(tokens, &planner, entity, &transaction.draft)
        }
        isApplied = true
        let root = planner.plan.objects[planner.plan.root]
        if let finish = hooks.finish, !root.isSkipped {
            let id = transaction.draft.id(root.entity.table, planner.plan.rootRow)
            try RowFailure.ofHook { try finish(&transaction, id, value) }
            root.entity.scanned?.note(planner.plan.rootRow, transaction.draft)
        }
    }

    private mutating func apply(
        _ tokens: JSONTokens, _ planner: inout RowPlanner, _ entity: ImportEntity, _ draft: inout Draft
    ) throws {
        try planner.plan(tokens, as: entity, draft)
        try planner.plan.apply(to: &draft, tokens) { object, row in
            let table = object.entity.table.number
            if object.isDescribed, !seen[table].insert(row) { repeated[object.entity.entity.number, default: 0] += 1 }
            if !mentioned.isEmpty { mentioned[table].insert(row) }
        }
    }

    private mutating func noteUnknown(_ key: String) {
        if unknownKeys[key] == nil, unknownKeys.count >= ImportReport.unknownKeyCountMax {
            unknownKeysLeftOut += 1
        } else {
            unknownKeys[key, default: 0] += 1
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

extension RowFailure {
    /// Runs a hook; what it throws is why the row cannot be imported.
    static func ofHook(_ body: () throws -> Void) throws(RowFailure) {
        do {
            try body()
        } catch {
            let message = (error as? CambiumError)?.message ?? "\(error)"
            throw RowFailure(code: .hookFailed, pointer: "", message: "refused by the program: \(message)")
        }
    }
}

extension Violation.Rule {
    var rowErrorCode: ImportReport.RowError.Code {
        switch self {
        case .mandatoryAttribute: .missingMandatory
        case .duplicate: .duplicate
        case .tooFewMembers, .tooManyMembers, .deleteDenied, .wrongMember, .valueRefused: .ruleViolated
        }
    }
}
