import CambiumTesting
import Testing

@testable import CambiumGraph

/// The chunks in which a live result keeps its entries.
@Suite struct LiveEntriesTests {
    private static func entry(_ serial: UInt64, _ isInOrderOfSerials: Bool) -> LiveEntry {
        let key = isInOrderOfSerials ? [] : [UInt8(truncatingIfNeeded: serial &* 37)]
        return LiveEntry(sort: SortEntry(key: key, serial: serial, row: 0), section: [])
    }

    @Test(arguments: [false, true]) func `entries in chunks are those of a sorted array`(isInOrderOfSerials: Bool) {
        var random = SplitMix64(seed: 7)
        var known: [LiveEntry] = []
        var entries = LiveEntries([], isInOrderOfSerials: isInOrderOfSerials)
        for round in 0..<80 {
            // Later rounds remove more entries than they add, and the last rounds remove the rest.
            let addedCount = round < 50 ? Int.random(in: 0...120, using: &random) : 0
            let added = (0..<addedCount).map { Self.entry(UInt64(round * 1000 + $0 * 7), isInOrderOfSerials) }.sorted()
            let removedCount = round < 50 ? Int.random(in: 0...20, using: &random) : known.count / (80 - round)
            let removed = Array(known.shuffled(using: &random).prefix(removedCount)).sorted()
            entries.replace(removed, by: added)
            let gone = Set(removed.map(\.serial))
            known = (known.filter { !gone.contains($0.serial) } + added).sorted()
            #expect(entries.count == known.count)
            #expect(entries[0..<entries.count].map(\.serial) == known.map(\.serial))
            #expect(entries.last?.serial == known.last?.serial)
            for (index, entry) in known.enumerated() where random.isTrue(1, outOf: 20) {
                #expect(entries.index(of: entry) == index)
                #expect(entries.entry(entry.serial) == entry)
            }
            #expect(removed.allSatisfy { entries.entry($0.serial) == nil })
        }
        #expect(entries.count == 0)
    }

    @Test func `one entry at a time passes the sizes at which chunks are divided and removed`() {
        var entries = LiveEntries([], isInOrderOfSerials: true)
        let all = (1...2000).map { Self.entry(UInt64($0), true) }
        for entry in all.reversed() { entries.replace([], by: [entry]) }
        #expect(entries[700..<1400].map(\.serial) == Array(701...1400))
        entries.truncate(to: 1500)
        for entry in all.prefix(1500) { entries.replace([entry], by: []) }
        #expect(entries.count == 0)
        #expect(entries.last == nil)
    }
}
