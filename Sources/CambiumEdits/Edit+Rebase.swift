public import CambiumGraph
public import CambiumModel

extension Edit {
    /// Moves the edit to a newer graph of the same store. That graph becomes the base. The edit releases the pages of the old base. The
    /// changes stay, except those that the policy discards.
    ///
    /// Provisional ids stay the same. The undo steps are kept if all objects that the edit has touched are unchanged in the newer graph.
    /// Otherwise, the steps are cleared.
    ///
    /// ```swift
    /// try edit.rebase(onto: store.graph, policy: .theirs)
    /// ```
    ///
    /// Throws `.conflict`, with `EditConflicts`, if the policy does not resolve all conflicts. Also throws `.conflict` if a migration
    /// removed the entity of an object that the edit inserts. Throws `.invalidInput` or `.ruleViolated` if a migration changed an attribute
    /// so that the attribute cannot hold the edit's value. Throws `.misuse` for a graph of another store. Also throws `.misuse` inside a
    /// group, because the group could no longer be rolled back. After an error, the edit is unchanged. Complexity: that of
    /// `conflicts(with:)`, and O(changes of the edit).
    ///
    /// - Parameters:
    ///   - graph: A later graph of the same store.
    ///   - policy: The way in which conflicts are resolved.
    public mutating func rebase(onto graph: Graph, policy: EditPolicy = .error) throws(CambiumError) {
        try checkOutsideOfGroups("rebased")
        self = try rebased(onto: graph, policy)
    }

    /// Throws `.misuse` inside a group, because a call that replaces the history would prevent the rollback of the group. Also throws
    /// `.misuse` for a copy that was made inside a group, because the copy has only a part of the group's changes.
    ///
    /// - Parameter change: the past participle that names the call in the error, such as "committed".
    func checkOutsideOfGroups(_ change: String) throws(CambiumError) {
        if history.depth == 0 { return }
        throw CambiumError(
            .misuse,
            "An edit cannot be \(change) inside a group. A copy that was made inside a group cannot be \(change) either. "
                + "Make this call before or after the group, and copy the edit after the group.")
    }

    func rebased(onto graph: Graph, _ policy: EditPolicy) throws(CambiumError) -> Edit {
        guard base.storeKey == graph.storeKey else {
            throw CambiumError(
                .misuse, "The edit belongs to another store, whose objects have other ids. Commit it to its own store, or make a new edit.")
        }
        let changes = graph.changes(since: base)
        var finder = EditConflictFinder(edit: self, theirs: graph, changes: changes)
        let conflicts = finder.run()
        let drops = try EditDrops(conflicts, policy, of: self, on: graph)
        // If the edit only read a property that the store has changed, resolving this conflict does not change the edit.
        if conflicts.allSatisfy({ $0.use == .read }), !changes.changesSchema, !isTouched(by: changes) {
            var same = self
            same.base = graph
            return same
        }
        var rebased = Edit(continuing: self, on: graph)
        let plan = EditPlan(self, drops)
        _ = try rebased.batch { (edit: inout Edit) throws(CambiumError) in try plan.apply(to: &edit) }
        rebased.clearHistory()
        return rebased
    }

    /// Whether the changes concern an object that the edit changes, or that a step of undo or redo would change. A change of derived
    /// attributes does not count, because no step contains their values.
    private func isTouched(by changes: Changes) -> Bool {
        if changes.isEmpty { return false }
        let ids = Set(overlay.objects.keys).union(history.writes.flatMap(\.ids))
        return ids.contains { changes.object($0)?.changesMoreThanDerivedValues == true }
    }
}
