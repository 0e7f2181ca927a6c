import Cambium
import CambiumGraph
import CambiumModel
import CambiumTesting
import TestFixtures

@testable import CambiumLog

extension StoreRun {
    /// Returns a random moment, and occasionally one that does not exist.
    mutating func point() -> Point {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: .latest
        case 1, 2: .time(Timestamp(microsecondsSince1970: (random.pick(moments)?.time ?? 0) + Int64.random(in: -1...1, using: &random)))
        case 3: .label((moments.last?.labels ?? [:]).keys.sorted().randomElement(using: &random) ?? "none")
        default: .transaction(TransactionNumber(rawValue: UInt64.random(in: 0...UInt64(moments.count + 1), using: &random)))
        }
    }

    /// Returns the number of a moment's transaction, or `nil` if there is no such moment.
    func number(of point: Point) -> Int? {
        switch point {
        case .latest: moments.count
        case .time(let time): moments.lastIndex { $0.time <= time.microsecondsSince1970 }.map { $0 + 1 }
        case .label(let name): moments.last?.labels[name].map { Int($0.rawValue) }
        case .transaction(let number): (1...moments.count).contains(Int(number.rawValue)) ? Int(number.rawValue) : nil
        }
    }

    /// Reads a moment. The store must show it as it was, or must refuse it because it was retired.
    mutating func view(_ point: Point) throws {
        let number = number(of: point)
        let what = "the moment \(point), transaction \(number.map(String.init) ?? "none") of \(moments.count), kept since \(first),"
        let source = Int.random(in: 0..<3, using: &random)
        let graph: Graph
        do { graph = try shown(point, source) } catch let error as CambiumError where error.code == .notFound {
            if let number, number >= min(firstCertain, moments.count) { throw Finding("\(what) is refused: \(error)") }
            if number != nil { refusedCount += 1 }
            return
        }
        guard let number else { throw Finding("\(what) is shown") }
        // The store does not drop a checkpoint while a reader uses it.
        if number < first, try !CheckpointRecord.list(volume).contains(TransactionNumber(rawValue: UInt64(number))) {
            throw Finding("\(what) was retired and is shown")
        }
        if graph.transaction.rawValue != UInt64(number) { throw Finding("\(what) is shown as transaction \(graph.transaction)") }
        try check(graph, moments[number - 1], what)
        try Finding.check(graph.invariantFindings(), what)
        shownCount += 1
        try compareWithAnother(graph)
        if random.isTrue(1, outOf: 4) { try hold(graph, isOwn: source == 0) }
    }

    /// Holds a graph, which must stay unchanged across checkpoints, packing, compaction, closing and the next process.
    ///
    /// - Parameter isOwn: Whether the graph ends with the process that has the store open, unless that process closes the store.
    mutating func hold(_ graph: Graph, isOwn: Bool) throws {
        held.append((graph, moments[Int(graph.transaction.rawValue) - 1], isOwn))
        if held.count > 8, let index = held.indices.randomElement(using: &random) { held.remove(at: index) }
    }

    /// Advances a follower, which must show all transactions. All of them are durable afterwards.
    mutating func follow() throws {
        do {
            let following = try follower ?? StoreFollower(volume)
            follower = following
            try following.advance()
            try following.advance()
        } catch let error as CambiumError where error.code == .notFound {
            // The transactions that the follower had not read were retired. A new follower begins with the state that replaces them.
            follower = nil
            return
        }
        guard let graph = follower?.graph else { return }
        guard graph.transaction.rawValue == UInt64(moments.count), let last = moments.last else {
            throw Finding("a follower shows transaction \(graph.transaction) of \(moments.count)")
        }
        durableCount = moments.count
        try check(graph, last, "a follower")
        if random.isTrue(1, outOf: 3) { try hold(graph, isOwn: false) }
        if random.isTrue(1, outOf: 6) { follower = nil }
    }

    /// Reads a moment from one of three sources. A moment that another process was shown is durable, and so are all earlier ones.
    private mutating func shown(_ point: Point, _ source: Int) throws -> Graph {
        let graph: Graph
        switch source {
        case 0: return try store.graph(at: point)
        case 1: graph = try past.graph(at: point)
        default: graph = try ReadOnlyStore(volume, point: point, memory: Self.memory(&random)).graph
        }
        durableCount = max(durableCount, Int(graph.transaction.rawValue))
        return graph
    }
}
