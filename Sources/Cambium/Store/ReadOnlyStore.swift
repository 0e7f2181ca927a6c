public import CambiumGraph
package import CambiumLog
public import CambiumModel

/// A moment in the history of a store.
public enum Point: Sendable, Hashable {
    case latest
    case transaction(TransactionNumber)
    /// The last transaction that is not later.
    case time(Timestamp)
    /// The transaction that a label names.
    case label(String)
}

/// A store as it was at one moment, read beside whoever writes to it. Nothing is locked, nothing is written; what is shown is
/// durable, because the log is synced first.
public struct ReadOnlyStore: Sendable {
    public let graph: Graph
    /// What was found, as far as the log was read: up to the moment.
    public let recovery: RecoveryReport

    /// Reads a store from its newest checkpoint that is not later, and from its log.
    ///
    /// Throws `.notFound` where there is no store or no such moment, `.damaged` where its log is corrupt up to there. Complexity: O(log
    /// between the checkpoint and the moment).
    ///
    /// - Parameter memory: what its pages may take.
    public init(at path: String, point: Point = .latest, memory: MemoryBudget = .standard) throws {
        try self.init(SystemVolume(root: path), point: point, memory: memory)
    }

    package init(_ volume: any Volume, point: Point = .latest, memory: MemoryBudget = .standard) throws {
        let moment = try PastMoment(point) { try ReadOnlyStore(volume).graph.labels }
        let reader = try LogReader(volume)
        let view = try PastView(reader, at: moment, memory: memory)
        graph = view.graph
        recovery = RecoveryReport(reader, view.stored, view.end, reached: graph.transaction, transactionCount: view.transactionCount)
    }
}
