import CambiumGraph
import CambiumModel

/// The changes of the transactions to undo, read from the log before the writer's lock is taken.
struct PreparedUndo {
    /// A series of successive transactions, and their changes.
    private struct Series {
        let transactions: ClosedRange<TransactionNumber>
        let changes: Changes
    }

    let transactions: [ClosedRange<TransactionNumber>]
    /// In ascending order.
    private let series: [Series]
    private let forces: Bool
    private let policy: UndoPolicy
    /// The inverse of the newest series, found for a graph that is usually still the newest one when the transaction begins.
    private let newest: InverseFinder?
    private let newestMoment: TransactionNumber

    /// Reads the changes of the selected transactions.
    ///
    /// Throws `.notFound` if a transaction does not exist or was retired, and `.invalidInput` if a transaction changed the schema.
    /// Complexity: O(bytes of the log from the checkpoint before the first transaction to the last one + changes). For one transaction that
    /// only set attributes, and that the touch index covers, O(objects of the transaction x bytes of the log between two joints).
    init(_ selection: UndoSelection, _ policy: UndoPolicy, in graph: Graph, _ past: EarlierGraphs) throws {
        self.policy = policy
        forces = policy == .force
        transactions = try selection.ranges(in: graph, past)
        if transactions.first?.lowerBound.rawValue == 1 {
            throw CambiumError(
                .invalidInput,
                "Transaction 1 created the store with its schema, so it cannot be undone. Name later transactions, or create a new store.")
        }
        series = try Self.assigned(transactions, in: graph, past) ?? Self.replayed(transactions, past)
        for each in series where each.changes.changesSchema { throw Self.refusal(of: each.transactions) }
        newestMoment = graph.transaction
        newest = series.last.map { InverseFinder($0.changes, $0.transactions, now: graph, forces: policy == .force) }
    }

    /// Returns the changes of a single transaction whose ops state them; `nil` if graphs are needed.
    private static func assigned(
        _ transactions: [ClosedRange<TransactionNumber>], in graph: Graph, _ past: EarlierGraphs
    ) throws -> [Series]? {
        guard let range = transactions.first, transactions.count == 1, range.lowerBound == range.upperBound else { return nil }
        let trail = AuditTrail(past.volume, past, past.budget, bound: nil)
        return try trail.assignedChanges(of: range.lowerBound, in: graph).map { [Series(transactions: range, changes: $0)] }
    }

    private static func replayed(_ transactions: [ClosedRange<TransactionNumber>], _ past: EarlierGraphs) throws -> [Series] {
        try zip(transactions, past.pairs(around: transactions)).map { range, pair in
            Series(transactions: range, changes: pair.after.changes(since: pair.before))
        }
    }

    private static func refusal(of range: ClosedRange<TransactionNumber>) -> CambiumError {
        let (first, last) = (range.lowerBound, range.upperBound)
        let subject = first == last ? "Transaction \(last)" : "One of the transactions \(first) to \(last)"
        return CambiumError(
            .invalidInput,
            "\(subject) changed the schema, so it cannot be undone. Set the former schema with 'cambium schema --set', and undo only the "
                + "other transactions.")
    }

    /// Applies the inverse of the transactions, newest first, and records which transactions were undone.
    ///
    /// Throws `.conflict` with an `UndoConflicts` if the policy is `.error` and there are conflicts. Complexity: O(changes).
    ///
    /// - Returns: the conflicts.
    func apply(to transaction: inout WriteTransaction, isPreview: Bool = false) throws -> [UndoConflict] {
        transaction.draft.keepOrphans()
        var conflicts: [UndoConflict] = []
        for (index, each) in series.reversed().enumerated() {
            let found = try index == 0 ? firstInverse(transaction) : nil
            let finder =
                if let found {
                    found
                } else {
                    try transaction.draft.withPreview(for: .objects) {
                        InverseFinder(each.changes, each.transactions, now: $0, forces: forces)
                    }
                }
            conflicts += finder.conflicts
            try transaction.apply(finder.inverse)
        }
        if policy == .error, !conflicts.isEmpty, !isPreview { throw UndoConflicts(conflicts: conflicts).error }
        if transaction.ops.opCount > 0 { try transaction.record(.undo(transactions)) }
        return conflicts
    }

    /// Returns the inverse of the newest series. Finds it again if another transaction was committed in the meantime.
    private func firstInverse(_ transaction: borrowing WriteTransaction) throws -> InverseFinder? {
        let present = transaction.draft.original
        if present.transaction == newestMoment { return newest }
        return series.last.map { InverseFinder($0.changes, $0.transactions, now: present, forces: forces) }
    }

    /// Returns the author of the undo. Without a message, the message names the undone transactions, and repeats the message of a single
    /// one.
    func author(_ author: Author, _ selection: UndoSelection, _ past: EarlierGraphs) throws -> Author {
        guard author.message == nil, let first = transactions.first, let last = transactions.last else { return author }
        var author = author
        var message =
            if transactions.count > 1 {
                "undo of \(transactions.reduce(0) { $0 + $1.count }) transactions from \(first.lowerBound) to \(last.upperBound)"
            } else if first.lowerBound == first.upperBound {
                "undo of transaction \(first.lowerBound)"
            } else {
                "undo of transactions \(first.lowerBound) to \(first.upperBound)"
            }
        if case .actor(let actor, _) = selection { message += " of \(actor)" }
        if transactions.count == 1, first.count == 1, let text = try TransactionLog(past.volume).entry(first.lowerBound)?.metadata.message {
            message += ": \(text)"
        }
        // The former message may be as long as a message can be.
        if message.utf8.count > TransactionMetadata.messageByteCountMax {
            message = String(message.prefix(TransactionMetadata.messageByteCountMax / 4))
        }
        author.message = message
        return author
    }
}

extension ClosedRange<TransactionNumber> {
    fileprivate var count: Int { Int(clamping: upperBound.rawValue - lowerBound.rawValue) + 1 }
}

/// The underlying error of `.conflict` if later changes contradict an undo.
///
/// ```swift
/// do {
///     try store.undo(.transaction(number))
/// } catch let error as CambiumError where error.code == .conflict {
///     for conflict in (error.underlying as? UndoConflicts)?.conflicts ?? [] { print(conflict) }
/// }
/// ```
public struct UndoConflicts: Error, Sendable {
    /// The conflicts, those of the newest undone transactions first.
    public let conflicts: [UndoConflict]

    /// The maximum number of conflicts in the details of an error.
    private static let detailCountMax = 20

    var error: CambiumError {
        let count = conflicts.count
        return CambiumError(
            .conflict,
            "The undo has \(count) \(count == 1 ? "conflict" : "conflicts") with later changes, so nothing was changed. Undo the later "
                + "changes, too, or use the policy 'skip' or 'force'.",
            details: conflicts.prefix(Self.detailCountMax).map(\.description), underlying: self)
    }
}
