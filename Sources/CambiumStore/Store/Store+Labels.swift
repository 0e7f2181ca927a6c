import CambiumGraph
public import CambiumModel

/// Transactions that do not change objects: digests and labels.
extension Store {
    /// Writes the digest of the newest graph to the log. Each later replay computes the digest of its own graph, and throws `.corrupted` if
    /// the two digests differ.
    ///
    /// The digest is computed while other threads write. The writer's lock is held only for a check at the beginning, and for the last
    /// update, which adds the transactions committed in the meantime. Complexity: O(graph). Throws as `write` does.
    @discardableResult
    public func recordDigest(_ author: Author = Author()) throws -> Receipt {
        try pipeline.recordDigest(author) { graph }
    }

    /// Gives a moment a name, by which readers can refer to the moment as long as the store exists: `label:NAME` on the command line.
    ///
    /// Throws `.invalidInput` if the name is not allowed, and `.notFound` if there is no such transaction. Throws `.ruleViolated` if
    /// another moment has the name and `existing` is `.refuse`. Otherwise throws as `write` does. Complexity: O(1) expected, and O(labels)
    /// for the first call.
    ///
    /// - Parameters:
    ///   - name: The label: 1 to 255 bytes without control characters.
    ///   - transaction: The transaction to name; `nil` for the newest transaction.
    ///   - existing: The behavior if another moment already has the name.
    ///   - author: The author of the label, because setting a label is a transaction.
    /// - Returns: the transaction that now has the name.
    @discardableResult
    public func label(
        _ name: String, _ transaction: TransactionNumber? = nil, existing: ExistingLabel = .refuse, author: Author = Author()
    ) throws -> TransactionNumber {
        try TransactionLabel.check(name)
        var labeled = TransactionNumber.none
        _ = try transact(author, for: "label") { writing in
            let newest = writing.draft.original
            labeled = transaction ?? newest.transaction
            writer.labels.update(to: newest)
            if let other = writer.labels[name] {
                if other == labeled { return }
                guard existing == .move else {
                    throw CambiumError(
                        .ruleViolated,
                        "Transaction \(other) already has the label '\(name)'. Choose another name, or move the label ('existing: .move', "
                            + "or '--move' on the command line).")
                }
            }
            guard labeled > .none, labeled <= newest.transaction else {
                throw CambiumError(
                    .notFound,
                    "Transaction \(labeled) does not exist; the last transaction is \(newest.transaction). Label an existing transaction.")
            }
            try writing.record(.label(name, labeled))
        }
        return labeled
    }
}
