import CambiumModel
import CambiumTesting
import Foundation
import Testing

@testable import CambiumGraph

/// The tree of an ordered index, compared with a sorted array.
@Suite struct OrderedTreeTests {
    /// A tree, and the entries that it must contain.
    private struct Fixture {
        let timeline = Timeline()
        var tree = OrderedTree()
        /// Sorted. A merge is cheaper than a sort, which takes minutes if the tests are not optimized.
        var expected: [[UInt8]] = []

        /// Adds and removes entries in one batch of one version, and checks every node.
        mutating func change(adding: [[UInt8]], removing: [[UInt8]] = []) throws {
            var draft = timeline.draft()
            try change(&draft, adding: adding, removing: removing)
            try timeline.publish(draft)
        }

        mutating func change(_ draft: inout Draft, adding: [[UInt8]], removing: [[UInt8]] = []) throws {
            var batch = OrderedBatch()
            for (entries, isAdded) in [(adding, true), (removing, false)] {
                for entry in entries {
                    batch.reserve(OrderedIndexLayout.entryByteCountMax).copyMemory(from: entry, byteCount: entry.count)
                    batch.append(entry.count, isAdded: isAdded)
                }
            }
            var tree = tree
            batch.withSorted { OrderedWriter.apply(&draft, $0, to: &tree) }
            self.tree = tree
            replaceExpected(adding: adding.sorted { $0.lexicographicallyPrecedes($1) }, removing: Set(removing))
            try check(draft.reader)
        }

        private mutating func replaceExpected(adding: [[UInt8]], removing: Set<[UInt8]>) {
            var merged: [[UInt8]] = []
            var rest = adding[...]
            for entry in expected {
                while let next = rest.first, next.lexicographicallyPrecedes(entry) { merged.append(rest.removeFirst()) }
                merged.append(entry)
            }
            merged += rest
            expected = removing.isEmpty ? merged : merged.filter { !removing.contains($0) }
        }

        func check(_ reader: Reader) throws {
            var found: [[UInt8]] = []
            try Finding.check(OrderedReader(reader.chunks, tree).findings { found.append($0) }, "tree")
            if found != expected { throw Finding("\(found.count) entries instead of \(expected.count), or other entries") }
            try checkRanks(OrderedReader(reader.chunks, tree), expected)
        }

        private func checkRanks(_ reader: OrderedReader, _ sorted: [[UInt8]]) throws {
            for rank in Set([0, sorted.count / 3, sorted.count / 2, sorted.count - 1]) where sorted.indices.contains(rank) {
                if reader.rank(of: sorted[rank]) != rank {
                    throw Finding("an entry has the rank \(reader.rank(of: sorted[rank])), not \(rank)")
                }
                if reader.rank(of: sorted[rank] + [0]) != rank + 1 { throw Finding("the rank after \(rank) is wrong") }
                if reader.row(at: rank) != row(sorted[rank]) { throw Finding("another row is at \(rank)") }
            }
            let part = sorted.count / 4..<sorted.count - sorted.count / 5
            var rows: [UInt32] = []
            reader.forEachRow(part) { rows.append($0) }
            if rows != sorted[part].map(row) { throw Finding("a range has other rows") }
            rows = []
            reader.forEachRow(part, isReversed: true) { rows.append($0) }
            if rows != sorted[part].reversed().map(row) { throw Finding("a reversed range has other rows") }
        }

        private func row(_ entry: [UInt8]) -> UInt32 { entry.suffix(4).reduce(0) { $0 << 8 | UInt32($1) } }
    }

    /// The kinds of keys in a tree.
    enum Keys: CaseIterable {
        case numbers, fewNumbers, texts, longTexts, equal, mixed

        func next(_ random: inout SplitMix64) -> [UInt8] {
            let row = withUnsafeBytes(of: UInt32(random.next() & 0xFF_FFFF).bigEndian) { Array($0) }
            return key(&random) + [0, 0, 0, 1] + row
        }

        private func key(_ random: inout SplitMix64) -> [UInt8] {
            switch self {
            case .numbers: return withUnsafeBytes(of: random.next()) { Array($0) }
            case .fewNumbers: return [1, 0, 0, UInt8(random.next() & 3)]
            case .texts: return text(Int.random(in: 0...12, using: &random), &random)
            case .longTexts:
                let same = [UInt8](repeating: 0x41, count: OrderedNode.keyByteCountMax - Int.random(in: 1...20, using: &random))
                return Array((same + text(Int.random(in: 0...30, using: &random), &random)).prefix(OrderedNode.keyByteCountMax))
            case .equal: return [1, 2, 3]
            case .mixed:
                let kinds: [Keys] = [.texts, .longTexts]
                return (random.pick(kinds) ?? .texts).key(&random)
            }
        }

