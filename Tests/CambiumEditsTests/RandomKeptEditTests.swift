import CambiumTesting
import TestFixtures
import Testing

/// Random edits that stay open while other transactions commit and the schema changes.
@Suite struct RandomKeptEditTests {
    @Test func `an open edit follows other transactions and migrations as the rules for conflicts state`() {
        var (rebases, migrations, commits) = (0, 0, 0)
        for seed in EditRun.seeds(LongTests.caseCount(300, usual: 4), from: 1) {
            do {
                var run = try KeptEditRun(seed: seed)
                try run.run(LongTests.areWanted ? 80 : 30)
                rebases += run.counts.rebases
                migrations += run.counts.migrations
                commits += run.counts.commits
            } catch { Issue.record("seed \(seed): \(error)") }
        }
        #expect(rebases > 0)
        #expect(migrations > 0)
        #expect(commits > 0)
    }
}
