import Cambium
import CambiumGraph
import CambiumModel
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumEdits

/// Random edits, compared with a reference, with transactions, and with the rules for conflicts.
@Suite struct RandomEditTests {
    @Test(arguments: EditRun.seeds(2, from: 1))
    func `an edit reads like a graph with the same changes`(seed: UInt64) throws {
        var run = try EditRun(seed: seed)
        var (edit, reference) = (run.store.edit(), run.reference)
        var ids: [ObjectID: ObjectID] = [:]
        for step in 0..<40 {
            guard let op = run.op(for: reference) else { continue }
            var trial = reference
            var expected: CambiumError.Code?
            do throws(CambiumError) { try trial.apply(op) } catch { expected = error.code }
            let found = edit.perform(op, &ids, reference)
            try #require((found == nil) == (expected == nil), "step \(step): \(String(describing: found)) for \(op)")
            if found == nil { reference = trial }
            try Finding.check(edit.difference(from: reference, ids), "step \(step)", [op])
        }
        let committed = try run.store.uncheckedCommit(edit)
        try Finding.check(edit.difference(from: run.store.graph, committed), "the committed graph")
        try run.checkInvariants()
    }

    @Test(arguments: EditRun.seeds(2, from: 11))
    func `a committed edit leads to the digest of a transaction`(seed: UInt64) throws {
        var run = try EditRun(seed: seed)
        var (edit, reference) = (run.store.edit(), run.reference)
        var ops: [(op: Op, before: ReferenceGraph)] = []
        var ids: [ObjectID: ObjectID] = [:]
        for _ in 0..<40 {
            guard let op = run.op(for: reference) else { continue }
            var trial = reference
            do throws(CambiumError) { try trial.apply(op) } catch { continue }
            // An object that is inserted and deleted takes a serial in a transaction, but not in an edit.
            if ids.keys.contains(where: { reference.contains($0) && !trial.contains($0) }) { continue }
            ops.append((op, reference))
            _ = edit.perform(op, &ids, reference)
            reference = trial
        }
        _ = try run.store.uncheckedCommit(edit)
        var twinIDs: [ObjectID: ObjectID] = [:]
        var failures = 0
        try run.twin.unchecked { transaction in
            for (op, before) in ops where transaction.perform(op, &twinIDs, before) != nil { failures += 1 }
        }
        #expect(failures == 0)
        #expect(run.store.graph.digest() == run.twin.graph.digest())
    }

    @Test(arguments: EditRun.seeds(2, from: 21))
    func `calls that fail have the code of a transaction`(seed: UInt64) throws {
        var run = try EditRun(seed: seed)
        let (edit, reference) = (run.store.edit(), run.reference)
        var codes: [(CambiumError.Code?, CambiumError.Code?)] = []
        try run.twin.unchecked { transaction in
            for _ in 0..<150 {
                guard let op = run.wrongOp(for: reference) else { continue }
                var trial = reference
                do throws(CambiumError) { try trial.apply(op) } catch {
                    var (mine, ids, twinIDs) = (edit, [ObjectID: ObjectID](), [ObjectID: ObjectID]())
                    codes.append((mine.perform(op, &ids, reference), transaction.perform(op, &twinIDs, reference)))
                }
            }
        }
        #expect(codes.count >= 10)
        #expect(codes.allSatisfy { $0 == $1 && $0 != nil })
    }

    @Test(arguments: EditRun.seeds(2, from: 31))
    func `undo and redo lead to the same reads as before`(seed: UInt64) throws {
        var run = try EditRun(seed: seed)
        var (edit, reference) = (run.store.edit(), run.reference)
        var ids: [ObjectID: ObjectID] = [:]
        var dumps = [edit.dump]
        for _ in 0..<(LongTests.areWanted ? 20 : 10) {
            guard let op = run.op(for: reference) else { continue }
            let stepCount = edit.history.done.count
            let before = ids
            var trial = reference
            do throws(CambiumError) { try trial.apply(op) } catch { continue }
            if edit.perform(op, &ids, reference) != nil { ids = before }
            reference = trial
            if edit.history.done.count > stepCount { dumps.append(edit.dump) }
        }
        for expected in dumps.dropLast().reversed() {
            edit.undo()
            try #require(edit.dump == expected)
        }
        #expect(edit.isEmpty)
        for expected in dumps.dropFirst() {
            edit.redo()
            try #require(edit.dump == expected)
        }
    }

