import CambiumTesting
import TestFixtures
import Testing

/// Random saves of records in a store and in an edit.
@Suite struct RandomRecordSaveTests {
    @Test func `no save in a store or an edit loses a change of another writer, a copy, an undo or a failed commit`() {
        var (saves, conflicts, failures, commits) = (0, 0, 0, 0)
        for seed in 0..<UInt64(LongTests.areWanted ? 500 : 40) {
            do {
                var run = try RecordSaveRun(seed: seed)
                try run.run(60)
                saves += run.counts.saves
                conflicts += run.counts.conflicts
                failures += run.counts.failures
                commits += run.counts.commits
            } catch { Issue.record("seed \(seed): \(error)") }
        }
        #expect(saves > 500 && conflicts > 50 && failures > 20 && commits > 50)
    }
}
