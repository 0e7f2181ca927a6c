import Cambium
import CambiumGraph
import CambiumTesting
import TestFixtures
import Testing

/// Random programs through clones, cascades, packing, checkpoints and reopening.
@Suite struct RandomUndoTests {
    private static let count = LongTests.areWanted ? 200 : 12

    @Test(arguments: TestSettings.seeds("programs", usual: count, from: 1))
    func `undoing everything in reverse ends at the digest of the empty store`(seed: UInt64) throws {
        var run = try UndoRun(seed: seed)
        let empty = run.store.graph.digest()
        try run.transact(count: 20)
        let digest = try run.undoAll(redoing: true)
        #expect(digest == nil || digest == empty)
        try run.checkSound()
    }

    @Test(arguments: TestSettings.seeds("programs", usual: count, from: 1001))
    func `undoing all transactions as one range ends at the digest of the empty store, and redo returns`(seed: UInt64) throws {
        var run = try UndoRun(seed: seed)
        let empty = run.store.graph.digest()
        try run.transact(count: 20)
        let (full, last) = (run.store.graph.digest(), run.last)
        if last.rawValue < 2 { return }
        let undo = try #require(try run.undo(.transactions(TransactionNumber(rawValue: 2)...last), backTo: 1))
        #expect(run.store.graph.digest() == empty)
        try run.reopen()
        if let number = undo.transaction, try run.undo(.transaction(number), backTo: last.rawValue) == nil { return }
        #expect(run.store.graph.digest() == full)
        try run.check(run.moment(last.rawValue))
        try run.checkSound()
    }

    @Test(arguments: TestSettings.seeds("programs", usual: count, from: 2001))
    func `the undo of any transaction equals a comparison of whole states`(seed: UInt64) throws {
        var run = try UndoRun(seed: seed)
        try run.transact(count: 14)
        for _ in 0..<8 where run.last.rawValue > 1 {
            try run.undoOne()
            try run.transact(count: 1)
        }
        try run.checkSound()
    }
}
