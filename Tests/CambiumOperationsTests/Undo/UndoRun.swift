import Cambium
import CambiumGraph
import CambiumModel
import CambiumTesting
import TestFixtures

@testable import CambiumLog

/// A random schema, a store on a volume, and random transactions, with a reference of the state after each transaction.
struct UndoRun {
    private var random: SplitMix64
    private var program: RandomProgram
    private let volume = MemoryVolume()
    private var tuning = LogTuning.tiny
    private(set) var store: Store
    /// The states after the transactions, beginning with transaction 1.
    private(set) var moments: [ReferenceGraph] = []
    /// The number of undone transactions without a conflict, and the number with at least one.
    private(set) var counts = (clean: 0, conflicting: 0)

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        let made = try RandomSchema.make(&random)
        let schema = seed % 3 == 0 ? try RandomSchema.addingOrphanRules(to: made, &random) : made
        program = RandomProgram(schema: schema, seed: random.next(), scope: seed % 2 == 0 ? .clones : .everything)
        tuning.touchedTransactionCountMin = seed % 2 == 0 ? 4096 : 1
        store = try Store.create(volume, schema: schema, durability: .synced, environment: fixedEnvironment(seed: seed), tuning: tuning)
        moments = [ReferenceGraph(schema: schema)]
    }

    var last: TransactionNumber { TransactionNumber(rawValue: UInt64(moments.count)) }

    func moment(_ number: UInt64) -> ReferenceGraph { moments[Int(number) - 1] }

    // MARK: Changing

    /// Commits random transactions, and moves the pages of the store between them.
    mutating func transact(count: Int) throws {
        for _ in 0..<count {
            var after = moments[moments.count - 1]
            do {
                let number = try store.write { try change(&$0, &after) }.receipt.transaction
                try after.apply(.delete(after.orphans()))
                if number != nil { try note(after) }
            } catch let error as CambiumError where [.ruleViolated, .limitExceeded].contains(error.code) {}  // The program may break rules.
            if random.isTrue(1, outOf: 6) { try maintain() }
        }
    }

    private mutating func change(_ transaction: inout WriteTransaction, _ after: inout ReferenceGraph) throws {
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            var op = program.next(for: after)
            // Only an undo brings back the id of a deleted object, or marks an object.
            switch op {
            case .mark: continue
            case .insert(let id, _, _) where id.serial < after.nextSerial(of: id.root): continue
            case .upsert(let block) where block.kind != .update && isRevival(block, after): continue
            default: break
            }
            do throws(CambiumError) {
                op = try completed(op, transaction.draft)
                try transaction.record(op)
            } catch { continue }
            try after.apply(op)
        }
    }

    private func isRevival(_ block: UpsertBlock, _ graph: ReferenceGraph) -> Bool {
        guard let root = graph.schema.entity(block.entity)?.root, let run = block.serials.runs.first else { return false }
        return run.first < graph.nextSerial(of: root)
    }

    private mutating func note(_ after: ReferenceGraph) throws {
        var after = after
        after.commit()
        moments.append(after)
        try check(after)
    }

    func check(_ expected: ReferenceGraph) throws {
        try Finding.check(difference(store.graph, expected), "the graph after transaction \(store.graph.transaction)")
    }

    /// Packs pages, makes a checkpoint, retires the log before it, or opens the store again.
    private mutating func maintain() throws {
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            var limits = PackingLimits()
            (limits.sparseness, limits.groupCountMin) = (1, 2)
            (limits.wasteByteCountMin, limits.wastePercentMin, limits.usedPercentMax) = (0, 0, 100)
            _ = try store.upkeep.pack(limits, stepCountMax: 10)
        case 1: _ = try store.checkpoint()
        case 2:
            _ = try store.compact(.all)
            try adoptLogged()
        default: try reopen()
        }
    }

    mutating func reopen() throws {
        try store.close()
        store = try Store.open(volume, durability: .synced, environment: fixedEnvironment(seed: random.next()), tuning: tuning)
    }

    /// Reads the effects of the newest transactions from the log.
    mutating func adoptLogged() throws {
        var after = moments[moments.count - 1]
        try TransactionLog(volume).forEach(from: last.next) { entry in
            for op in try entry.ops() { try after.apply(op) }
            after.commit()
            moments.append(after)
        }
        try check(after)
    }

    // MARK: Undoing

    /// Undoes one transaction after the other, newest first, and returns the digest at the end. Each undo must lead to the state before its
    /// transaction, and its undo back again. Returns `nil` if an undo was refused because it leads to a state that breaks a rule.
    mutating func undoAll(redoing: Bool) throws -> GraphDigest? {
        for number in stride(from: last.rawValue, through: 2, by: -1) {
            guard let receipt = try undo(.transaction(TransactionNumber(rawValue: number)), backTo: number - 1) else { return nil }
            let undone = receipt.transaction
            try check(moment(number - 1))
            guard redoing, !lacksMembers(moment(number)), let undone, number % 4 == 0 else { continue }
            let redone = try store.undo(.transaction(undone)).receipt.transaction
            try check(moment(number))
            if let redone { try store.undo(.transaction(redone)) }
            try check(moment(number - 1))
        }
        return store.graph.digest()
    }

    /// Undoes transactions. Returns `nil` if the undo was refused because an object lacks mandatory members in the state to which it leads.
    func undo(_ selection: UndoSelection, backTo number: UInt64) throws -> Receipt? {
        do {
            return try store.undo(selection).receipt
        } catch let error as CambiumError where error.code == .ruleViolated && lacksMembers(moment(number)) { return nil }
    }

    /// Returns whether a deletion with `noAction` has left an object without mandatory members.
    private func lacksMembers(_ state: ReferenceGraph) -> Bool {
        state.ids.contains { id in
            !state.isStub(id)
                && (state.entity(of: id)?.relationships ?? []).contains { state.members($0, of: id).count < $0.minCount }
        }
    }

    /// Undoes a random transaction, and compares the conflicts and the result with those of a search of the three states.
    mutating func undoOne() throws {
        let number = UInt64.random(in: 2...last.rawValue, using: &random)
        let present = moments[moments.count - 1]
        let expected = ReferenceUndo(before: moment(number - 1), after: moment(number), now: present)
        let transaction = TransactionNumber(rawValue: number)
        do {
            try store.undo(.transaction(transaction))
            counts.clean += 1
            guard expected.conflicts.isEmpty else { throw Finding("no conflict for \(number), but \(expected.conflicts)") }
            try adoptLogged()
            try Finding.check(expected.difference(from: moments[moments.count - 1]), "the undo of \(number)")
        } catch let error as CambiumError where error.code == .conflict {
            counts.conflicting += 1
            let found = Set(((error.underlying as? UndoConflicts)?.conflicts ?? []).map { ReferenceUndo.text($0.subject) })
            guard found == expected.conflicts else {
                throw Finding("conflicts \(found.sorted()) instead of \(expected.conflicts.sorted()) for \(number)")
            }
            try check(present)
            try undo(number, .skip)
            try undo(number, .force)
        } catch let error as CambiumError where [.ruleViolated, .limitExceeded].contains(error.code) { try check(present) }
    }

    private mutating func undo(_ number: UInt64, _ policy: UndoPolicy) throws {
        do {
            try store.undo(.transaction(TransactionNumber(rawValue: number)), policy: policy)
        } catch let error as CambiumError where [.ruleViolated, .limitExceeded].contains(error.code) {}  // The rules still hold.
        try adoptLogged()
    }

    func checkSound() throws {
        try Finding.check(store.graph.invariantFindings(), "invariants")
        try Finding.check(store.pageFindings, "pages")
        let verification = try Verification(volume)
        guard verification.isSound else { throw Finding("the store is not sound: \(verification.findings)") }
    }
}
