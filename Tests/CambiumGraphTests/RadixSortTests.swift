import CambiumTesting
import Testing

@testable import CambiumGraph

@Suite struct RadixSortTests {
    /// Runs of up to 16 keys that share their 20 highest bits, in any order.
    private static func runs(_ count: Int) -> [UInt64] {
        var random = SplitMix64(seed: UInt64(count))
        return (0..<count).flatMap { _ in
            let first = random.next() & ~0xFFF_FFFF_FFFF
            return (0..<1 + random.next() % 16).map { first | $0 << 40 | random.next() >> 32 }
        }
    }

    @Test(arguments: [0, 1, 2, 1000])
    func `runs are sorted as their keys are`(count: Int) {
        let keys = Self.runs(count)
        var (sorted, inRuns, other) = (keys, keys, [UInt64]())
        RadixSort.sort(&sorted, &other)
        RadixSort.sortRuns(&inRuns, &other, sharedBitCount: 20)
        #expect(RadixSort.isSorted(sorted) && RadixSort.isSorted(inRuns))
        #expect(sorted == keys.sorted { $0 >> 48 < $1 >> 48 } && inRuns == sorted)
    }

    @Test func `keys in another order are not sorted`() {
        #expect(!RadixSort.isSorted([1 << 60, 1 << 59]) && RadixSort.isSorted([1 << 60 | 1, 1 << 60]))
    }
}
