import CambiumTesting
import Foundation
import Testing

@Suite struct RandomMigrationTests {
    /// The seeds to run. `CAMBIUM_SEED` is the first one, and `CAMBIUM_STORE_PROGRAMS` is the number of seeds.
    private static let seeds: Range<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["CAMBIUM_SEED"].flatMap(UInt64.init) ?? 1
        let count = environment["CAMBIUM_STORE_PROGRAMS"].flatMap(UInt64.init) ?? UInt64(LongTests.caseCount(60, usual: 2))
        return first..<first + count
    }()

    @Test func `after random migrations, a checkpoint, the whole log and a naive migration lead to the same graph`() throws {
        for seed in Self.seeds {
            do {
                var run = try StoreRun(seed: seed, hasCrashes: false)
                try run.runMigrations(LongTests.areWanted ? 20 : 3)
            } catch { Issue.record("seed \(seed): \(error)") }
        }
    }
}
