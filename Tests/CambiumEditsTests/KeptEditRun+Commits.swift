import Cambium
import CambiumGraph
import CambiumModel
import CambiumTesting
import TestFixtures

@testable import CambiumEdits

extension KeptEditRun {
    // MARK: Rebases and commits

    private mutating func policy() -> EditPolicy {
        let mixed = EditPolicy.byProperty { $0.canKeepMine && $0.id.rawValue % 2 == 0 ? .mine : .theirs }
        let policies: [EditPolicy] = [.error, .mine, .theirs, .theirs, mixed]
        return random.pick(policies) ?? .error
    }

    mutating func rebase() throws {
        try checkHistory()
        let (before, graph, policy) = (edit, store.graph, policy())
        let conflicts = before.conflicts(with: graph)
        let reference = EditReference(before, onto: graph)
        try Finding.check(reference.difference(from: conflicts), "conflicts")
        let isRefused = conflicts.contains { policy.winner(of: $0) == nil }
        do throws(CambiumError) { try edit.rebase(onto: graph, policy: policy) } catch {
            guard isRefused ? error.code == .conflict : reference.mayBeRefused else { throw Finding("a rebase threw \(error)") }
            if edit.dump != before.dump || edit.base.transaction != before.base.transaction {
                throw Finding("a rebase that threw changed the edit")
            }
            // The caller of a refused edit can choose another policy. If the schema refuses a change, the caller must discard it.
            if !isRefused { restart() }
            return
        }
        if isRefused { throw Finding("a rebase ignored its conflicts") }
        counts.rebases += 1
        try Finding.check(reference.difference(from: edit, conflicts, policy), "a rebased edit")
        try Finding.check(inverseFinding, "a rebased edit")
        if edit.canUndo || edit.canRedo { try floor.rebase(onto: graph) } else { floor = edit }
    }

    /// Continues with an edit without changes.
    private mutating func restart() {
        edit = store.edit()
        floor = edit
    }

    /// Throws unless undoing all steps leads to the first state, and redoing them leads back.
    private func checkHistory() throws {
        var copy = edit
        var stepCount = 0
        while copy.undo() { stepCount += 1 }
        if copy.dump != floor.dump { throw Finding("undoing all steps does not lead to the first state") }
        for _ in 0..<stepCount { copy.redo() }
        if copy.dump != edit.dump { throw Finding("redoing all steps does not lead to the last state") }
    }

    /// A sentence about a link of the edit that only one end contains, or `nil`.
    private var inverseFinding: String? {
        for id in ids(edit) {
            for relationship in edit.entity(of: id)?.relationships ?? [] {
                guard let inverse = edit.inverse(relationship) else { continue }
                for member in edit.currentMembers(relationship, of: id) where !edit.currentMembers(inverse, of: member).contains(id) {
                    return "\(id).\(relationship.name) contains \(member), but not the reverse"
                }
            }
        }
        return nil
    }

    mutating func commit() throws {
        try checkHistory()
        let (before, graph, policy) = (edit, store.graph, policy())
        var rebased = before
        var refusal: CambiumError.Code?
        do throws(CambiumError) { try rebased.rebase(onto: graph, policy: policy) } catch { refusal = error.code }
        let ids: [ObjectID: ObjectID]
        do { ids = try store.commit(&edit, policy: policy).ids } catch let error as CambiumError {
            guard error.code == refusal ?? .ruleViolated else { throw error }
            try checkUnchanged(graph)
            if edit.dump != before.dump { throw Finding("a commit that threw changed the edit") }
            if random.isTrue(1, outOf: 2) { restart() }
            return
        }
        if refusal != nil { throw Finding("a commit succeeded although a rebase throws") }
        counts.commits += 1
        try Finding.check(rebased.difference(from: store.graph, ids), "the committed graph")
        try Finding.check(store.graph.invariantFindings(), "the committed graph")
        let wanted = Self.changes(rebased.changes) { ids[$0] ?? $0 }
        let found = Self.changes(store.graph.changes(since: graph)) { $0 }
        if wanted != found { throw Finding("the commit changed \(found.subtracting(wanted)), and not \(wanted.subtracting(found))") }
        if !edit.isEmpty || edit.base.transaction != store.graph.transaction { throw Finding("the edit is not empty after the commit") }
        floor = edit
    }

    /// Returns one text for each property that changes.
    private static func changes(_ changes: some Collection<ObjectChange>, _ id: (ObjectID) -> ObjectID) -> Set<String> {
        var texts = Set<String>()
        for change in changes {
            if change.kind != .changed { texts.insert("\(id(change.id)) is \(change.kind)") }
            for attribute in change.attributes where !attribute.attribute.isDerived {
                texts.insert("\(id(change.id)).\(attribute.attribute.name): \(attribute.before) -> \(attribute.after)")
            }
            for relationship in change.relationships {
                let added = relationship.added.map(id).sorted()
                texts.insert("\(id(change.id)).\(relationship.relationship.name): removed \(relationship.removed), added \(added)")
            }
        }
        return texts
    }
}
