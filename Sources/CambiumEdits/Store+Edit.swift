import CambiumGraph
import CambiumModel

extension Store {
    /// Returns a new edit, without changes, that is based on the newest graph. Complexity: O(1).
    ///
    /// - Parameter tracking: The properties for which the edit detects conflicts with changes in the store.
    public func edit(tracking: EditTracking = .writes) -> Edit { Edit(of: graph, tracking: tracking) }

    /// Commits an edit in one transaction. The comparison with the store is a part of that transaction, so no change by another writer is
    /// lost between the comparison and the commit. Afterwards, the edit is empty and based on the graph after the commit.
    ///
    /// The comparison is done under the writer's lock. If the base is old, call `rebase(onto:policy:)` first, because a rebase needs no
    /// lock. An edit without changes writes nothing.
    ///
    /// ```swift
    /// let committed = try store.commit(&edit, policy: .mine, author: Author(actor: "jane"))
    /// ```
    ///
    /// Throws as `Edit.rebase(onto:policy:)` and as `write` do. After an error, the edit is unchanged, and the caller may rebase it and
    /// commit it again. Complexity: that of `Edit.rebase(onto:policy:)`, and that of the transaction.
    ///
    /// - Parameters:
    ///   - edit: An edit of this store.
    ///   - policy: The way in which conflicts are resolved.
    ///   - author: The author of the transaction. A repeated request throws `.repeated`, as in `write`.
    ///   - durability: The durability for which the commit waits; `nil` for the durability of the store.
    @discardableResult
    public func commit(
        _ edit: inout Edit, policy: EditPolicy = .error, author: Author = Author(), durability: Durability? = nil
    ) throws -> EditCommit {
        try edit.checkOutsideOfGroups("committed")
        let current = edit
        let (ids, receipt) = try write(author, durability: durability) { transaction in
            try current.apply(to: &transaction, policy)
        }
        let committed = EditCommit(current, ids, receipt)
        edit = committed.edit
        return committed
    }

    /// Does the same as the blocking `commit`, for tasks. No thread waits for the disk. The edit that was passed still contains its
    /// changes, so the caller must continue with the `edit` of the result.
    ///
    /// ```swift
    /// edit = try await store.commit(edit).edit
    /// ```
    ///
    /// An actor can change its edit during the commit. Changes that are made in that time are not part of the commit, and still belong to
    /// the old base.
    ///
    /// Throws the same errors as the blocking `commit`. Also throws `CancellationError` if the task is cancelled before the transaction
    /// begins. Complexity: that of the blocking `commit`.
    @discardableResult
    public func commit(
        _ edit: Edit, policy: EditPolicy = .error, author: Author = Author(), durability: Durability? = nil
    ) async throws -> EditCommit {
        try edit.checkOutsideOfGroups("committed")
        let (ids, receipt) = try await write(author, durability: durability) { transaction in
            try edit.apply(to: &transaction, policy)
        }
        return EditCommit(edit, ids, receipt)
    }
}

extension EditCommit {
    fileprivate init(_ edit: Edit, _ ids: [ObjectID: ObjectID], _ receipt: Receipt) {
        (permanentIDs, self.receipt) = (PermanentIDs(ids), receipt)
        self.edit = Edit(of: receipt.graph, tracking: edit.reads == nil ? .writes : .writesAndReads, edit.lineage)
    }
}

extension Edit {
    /// Applies the changes to a transaction that has no changes yet. Returns the permanent ids of inserted objects.
    func apply(to transaction: inout WriteTransaction, _ policy: EditPolicy) throws(CambiumError) -> [ObjectID: ObjectID] {
        let rebased = try rebased(onto: transaction.draft.original, policy)
        return try EditPlan(rebased).apply(to: &transaction)
    }
}