        private func text(_ count: Int, _ random: inout SplitMix64) -> [UInt8] {
            (0..<count).map { _ in UInt8.random(in: 2...6, using: &random) } + [0]
        }
    }

    @Test(arguments: Keys.allCases) func `random changes leave the same entries as in a sorted array`(keys: Keys) throws {
        var random = SplitMix64(seed: 4)
        var fixture = Fixture()
        let roundCount = LongTests.caseCount(100, usual: 6)
        for round in 0..<roundCount {
            let sizes = [1, 1, 3, 20, 300, LongTests.areWanted ? 3000 : 700]
            let adding = Set((0..<(random.pick(sizes) ?? 1)).map { _ in keys.next(&random) }).subtracting(fixture.expected)
            let share = round < roundCount / 2 ? 8 : 2
            let removing = fixture.expected.shuffled(using: &random)
                .prefix(random.isTrue(1, outOf: 3) ? fixture.expected.count / share : Int.random(in: 0...3, using: &random))
            do { try fixture.change(adding: Array(adding), removing: Array(removing)) } catch { throw Finding("round \(round): \(error)") }
        }
        try fixture.change(adding: [], removing: fixture.expected)
        #expect(fixture.tree == OrderedTree())
    }

    @Test(arguments: [true, false]) func `entries that ascend or descend one by one fill nodes`(ascends: Bool) throws {
        var fixture = Fixture()
        var draft = fixture.timeline.draft()
        var batch: [[UInt8]] = []
        let numbers = (0..<UInt32(1200))
        for number in ascends ? Array(numbers) : numbers.reversed() {
            let bytes = withUnsafeBytes(of: number.bigEndian) { Array($0) }
            batch.append([1, 0, 0, 0] + bytes + bytes)
            if batch.count < 25 { continue }
            try fixture.change(&draft, adding: batch)
            batch = []
        }
        // Entries take at most the 12 bytes in which they differ. Ascending entries leave few gaps between them.
        let leaves = LeafCount(draft.reader, fixture.tree)
        #expect(leaves.usedShare > (ascends ? 0.75 : 0.45))
    }

    @Test func `a node that is built in bulk is full, and its entries take few bytes`() throws {
        var random = SplitMix64(seed: 2)
        var fixture = Fixture()
        var draft = fixture.timeline.draft()
        let entries = Set((0..<5000).map { _ in [1] + Keys.numbers.next(&random) })
        try fixture.change(&draft, adding: Array(entries))
        let leaves = LeafCount(draft.reader, fixture.tree)
        #expect(leaves.usedShare > 0.9)
        #expect(leaves.byteCount / entries.count <= 18)
    }

    @Test func `a version keeps its tree while later versions change it`() throws {
        var random = SplitMix64(seed: 3)
        var fixture = Fixture()
        var draft = fixture.timeline.draft()
        try fixture.change(&draft, adding: Array(Set((0..<3000).map { _ in Keys.texts.next(&random) })))
        let (before, kept) = (fixture, try fixture.timeline.publish(draft))
        for _ in 0..<5 {
            var draft = fixture.timeline.draft()
            let added = Set((0..<200).map { _ in Keys.texts.next(&random) }).subtracting(fixture.expected)
            try fixture.change(&draft, adding: Array(added), removing: Array(fixture.expected.prefix(300)))
            try fixture.timeline.publish(draft)
        }
        try before.check(kept.reader)
        try fixture.check(fixture.timeline.head.reader)
    }

    @Test func `entries are sorted whatever their heads are`() {
        var random = SplitMix64(seed: 5)
        for keys in Keys.allCases {
            var batch = OrderedBatch()
            var expected: [[UInt8]] = []
            for entry in Set((0..<1000).map({ _ in keys.next(&random) })) {
                batch.reserve(OrderedIndexLayout.entryByteCountMax).copyMemory(from: entry, byteCount: entry.count)
                batch.append(entry.count, isAdded: true)
                expected.append(entry)
            }
            expected.sort { $0.lexicographicallyPrecedes($1) }
            let found = batch.withSorted { changes in
                changes.records.indices.map { index in
                    Array(UnsafeRawBufferPointer(start: changes.entry(index).start, count: changes.entry(index).count))
                }
            }
            #expect(found == expected, "\(keys)")
        }
    }
}

/// The number of leaves in a tree, and the share of their bytes in use.
struct LeafCount {
    private(set) var count = 0
    private(set) var usedByteCount = 0

    init(_ reader: Reader, _ tree: OrderedTree) {
        OrderedReader(reader.chunks, tree).forEachLeaf(0..<Int(tree.count)) { leaf, _ in
            count += 1
            usedByteCount += leaf.usedByteCount
            return true
        }
    }

    var byteCount: Int { count * OrderedNode.byteCount }
    var usedShare: Double { Double(usedByteCount) / Double(byteCount) }
}
