import CambiumTesting
import Testing

@testable import CambiumGraph

@Suite struct RowSetTests {
    private func rows(_ set: RowSet) -> [UInt32] {
        var rows: [UInt32] = []
        set.forEach { rows.append($0) }
        return rows
    }

    @Test func `rows are kept in any order, at any distance`() {
        var random = SplitMix64(seed: 5)
        let far = [UInt32(4_000_000), 4_000_063, 3_999_936, 4_100_000, 3_000_000]
        for added in [far, far.reversed(), (0..<300).map { _ in UInt32.random(in: 0..<9000, using: &random) }] {
            var set = RowSet()
            for row in added { set.insert(row) }
            #expect(rows(set) == Set(added).sorted())
            for row in added {
                let isNew = set.insert(row)
                #expect(!isNew && set.contains(row) && set.contains(row + 1) == added.contains(row + 1))
            }
        }
    }

    @Test(arguments: [[UInt32](), [7], [100_000, 100_001], [64, 5_000_000]], [[UInt32](), [0], [99_999, 200_000]])
    func `a union has the rows of both sets`(left: [UInt32], right: [UInt32]) {
        var (set, other) = (RowSet(), RowSet())
        for row in left { set.insert(row) }
        for row in right { other.insert(row) }
        set.formUnion(other)
        #expect(rows(set) == Set(left + right).sorted())
    }
}
