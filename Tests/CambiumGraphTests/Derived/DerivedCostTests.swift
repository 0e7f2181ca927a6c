import Cambium
import TestFixtures
import Testing

@testable import CambiumLog

/// The number of members that derived attributes of an object with many members read.
@Suite struct DerivedCostTests {
    private static let changeCount = 60

    /// Returns what a replay reads. The log has an import of an order with some items, and then changes of one item each.
    private func replayWork(itemCount: Int, changeCount: Int = Self.changeCount) throws -> Int {
        let orders = try DerivedOrders()
        let items = (0..<itemCount).map { #"{"key":"\#(10000 + $0)","pieces":\#($0),"weight":0.1,"price":\#($0).5}"# }
        try orders.store.importing("Order", #"{"number":9,"items":[\#(items.joined(separator: ","))]}"#)
        for number in 0..<changeCount {
            let item = try orders.item("\(10000 + itemCount - 1 - number)")
            try orders.store.write { transaction in
                if number % 2 == 0 { try transaction.delete(item) } else { try transaction.set(item, "pieces", to: 5) }
            }
        }
        #expect(orders.store.graph.invariantFindings() == [])
        var replay = try Replay(LoadedCheckpoint(before: LogReader(orders.volume)))
        _ = try replay.run(makesDurable: true)
        #expect(replay.timeline.head.invariantFindings() == [])
        #expect(replay.timeline.head.digest() == orders.store.graph.digest())
        return replay.timeline.derivedWork
    }

    @Test func `a replay of small changes reads as much for an object with 2,000 members as for one with 500`() throws {
        let small = try replayWork(itemCount: 500) - replayWork(itemCount: 500, changeCount: 0)
        let large = try replayWork(itemCount: 2000) - replayWork(itemCount: 2000, changeCount: 0)
        #expect(large <= small + Self.changeCount)
        #expect(small < 100 * Self.changeCount)
    }
}
