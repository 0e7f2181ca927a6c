import CambiumGraph
import CambiumModel

/// The digest of a graph. `advance` computes the digest of a later graph from this digest, at a cost in proportion to the changes.
struct KnownDigest {
    private(set) var graph: Graph
    private(set) var digest: GraphDigest
    /// The graphs that preceded `graph`. They are released only after this thread has taken the writer's lock, because writers reuse the
    /// pages of released graphs. Without the lock, only reference counts would order this thread's reads before the writes of the writers.
    /// The thread sanitizer does not see that order.
    private var followed: [Graph] = []

    /// The maximum number of times that the digest is updated before the writer's lock is taken. Each round processes the transactions that
    /// were committed during the previous round, so the last rounds are short.
    private static let roundCountMax = 8

    /// Computes the digest of the newest graph, and then updates it for the transactions that were committed while the digest was computed.
    /// Does not take the writer's lock.
    ///
    /// Complexity: O(graph).
    ///
    /// - Parameter newest: returns the newest graph that no failure of the disk can roll back.
    init(following newest: () -> Graph) {
        graph = newest()
        digest = graph.digest()
        for _ in 0..<Self.roundCountMax {
            let next = newest()
            if next.transaction == graph.transaction { return }
            advance(to: next)
        }
    }

    /// Advances the digest to a newer graph. Complexity: O(changes).
    mutating func advance(to newer: Graph) {
        digest = newer.digest(after: digest, of: graph)
        followed.append(graph)
        graph = newer
    }
}
