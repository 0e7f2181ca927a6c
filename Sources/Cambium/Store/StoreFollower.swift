public import CambiumGraph
package import CambiumLog
import CambiumModel
import Synchronization

/// A store that another process writes to, read as it goes on.
///
///     let follower = try StoreFollower(of: "notes")
///     for try await graph in follower.graphs() { print(graph.objectCount) }
///
/// Nothing is locked, and the writer waits for nothing. What is shown is durable: it is synced before it is read.
///
/// SENDABLE: what changes is touched while `advancing` is held.
public final class StoreFollower: @unchecked Sendable {
    private let advancing = WriterLock()
    private let timeline: Timeline
    @exclusivity(unchecked) private var log: LogFollower

    /// Reads a store from its newest checkpoint and its log, as far as it is whole.
    ///
    /// Throws `.notFound` where there is no store, `.damaged` where its log is corrupt. Complexity: O(log behind the checkpoint).
    public convenience init(of path: String) throws { try self.init(SystemVolume(root: path)) }

    package init(_ volume: any Volume) throws {
        (timeline, log) = try Self.begin(LogReader(volume))
    }

    private static func begin(_ reader: LogReader) throws -> (Timeline, LogFollower) {
        var stored = try StoredGraph(reader)
        while true {
            var log = try LogFollower(reader, after: stored.pages.map { LogReader.Prefix($0.root) })
            do {
                _ = try advance(stored.timeline, &log)
                return (stored.timeline, log)
            } catch let error as CambiumError where error.code == .notFound {
                // What follows the checkpoint was retired meanwhile, and another one stands for it.
                let newer = try StoredGraph(reader)
                guard newer.transaction > stored.transaction else { throw error }
                stored = newer
            }
        }
    }

    /// The graph as it was when the log was read last. O(1).
    public var graph: Graph { timeline.head }

    /// Applies the transactions that have come since, and returns how many.
    ///
    /// Throws `.damaged` where a segment is damaged that another one follows, or a transaction cannot be applied; `.notFound` where what
    /// has come since was retired before it was read: another follower begins behind it. The graph is as before then. What does not verify
    /// at the end of the log is waited for: it may be being written. One thread at a time; others wait.
    ///
    /// Complexity: O(bytes that have come).
    @discardableResult
    public func advance() throws -> Int { try advancing.hold { try Self.advance(timeline, &log) } }

    private static func advance(_ timeline: Timeline, _ log: inout LogFollower) throws -> Int {
        var draft = timeline.draft()
        var count = 0
        try log.advance { record in
            try draft.replay(record)
            count += 1
        }
        if count > 0 { try timeline.publish(draft) }
        return count
    }

    /// The graph as it is, and then every newer one, as soon as it is seen. Ends when the task is cancelled.
    ///
    /// - Parameter interval: how long to wait before the log is looked at again.
    public func graphs(every interval: Duration = .milliseconds(50)) -> AsyncThrowingStream<Graph, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                do {
                    continuation.yield(graph)
                    while true {
                        try await Task.sleep(for: interval)
                        if try advance() > 0 { continuation.yield(graph) }
                    }
                } catch is CancellationError {
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
