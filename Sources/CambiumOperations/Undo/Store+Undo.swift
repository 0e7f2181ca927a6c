public import CambiumGraph
public import CambiumModel

/// The result of an undo.
///
/// ```swift
/// let undo = try store.undo(.transaction(TransactionNumber(rawValue: 41)))
/// if let number = undo.receipt.transaction { try store.undo(.transaction(number)) }  // redo
/// ```
public struct UndoReceipt: Sendable {
    /// The commit. Its transaction is `nil` if there was nothing to undo.
    public let receipt: Receipt
    /// The undone transactions, as ascending ranges.
    public let undone: [ClosedRange<TransactionNumber>]
    /// The conflicts that the policy resolved.
    public let conflicts: [UndoConflict]
}

/// The effect that an undo would have. It is valid until the closure that was passed to `Store.previewUndo` returns.
///
/// ```swift
/// let count = try store.previewUndo(.request("import-7")) { preview in preview.changes.count }
/// ```
public struct UndoPreview: ~Copyable {
    /// The transactions to undo, as ascending ranges.
    public let transactions: [ClosedRange<TransactionNumber>]
    /// The later changes that contradict the undo.
    public let conflicts: [UndoConflict]
    /// The changes that the undo would make. With the policy `.error`, the changes that are not in conflict.
    public let changes: Changes
    /// The rules of the schema that a commit would report as broken.
    public let violations: [String]
}

/// Undo, redo and revert.
extension Store {
    /// Undoes transactions: commits one transaction with the inverse of their changes. A deleted object comes back under its own id.
    ///
    /// A value that now differs from the value that the undone transactions left is a conflict. Changes elsewhere are no conflict. The undo
    /// of an undo is a redo. Without a message, the author's message names the undone transactions. Docs/Use/UNDO.md has the rules.
    ///
    /// ```swift
    /// let undo = try store.undo(.transaction(TransactionNumber(rawValue: 41)), author: Author(actor: "jane"))
    /// ```
    ///
    /// Throws `.conflict` with an `UndoConflicts` if the policy is `.error` and there are conflicts. Throws `.notFound` if a transaction
    /// does not exist or was retired, and `.invalidInput` if one of them changed the schema, or if the store is in memory. Otherwise throws
    /// as `write` does. Complexity: O(changes + bytes of the log from the checkpoint before the first undone transaction to the last one).
    /// The writer's lock is held for O(changes).
    @discardableResult
    public func undo(_ selection: UndoSelection, policy: UndoPolicy = .error, author: Author = Author()) throws -> UndoReceipt {
        if author.requestID != nil { try checkRequest(author) }
        let past = try requiredPast()
        let prepared = try PreparedUndo(selection, policy, in: graph, past)
        var conflicts: [UndoConflict] = []
        let receipt = try transact(try prepared.author(author, selection, past), for: "undo") { transaction in
            conflicts = try prepared.apply(to: &transaction)
        }
        return UndoReceipt(receipt: receipt, undone: prepared.transactions, conflicts: conflicts)
    }

    /// Calls `body` with the effect that an undo would have, and changes nothing. The call holds the writer's lock until `body` returns.
    ///
    /// Throws the errors of `body`, and those of `undo`, except `.conflict` and `.ruleViolated`: the preview reports conflicts and broken
    /// rules. Complexity: that of `undo`.
    public func previewUndo<Result>(
        _ selection: UndoSelection, policy: UndoPolicy = .error, _ body: (borrowing UndoPreview) throws -> Result
    ) throws -> Result { try previewUndo(selection, policy: policy, from: requiredPast(), body) }

    /// Does the same as the public `previewUndo`, for a store that rehearses the changes of the store from which `past` reads.
    package func previewUndo<Result>(
        _ selection: UndoSelection, policy: UndoPolicy, from past: EarlierGraphs, _ body: (borrowing UndoPreview) throws -> Result
    ) throws -> Result {
        let prepared = try PreparedUndo(selection, policy, in: graph, past)
        var result: Result?
        do {
            _ = try transact(Author(), for: "previewUndo") { transaction in
                let present = transaction.draft.original
                let conflicts = try prepared.apply(to: &transaction, isPreview: true)
                let violations = try transaction.brokenRules()
                result = try transaction.draft.withPreview(for: .objects) { graph in
                    try body(
                        UndoPreview(
                            transactions: prepared.transactions, conflicts: conflicts, changes: graph.changes(since: present),
                            violations: violations))
                }
                throw EndOfPreview()
            }
        } catch is EndOfPreview {}  // This error prevents the commit.
        guard let result else { preconditionFailure("A preview that did not throw has called its closure.") }
        return result
    }

    /// Gives an object the values and links that it had at a moment. A deleted object comes back under its own id.
    ///
    /// Members that no longer exist are omitted. Objects that are no longer members stay, also if the relationship deletes orphans. Later
    /// changes of the object are lost from the present state, but not from the log. Without a message, the author's message names the
    /// object and the last transaction of the moment.
    ///
    /// ```swift
    /// try store.revert(note, to: .label("monday"), author: Author(actor: "jane"))
    /// ```
    ///
    /// Throws `.notFound` if the object did not exist at the moment, or if there is no such moment. Throws `.ruleViolated` if the present
    /// schema does not allow a former value. Otherwise throws as `graph(at:)` and `write` do. Complexity: that of `graph(at:)`, and
    /// O(values and members of the object).
    ///
    /// - Returns: the commit, and the former members that no longer exist, ascending.
    @discardableResult
    public func revert(
        _ id: ObjectID, to point: Point, author: Author = Author()
    ) throws -> (receipt: Receipt, missing: [ObjectID]) {
        if author.requestID != nil { try checkRequest(author) }
        let then = try graph(at: point)
        var missing: [ObjectID] = []
        var own = author
        if own.message == nil { own.message = "revert of \(NamedObject(id, in: then).name) to transaction \(then.transaction)" }
        let receipt = try transact(own, for: "revert") { transaction in
            let (changes, absent) = try InverseChanges.restoration(of: id, from: then, to: transaction.draft.original)
            missing = absent
            transaction.draft.keepOrphans()
            try transaction.apply(changes)
        }
        return (receipt, missing)
    }

    /// Checks the request before the moments are read, because a compaction may have retired them since the request was applied.
    private func checkRequest(_ author: Author) throws { try graph.check(author) }

    private func requiredPast() throws(CambiumError) -> EarlierGraphs {
        guard let past else {
            throw CambiumError(.invalidInput, "A store in memory has no earlier moments, so nothing can be undone. Use a store on disk.")
        }
        return past
    }
}
