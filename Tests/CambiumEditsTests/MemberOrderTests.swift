import Cambium
import CambiumModel
import CambiumTesting
import Testing

@Suite struct MemberOrderTests {
    private func ids(_ serials: some Sequence<UInt64>) -> [ObjectID] {
        serials.map { ObjectID(root: EntityNumber(rawValue: 1), serial: $0) }
    }

    @Test func `one member that moves is one move`() {
        #expect(MemberOrder.steps(from: ids([1, 2, 3, 4]), to: ids([2, 3, 4, 1])).map(\.index) == [3])
        #expect(MemberOrder.steps(from: ids([1, 2, 3, 4]), to: ids([4, 1, 2, 3])).map(\.index) == [0])
        #expect(MemberOrder.steps(from: ids([1, 2]), to: ids([1, 2])).isEmpty)
    }

    @Test func `the steps lead to the wanted order`() {
        var random = SplitMix64(seed: 5)
        for count in 0..<80 {
            let from = ids(0..<UInt64(count / 2)).shuffled(using: &random)
            let to = ids(0..<UInt64(count / 2 + count % 4)).shuffled(using: &random)
            var list = from
            for step in MemberOrder.steps(from: from, to: to) {
                #expect(step.isNew == !list.contains(step.member))
                list.removeAll { $0 == step.member }
                list.insert(step.member, at: step.index)
            }
            #expect(list == to)
        }
    }

    @Test func `many new members are as many insertions, each at its index`() {
        let steps = MemberOrder.steps(from: ids([7]), to: ids([7]) + ids(100..<100_100))
        #expect(steps.map(\.index) == Array(1...100_000))
        #expect(steps.allSatisfy { $0.isNew })
    }
}
