import Cambium
import CambiumGraph
import CambiumModel
import CambiumTesting
import TestFixtures

@testable import CambiumLog

extension StoreRun {
    /// The error by which the caller of a transaction withdraws it.
    private struct Withdrawn: Error {}

    mutating func transact() throws {
        if random.isTrue(1, outOf: 12), let request = requests.keys.sorted().randomElement(using: &random) { return try again(request) }
        let (author, count) = (author(), moments.count)
        let durability: Durability? = random.isTrue(1, outOf: 4) ? .synced : nil
        try settle(author) { run, store, after in
            try store.write(author, durability: durability) { try run.change(&$0, &after, 1...8) }.receipt.transaction
        }
        if durability != nil, moments.count > count { durableCount = moments.count }
    }

    /// Returns the author of a transaction, sometimes with a request.
    mutating func author() -> Author {
        requestCount += 1
        return random.isTrue(1, outOf: 3) ? Author(actor: "somebody", requestID: "request \(requestCount)") : Author()
    }

    /// Records random ops. An op that throws must leave nothing, and the transaction then continues or ends.
    mutating func change(
        _ transaction: inout WriteTransaction, _ after: inout ReferenceGraph, _ counts: ClosedRange<Int>
    ) throws {
        for _ in 0..<Int.random(in: counts, using: &random) {
            if random.isTrue(1, outOf: 4) { try makeWrongCall(&transaction, after) }
            var op = program.next(for: after)
            var (found, expected): (CambiumError.Code?, CambiumError.Code?) = (nil, nil)
            do throws(CambiumError) {
                op = try completed(op, transaction.draft)
                try transaction.record(op)
            } catch { found = error.code }
            // The process may have died while it wrote the earlier ops. Then the test expects nothing more of the transaction.
            try transaction.ops.check()
            var trial = after
            do throws(CambiumError) { try trial.apply(op) } catch { expected = error.code }
            if found != expected {
                throw Finding("threw \(found?.rawValue ?? "nothing") instead of \(expected?.rawValue ?? "nothing"): \(shown([op]))")
            }
            if found == nil {
                after = trial
            } else if random.isTrue(1, outOf: 8) {
                throw Withdrawn()
            }
        }
        if random.isTrue(1, outOf: 10) { throw Withdrawn() }
    }

    /// Runs a transaction, whose result must be that of the reference.
    mutating func settle(
        _ author: Author, _ body: (inout StoreRun, Store, inout ReferenceGraph) throws -> TransactionNumber?
    ) throws {
        var after = reference
        let number: TransactionNumber?
        do {
            number = try body(&self, store, &after)
        } catch is Withdrawn {
            return try checkUnchanged("a transaction that was withdrawn")
        } catch let error as CambiumError where error.code == .ruleViolated {
            try after.apply(.delete(after.orphans()))
            try Finding.check(after.difference(from: (error.underlying as? RuleViolations)?.violations ?? []), "check")
            return try checkUnchanged("a transaction that broke rules")
        } catch let error as CambiumError where error.code == .limitExceeded && after.hasOverflowingSum {
            return try checkUnchanged("a transaction with a sum that does not fit into its type")
        } catch {
            try after.apply(.delete(after.orphans()))
            pending = after
            throw error
        }
        try after.apply(.delete(after.orphans()))
        guard let number else { return try checkUnchanged("a transaction without ops") }
        try Finding.check(after.difference(from: []), "check")
        try note(after, moments.last?.labels ?? [:])
        if let request = author.requestID { requests[request] = number }
    }

    /// Repeats a request that was applied. The store must not apply it again.
    private mutating func again(_ request: String) throws {
        var repeated: RepeatedRequest?
        do {
            try store.write(Author(requestID: request)) { _ in }
        } catch let error as CambiumError where error.code == .repeated {
            repeated = error.underlying as? RepeatedRequest
        }
        if repeated?.transaction != requests[request] {
            throw Finding("a repeated request was reported as \(String(describing: repeated))")
        }
        try checkUnchanged("a repeated request")
    }

    // MARK: Imports