    /// Returns an edit on the store with random changes.
    private func edit(_ run: inout EditRun, _ count: Int) -> Edit {
        var (edit, reference, ids) = (run.store.edit(), run.reference, [ObjectID: ObjectID]())
        for _ in 0..<count {
            guard let op = run.op(for: reference) else { continue }
            var trial = reference
            do throws(CambiumError) { try trial.apply(op) } catch { continue }
            if edit.perform(op, &ids, reference) == nil { reference = trial }
        }
        return edit
    }

    @Test(arguments: EditRun.seeds(3, from: 28))
    func `the store's side keeps each change if it wins`(seed: UInt64) throws {
        var run = try EditRun(seed: seed)
        let (mine, theirs) = (edit(&run, 25), edit(&run, 25))
        let before = run.store.graph
        _ = try run.store.uncheckedCommit(theirs)
        let middle = run.store.graph
        _ = try run.store.uncheckedCommit(mine, .theirs)
        let after = run.store.graph
        try run.checkInvariants()
        for change in middle.changes(since: before) where change.kind != .deleted && change.changesMoreThanDerivedValues {
            #expect(change.kind == .inserted || after.contains(change.id))
            for attribute in change.attributes where !attribute.attribute.isDerived && after.contains(change.id) {
                #expect(after[change.id, attribute.attribute] == attribute.after)
            }
            for relationship in change.relationships where change.kind == .changed {
                if relationship.relationship.isToMany, !relationship.relationship.isOrdered { continue }
                let found = after.members(relationship.relationship, of: change.id)
                #expect(found == relationship.after.filter(after.contains))
            }
        }
    }

    @Test(arguments: EditRun.seeds(3, from: 61))
    func `the edit's side keeps each change if it wins`(seed: UInt64) throws {
        var run = try EditRun(seed: seed)
        let (mine, theirs) = (edit(&run, 25), edit(&run, 25))
        _ = try run.store.uncheckedCommit(theirs)
        let middle = run.store.graph
        let policy = EditPolicy.byProperty { $0.canKeepMine ? .mine : .theirs }
        let hopeless = mine.conflicts(with: middle).filter { !$0.canKeepMine }
        let ids = try run.store.uncheckedCommit(mine, policy)
        let after = run.store.graph
        try run.checkInvariants()
        for change in mine.changes where change.kind == .deleted { #expect(!after.contains(change.id)) }
        for change in mine.changes where change.kind != .deleted {
            let id = ids[change.id] ?? change.id
            for attribute in change.attributes where !attribute.attribute.isDerived && after.contains(id) {
                #expect(after[id, attribute.attribute] == attribute.after)
            }
            for relationship in change.relationships where hopeless.isEmpty && after.contains(id) {
                if relationship.relationship.isToMany, !relationship.relationship.isOrdered { continue }
                if mine.overlay[change.id]?.hasLinks(relationship.relationship.number) != true { continue }
                let expected = relationship.after.map { ids[$0] ?? $0 }.filter(after.contains)
                let found = after.members(relationship.relationship, of: id)
                // If the edit only deletes members, it states nothing about the others (Docs/Use/EDITS.md, "The rules"), so they are those
                // of the store, in its order.
                let isOnlyDeletion = relationship.before.filter(after.contains) == expected
                let others = middle.members(relationship.relationship, of: change.id)?.filter(after.contains)
                #expect(found == (isOnlyDeletion ? others : expected))
            }
        }
    }
}
