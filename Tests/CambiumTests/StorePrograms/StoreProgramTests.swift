import CambiumTesting
import Foundation
import TestFixtures
import Testing

@Suite struct StoreProgramTests {
    private static let seeds = TestSettings.seeds("stores", usual: 3, from: 8)

    @Test(.enabled(if: LongTests.areWanted), arguments: [false, true])
    func `random programs leave every moment of a store unchanged or retired`(hasCrashes: Bool) throws {
        var (shownCount, refusedCount) = (0, 0)
        for seed in Self.seeds {
            var run = try StoreRun(seed: seed, hasCrashes: hasCrashes)
            do { try run.run() } catch { Issue.record("seed \(seed): \(error)") }
            shownCount += run.shownCount
            refusedCount += run.refusedCount
        }
        let seeds = "\(Self.seeds.count) programs for a store from seed \(Self.seeds.lowerBound)"
        print("\(seeds), \(shownCount) moments shown, \(refusedCount) refused")
        #expect(shownCount > Self.seeds.count)
        // A program whose store keeps its whole log refuses no moment, so a few programs may refuse no moment.
        if Self.seeds.count >= 10 { #expect(refusedCount > 0) }
    }
}
