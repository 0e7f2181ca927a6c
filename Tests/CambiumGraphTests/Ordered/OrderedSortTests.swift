import CambiumTesting
import Testing

@testable import CambiumGraph

/// The order of the entries of a batch, for keys that differ in all bytes or in few.
@Suite struct OrderedSortTests {
    enum Heads: CaseIterable {
        case random, ascending, descending, clustered, lopsided, repeated, equal

        func next(_ place: Int, _ random: inout SplitMix64) -> UInt64 {
            switch self {
            case .random: random.next()
            case .ascending: UInt64(place)
            case .descending: UInt64.max - UInt64(place)
            // Each cluster needs its own bits, far below those that separate the clusters.
            case .clustered: (random.next() & 7) << 60 | random.next() & 0xFFF
            // Each next bit halves the rest, so that many levels of parts are needed.
            case .lopsided: random.next() >> (random.next() & 63)
            case .repeated: random.next() & 3
            case .equal: 5
            }
        }
    }

    @Test(arguments: Heads.allCases, [1, 2, 16, 17, 300, 5000])
    func `a batch is sorted by all bytes of its entries`(heads: Heads, count: Int) {
        var random = SplitMix64(seed: 7)
        var batch = OrderedBatch()
        var entries: [[UInt8]] = []
        for place in 0..<count {
            var entry = [1] + withUnsafeBytes(of: heads.next(place, &random).bigEndian) { Array($0) }
            // Some entries are longer than others with the same head.
            entry += (0..<Int.random(in: 0...3, using: &random)).map { _ in UInt8.random(in: 0...1, using: &random) }
            entry += withUnsafeBytes(of: UInt32(count - place).bigEndian) { Array($0) }
            batch.reserve(OrderedIndexLayout.entryByteCountMax).copyMemory(from: entry, byteCount: entry.count)
            batch.append(entry.count, isAdded: place & 1 == 0)
            entries.append(entry + [UInt8(place & 1)])
        }
        let found = batch.withSorted { changes in
            (0..<changes.count).map { place in
                let entry = changes.entry(place)
                return Array(UnsafeRawBufferPointer(start: entry.start, count: entry.count)) + [changes.isAdded(place) ? 0 : 1]
            }
        }
        #expect(found == entries.sorted { $0.dropLast().lexicographicallyPrecedes($1.dropLast()) })
    }
}
