import Cambium
import CambiumGraph
import CambiumModel
import CambiumTesting
import Testing

/// Random queries inside of random transactions, compared with a search in a reference.
@Suite struct RandomTransactionTests {
    @Test(arguments: EditRun.seeds(2, from: 91))
    func `queries inside of a transaction find what a search finds`(seed: UInt64) throws {
        var run = try EditRun(seed: seed)
        // The start of a run checks no rules. No store has objects that share an identity, so no query can expect them.
        if run.store.graph.invariantFindings().contains(where: { $0.hasSuffix("is a duplicate.") }) { return }
        var reference = run.reference
        var ops: [Op] = []
        try run.store.unchecked { transaction in
            for step in 0..<40 {
                guard let op = run.op(for: reference) else { continue }
                var trial = reference
                do throws(CambiumError) { try trial.apply(op) } catch { continue }
                try transaction.record(op)
                ops.append(op)
                reference = trial
                if step % 8 == 0 { try compare(transaction, reference, seed: seed + UInt64(step)) }
            }
        }
        try run.checkInvariants()
        try run.twin.unchecked { transaction in for op in ops { try transaction.record(op) } }
        #expect(run.store.graph.digest() == run.twin.graph.digest())
    }

    private func compare(_ transaction: borrowing WriteTransaction, _ reference: ReferenceGraph, seed: UInt64) throws {
        let search = ReferenceQuery(reference)
        var conditions = RandomCondition(reference, seed: seed)
        for entity in reference.schema.entities {
            for _ in 0..<4 {
                let (condition, sort) = (conditions.condition(entity), conditions.sort(entity))
                let found = try transaction.find(Query(entity.name, where: condition, sort: sort))
                let expected = search.ids(of: entity, where: condition, sort: sort)
                try #require(found == expected, "\(entity.name): \(condition) by \(sort.map(\.description))")
            }
        }
    }
}
