import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Compares walks with a naive implementation.
@Suite struct RandomWalkTests {
    /// The relationships of a graph one by one, and all of them together.
    private func choices(_ graph: Graph) -> [[String]?] {
        [nil] + Set(graph.schema.entities.flatMap { $0.relationships.map(\.name) }).sorted().map { [$0] as [String]? }
    }

    private func expectSame(_ graph: Graph, seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for choice in choices(graph) {
            let naive = NaiveWalk(graph, choice)
            var walk = try graph.walk(along: choice)
            walk.hashedCountMax = random.pick([0, 3, 20, 4096]) ?? 0
            // Makes the arrays of links before the first question, or never.
            for steps in [walk.steps, walk.backwardSteps] { steps.track(followedCount: random.isTrue(1, outOf: 2) ? 1 << 40 : -1 << 40) }
            let comment = Comment(rawValue: "seed \(seed), \(choice ?? [])")
            try expectSameObjects(walk, naive, comment, &random)
            try expectSamePaths(walk, naive, comment, &random)
            try expectSameComponents(walk, naive, comment)
            try expectSameOrder(walk, naive, comment)
        }
    }

    private func expectSameObjects(_ walk: Walk, _ naive: NaiveWalk, _ comment: Comment, _ random: inout SplitMix64) throws {
        for count in [1, 1, 3] {
            let starts = (0..<count).compactMap { _ in random.pick(naive.ids) }
            let limit = random.pick([nil, 0, 1, 2, 5]) ?? nil
            let divisor = UInt64.random(in: 2...5, using: &random)
            let passes = { (id: ObjectID) in limit == nil || id.serial % divisor != 0 }
            let found = try walk.objects(from: starts, within: limit) { passes(walk.graph.id(of: $0)) }
            let distances = found.map(\.distance)
            let expected = naive.distances(from: starts, where: passes).filter { $0.value <= limit ?? .max }
            #expect(Dictionary(found.map { ($0.id, $0.distance) }) { _, _ in -1 } == expected, comment)
            #expect(distances == distances.sorted() && found.count == expected.count, comment)
            #expect(found.distanceMax == expected.values.max() ?? 0, comment)
            #expect(found.ids(at: 1) == expected.filter { $0.value == 1 }.keys.sorted(), comment)
        }
    }

    private func expectSamePaths(_ walk: Walk, _ naive: NaiveWalk, _ comment: Comment, _ random: inout SplitMix64) throws {
        for round in 0..<8 {
            guard let start = random.pick(naive.ids), let end = random.pick(naive.ids) else { return }
            let passes = { (id: ObjectID) in round % 2 == 0 || id.serial % 3 != 0 || id == end }
            let expected = naive.distances(from: [start], where: passes)[end]
            let path = try walk.path(from: start, to: end, within: nil) { passes(walk.graph.id(of: $0)) }
            #expect(path.map { $0.count - 1 } == expected, comment)
            for (left, right) in zip(path ?? [], (path ?? []).dropFirst()) {
                #expect(naive.next[left]?.contains(right) == true && passes(right), comment)
            }
            if let path { #expect(path.first == start && path.last == end, comment) }
            guard let expected, round % 2 == 0 else { continue }
            #expect(try walk.path(from: start, to: end, within: expected)?.count == expected + 1, comment)
            if expected > 0 { #expect(try walk.path(from: start, to: end, within: expected - 1) == nil, comment) }
        }
    }

    private func expectSameComponents(_ walk: Walk, _ naive: NaiveWalk, _ comment: Comment) throws {
        let components = try walk.components()
        var rest = naive.covered
        var sizes: [Int] = []
        while let id = rest.first {
            let expected = naive.component(of: id)
            let number = try #require(components.component(of: id), comment)
            #expect(components.ids(of: number) == expected.sorted(), comment)
            #expect(components.sizes[number] == expected.count, comment)
            sizes.append(expected.count)
            rest.subtract(expected)
        }
        #expect(components.sizes == sizes.sorted(by: >), comment)
        for id in naive.ids where !naive.covered.contains(id) { #expect(components.component(of: id) == nil, comment) }
    }

    private func expectSameOrder(_ walk: Walk, _ naive: NaiveWalk, _ comment: Comment) throws {
        do throws(CambiumError) {
            let order = try walk.topologicalOrder()
            let index = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
            #expect(Set(order) == naive.covered && !naive.hasCycle, comment)
            for (id, targets) in naive.next {
                for target in targets { #expect(index[id] ?? .max < index[target] ?? -1, comment) }
            }
        } catch {
            #expect(error.code == .cyclic && naive.hasCycle, comment)
            let cycle = try #require((error.underlying as? LinkCycle)?.objects, comment)
            #expect(!cycle.isEmpty && Set(cycle).count == cycle.count, comment)
            for (left, right) in zip(cycle, cycle.dropFirst() + cycle.prefix(1)) {
                #expect(naive.next[left]?.contains(right) == true, comment)
            }
        }
    }

    @Test func `walks over random schemas equal naive walks`() throws {
        for seed in 1...UInt64(LongTests.caseCount(200, usual: 4)) { try expectSame(WalkFixture.randomGraph(seed: seed), seed: seed) }
    }

    @Test func `walks over every kind of relationship equal naive walks`() throws {
        for seed in 1...UInt64(LongTests.caseCount(200, usual: 8)) {
            let count = 4 * Int(seed % 12 + 1)
            try expectSame(WalkFixture.graph(seed: seed, count: count, linkCount: count * Int(seed % 6 + 1)), seed: seed)
        }
    }
}
