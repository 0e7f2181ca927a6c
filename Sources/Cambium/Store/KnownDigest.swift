import CambiumGraph
import CambiumModel

/// The digest of a graph. It follows later graphs of the store at the cost of what has changed.
struct KnownDigest {
    private(set) var graph: Graph
    private(set) var digest: GraphDigest
    /// The earlier graphs. They are held until the writer's lock was taken, because writers use the pages of a graph again if nobody holds
    /// it. The thread sanitizer sees the order that a lock makes; it does not see the order that counts of references make.
    private var followed: [Graph] = []

    /// How often the digest follows the writers before the lock is taken. Each round has as much to do as was committed during the one
    /// before it, so the last ones are short.
    private static let roundCountMax = 8

    /// Computes the digest of a graph of the moment, and follows the writers that commit meanwhile. Takes no lock of the store.
    ///
    /// Complexity: O(graph).
    ///
    /// - Parameter newest: returns the newest graph that no failure of the disk takes back.
    init(following newest: () -> Graph) {
        graph = newest()
        digest = graph.digest()
        for _ in 0..<Self.roundCountMax {
            let next = newest()
            if next.transaction == graph.transaction { return }
            advance(to: next)
        }
    }

    /// Complexity: O(what has changed).
    mutating func advance(to newer: Graph) {
        digest = newer.digest(after: digest, of: graph)
        followed.append(graph)
        graph = newer
    }
}
