import CambiumTesting
import Testing

@testable import CambiumGraph

/// Live results of random queries on random graphs.
struct RandomLiveTests {
    @Test(arguments: 0..<6) func `every live result equals a new evaluation after each transaction`(seed: UInt64) throws {
        var run = try LiveRun(seed: seed)
        try run.run(30)
        #expect(run.counts.transactions == 30)
        #expect(run.counts.inserted > 0 && run.counts.deleted > 0 && run.counts.updates > 10 && run.counts.combined > 0)
    }

    @Test(arguments: 100..<UInt64(LongTests.areWanted ? 104 : 102))
    func `every live result follows changes of the schema`(seed: UInt64) throws {
        var run = try LiveRun(seed: seed, changesSchema: true)
        try run.run(24)
        #expect(run.counts.updates > 0)
    }

    @Test(.enabled(if: LongTests.areWanted), arguments: 0..<LongTests.caseCount(1700, usual: 0))
    func `every live result stays exact through many transactions`(number: Int) throws {
        var run = try LiveRun(seed: 1000 + UInt64(number), changesSchema: number % 5 == 0)
        try run.run(60)
        #expect(run.counts.transactions == 60)
    }
}