    /// Imports rows of the newest graph, or of an earlier graph that may even have another schema. The log has the result.
    mutating func importRows() throws {
        let graphs = held.map(\.graph) + [store.graph]
        guard let entity = random.pick(reference.schema.entities.filter { !$0.identity.isEmpty }), let source = random.pick(graphs),
            let declared = source.schema.entity(entity.name)
        else { return }
        var rows: [UInt8] = []
        var exporting = ExportOptions()
        exporting.references = .identity
        try source.export(declared, exporting) { rows += $0 }
        var options = ImportOptions()
        options.onError = random.pick(ImportOptions.RowError.allCases) ?? .stop
        options.absent = random.pick(ImportOptions.Absent.allCases) ?? .keep
        options.absentMax = .percent(100)
        options.toMany = random.pick(ImportOptions.ToMany.allCases) ?? .replace
        options.mismatch = random.pick(ImportOptions.Mismatch.allCases) ?? .error
        do {
            _ = try store.importRows(entity, from: [.bytes(rows)], options)
        } catch let error as CambiumError where [.invalidInput, .ruleViolated].contains(error.code) {
            return try checkUnchanged("an import that was refused")
        }
        try adoptLogged()
    }

    /// Undoes random transactions. The log has the result; the tests of undo compare it with the changes.
    mutating func undo() throws {
        let first = UInt64.random(in: 1...UInt64(moments.count), using: &random)
        let last = min(UInt64(moments.count), first + UInt64.random(in: 0...2, using: &random))
        let policy = random.pick(UndoPolicy.allCases) ?? .error
        do {
            _ = try store.undo(
                .transactions(TransactionNumber(rawValue: first)...TransactionNumber(rawValue: last)), policy: policy)
        } catch let error as CambiumError
            where [.conflict, .invalidInput, .notFound, .ruleViolated, .limitExceeded].contains(error.code)
        { return try checkUnchanged("an undo that was refused") }
        try adoptLogged()
    }

    /// Reads the effects of the newest transaction from the log, if the run does not know them yet.
    mutating func adoptLogged() throws {
        let number = TransactionNumber(rawValue: UInt64(moments.count + 1))
        if store.graph.transaction < number { return }
        var (after, labels) = (reference, moments.last?.labels ?? [:])
        var (request, time): (String?, Int64?) = (nil, nil)
        try TransactionLog(volume).forEach(from: number) { entry in
            (request, time) = (entry.metadata.requestID, entry.metadata.time.microsecondsSince1970)
            // A retired entry is the digest that a compaction wrote.
            for op in entry.isRetired ? [] : try entry.ops() {
                try after.apply(op)
                if case .label(let name, let labeled) = op { labels[name] = labeled == .none ? nil : labeled }
            }
        }
        try note(after, labels, at: time)
        if let request { requests[request] = number }
        durableCount = moments.count
    }

    // MARK: Names and digests

    mutating func label() throws {
        var labels = moments.last?.labels ?? [:]
        let (name, moves) = ("label \(Int.random(in: 0..<4, using: &random))", random.isTrue(1, outOf: 2))
        let last = TransactionNumber(rawValue: UInt64(moments.count))
        let number =
            random.isTrue(1, outOf: 3) ? last : TransactionNumber(rawValue: UInt64.random(in: 1...last.rawValue + 1, using: &random))
        let isSame = labels[name] == number
        let refusal: CambiumError.Code? = isSame ? nil : labels[name] != nil && !moves ? .ruleViolated : number > last ? .notFound : nil
        pending = reference
        do { try store.label(name, number, existing: moves ? .move : .refuse) } catch let error as CambiumError where error.code == refusal
        {
            return try checkUnchanged("a label that was refused")
        }
        if refusal != nil { throw Finding("a label was not refused") }
        if isSame { return try checkUnchanged("an existing label") }
        labels[name] = number
        try note(reference, labels)
    }

    mutating func recordDigest() throws {
        pending = reference
        try store.recordDigest()
        try note(reference, moments.last?.labels ?? [:])
    }
}
