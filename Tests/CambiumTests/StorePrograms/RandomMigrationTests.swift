import CambiumTesting
import Foundation
import TestFixtures
import Testing

@Suite struct RandomMigrationTests {
    private static let seeds = TestSettings.seeds("stores", usual: LongTests.caseCount(60, usual: 2))

    @Test func `after random migrations, a checkpoint, the whole log and a naive migration lead to the same graph`() throws {
        for seed in Self.seeds {
            do {
                var run = try StoreRun(seed: seed, hasCrashes: false)
                try run.runMigrations(LongTests.areWanted ? 20 : 3)
            } catch { Issue.record("seed \(seed): \(error)") }
        }
    }
}
