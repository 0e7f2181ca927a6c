public import CambiumGraph
package import CambiumLog
import CambiumModel

/// A store at one moment, which can be read while another process is writing to the store. Reading changes nothing in the store and takes
/// no lock for which a writer waits. The graph is durable, because the log is synced before it is read.
///
/// ```swift
/// let yesterday = try ReadOnlyStore(at: "notes", point: .time(Timestamp(Date.now - 86_400)))
/// print(yesterday.graph.transaction, yesterday.graph.objectCount)
/// ```
public struct ReadOnlyStore: Sendable {
    /// The graph of the moment.
    public let graph: Graph
    /// The problems that were found while the log was read up to the moment of `graph`. The later part of the log was not read.
    package let recovery: RecoveryReport

    /// Reads a store from its newest checkpoint that is not later than `point`, and from the log between the checkpoint and `point`.
    ///
    /// Throws `.notFound` if there is no store or no such moment, and `.corrupted` if the log up to the moment is corrupt. Throws
    /// `.ioFailure` if a file cannot be read, and `.unsupportedFormat` if a newer version wrote the store. Complexity: O(bytes of the log
    /// between the checkpoint and the moment).
    ///
    /// - Parameters:
    ///   - path: The directory of the store.
    ///   - point: The moment to read.
    ///   - memory: The memory budget for the pages of the graph.
    public init(at path: String, point: Point = .latest, memory: MemoryBudget = .standard) throws {
        try self.init(SystemVolume(root: path), point: point, memory: memory)
    }

    package init(_ volume: any Volume, point: Point = .latest, memory: MemoryBudget = .standard) throws {
        let moment = try EarlierMoment(point) { try EarlierView.labels(volume, memory: memory) }
        let reader = try LogReader(volume)
        let view = try EarlierView(reader, at: moment, memory: memory)
        graph = view.graph
        recovery = RecoveryReport(reader, view.origin, view.end, reached: graph.transaction, transactionCount: view.transactionCount)
    }
}
