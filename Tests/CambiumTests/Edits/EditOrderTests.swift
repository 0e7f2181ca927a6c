import CambiumModel
import CambiumTesting
import Testing

@testable import Cambium

@Suite struct EditOrderTests {
    private func ids(_ serials: [UInt64]) -> [ObjectID] { serials.map { ObjectID(root: EntityNumber(rawValue: 1), serial: $0) } }

    @Test func `one member that moves is one move`() {
        #expect(EditOrder(from: ids([1, 2, 3, 4]), to: ids([2, 3, 4, 1])).moves.map(\.index) == [3])
        #expect(EditOrder(from: ids([1, 2, 3, 4]), to: ids([4, 1, 2, 3])).moves.map(\.index) == [0])
        #expect(EditOrder(from: ids([1, 2]), to: ids([1, 2])).moves.isEmpty)
    }

    @Test func `the moves lead to the wanted order`() {
        var random = SplitMix64(seed: 5)
        for count in 0..<40 {
            let from = ids(Array(1...UInt64(count + 1))).shuffled(using: &random)
            let to = from.shuffled(using: &random)
            var list = from
            for move in EditOrder(from: from, to: to).moves {
                list.removeAll { $0 == move.id }
                list.insert(move.id, at: move.index)
            }
            #expect(list == to)
        }
    }
}
