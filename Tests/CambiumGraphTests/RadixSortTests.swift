import CambiumTesting
import Testing

@testable import CambiumGraph

@Suite struct RadixSortTests {
    @Test(arguments: [0, 1, 2, 1000])
    func `keys are sorted by their highest bits, and keys with equal bits keep their order`(count: Int) {
        var random = SplitMix64(seed: UInt64(count))
        let keys = (0..<count).map { _ in random.next() & 0x00FF_0000_0000_0000 | random.next() >> 32 }
        var (sorted, other) = (keys, [UInt64]())
        RadixSort.sort(&sorted, &other)
        #expect(RadixSort.isSorted(sorted))
        let expected = keys.enumerated().sorted { ($0.element >> 48, $0.offset) < ($1.element >> 48, $1.offset) }
        #expect(sorted == expected.map(\.element))
    }

    @Test func `keys that restart from a low value once count as sorted`() {
        let (low, high) = (UInt64(1) << 48, UInt64(1) << 60)
        #expect(RadixSort.isSorted([low, high, low]) && !RadixSort.isSorted([high, low, high, low]))
        #expect(RadixSort.isSorted([high | 1, high]))
    }
}
