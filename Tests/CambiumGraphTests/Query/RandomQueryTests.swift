import CambiumBytes
import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Random queries on random graphs, compared with a search that tests each object of a reference.
struct RandomQueryTests {
    private static let seeds: Range<UInt64> = 0..<UInt64(LongTests.caseCount(150, usual: 4))
    /// The random graphs that were made. The tests of this suite share them.
    private static let pairs = Guarded([UInt64: Pair]())

    private struct Pair: Sendable {
        let graph: Graph
        let reference: ReferenceGraph
    }

    private static func pair(seed: UInt64) throws -> Pair {
        if let known = pairs.withLock({ $0[seed] }) { return known }
        let (graph, reference) = try RandomPair.make(seed: seed)
        let pair = Pair(graph: graph, reference: reference)
        pairs.withLock { $0[seed] = pair }
        return pair
    }

    @Test(arguments: seeds) func `every plan finds the objects that a search finds`(seed: UInt64) throws {
        let pair = try Self.pair(seed: seed)
        let graph = pair.graph
        let reference = ReferenceQuery(pair.reference)
        var conditions = RandomCondition(pair.reference, seed: seed + 1000)
        for entity in pair.reference.schema.entities {
            for number in 0..<(LongTests.areWanted ? 25 : 12) {
                let condition = conditions.condition(entity)
                let expected = reference.ids(of: entity, where: condition)
                var query = Query(entity.name, where: condition)
                try #expect(graph.find(query) == expected, "\(entity.name) \(number): \(condition)")
                query.accesses = .scan
                try #expect(graph.find(query) == expected, "scan, \(entity.name) \(number): \(condition)")
                try #expect(graph.count(query) == expected.count)
            }
        }
    }

    @Test(arguments: seeds) func `sorted pages are the parts of a sorted search`(seed: UInt64) throws {
        let pair = try Self.pair(seed: seed)
        let graph = pair.graph
        let reference = ReferenceQuery(pair.reference)
        var conditions = RandomCondition(pair.reference, seed: seed + 2000)
        for entity in pair.reference.schema.entities {
            for number in 0..<12 {
                let condition = conditions.random.isTrue(1, outOf: 2) ? Condition.constant(true) : conditions.condition(entity, depth: 1)
                let sort = conditions.sort(entity)
                let expected = reference.ids(of: entity, where: condition, sort: sort)
                var query = Query(entity.name, where: condition, sort: sort)
                let comment = Comment(rawValue: "\(entity.name) \(number): \(condition) by \(sort.map(\.description))")
                try #expect(graph.find(query) == expected, comment)
                query.limit = Int.random(in: 0...5, using: &conditions.random)
                query.offset = Int.random(in: 0...3, using: &conditions.random)
                let part = Array(expected.dropFirst(query.offset).prefix(query.limit ?? 0))
                try #expect(graph.find(query) == part, "part of \(comment)")
                try #expect(pages(query, graph, expected.count) == expected, "pages of \(comment)")
            }
        }
    }

    @Test(arguments: seeds) func `paths are counted as if they were listed`(seed: UInt64) throws {
        let pair = try Self.pair(seed: seed)
        var conditions = RandomCondition(pair.reference, seed: seed + 3000)
        for entity in pair.reference.schema.entities {
            for _ in 0..<10 {
                guard let (names, end) = conditions.path(entity) else { continue }
                let isFiltered = conditions.random.isTrue(1, outOf: 2)
                let start = isFiltered ? conditions.condition(entity, depth: 1) : .constant(true)
                let target = isFiltered ? conditions.condition(end, depth: 1) : .constant(true)
                let expected = ReferenceQuery(pair.reference).pathCount(of: entity, where: start, along: names, to: target)
                let query = Query(entity.name, where: start)
                let count = try pair.graph.pathCount(from: query, along: names, to: target)
                #expect(count == .int(Int64(expected)), "\(entity.name) \(names), from \(start) to \(target)")
            }
        }
    }

    /// Reads an answer of about `count` objects page by page. Each page is a new search, so the fast tests read at most six pages.
    private func pages(_ query: Query, _ graph: Graph, _ count: Int) throws -> [ObjectID] {
        var (page, found) = (query, [ObjectID]())
        page.limit = LongTests.areWanted ? 3 : max(3, count / 5)
        page.offset = 0
        while true {
            let answer = try graph.answer(page)
            found += answer.ids
            guard let cursor = answer.cursor else { return found }
            page.cursor = try QueryCursor(parsing: cursor.description)
        }
    }
}
