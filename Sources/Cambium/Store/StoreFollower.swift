internal import CambiumBytes
public import CambiumGraph
package import CambiumLog
import CambiumModel
import Dispatch

/// A store that another process writes to, read as it goes on.
///
///     let follower = try StoreFollower(of: "notes")
///     for try await graph in follower.graphs() { print(graph.objectCount) }
///
/// Nothing is locked, and the writer waits for nothing. What is shown is durable: it is synced before it is read. A follower reads from a
/// checkpoint, which the writer keeps meanwhile; as the store goes on, the follower moves to newer ones.
///
/// SENDABLE: what changes is touched while `advancing` is held, or is under a lock.
public final class StoreFollower: @unchecked Sendable {
    private let advancing = WriterLock()
    private let volume: any Volume
    @exclusivity(unchecked) private var position: Position
    /// Whether transactions have come since newer checkpoints were looked for.
    @exclusivity(unchecked) private var hasAdvanced = true
    /// The timeline that is shown.
    private let newest: Guarded<Timeline>

    /// What has been read, and from where it goes on.
    private struct Position {
        let timeline: Timeline
        /// The checkpoint whose pages the timeline is on; none if it replayed the whole log.
        let checkpoint: TransactionNumber
        var log: LogFollower
    }

    /// Newer checkpoints that make a follower leave its own: the writer keeps the newest two in any case.
    private static let newerCountMin = 2

    /// Reads a store from its newest checkpoint and its log, as far as it is whole.
    ///
    /// Throws `.notFound` if there is no store, `.damaged` if its log is corrupt. Complexity: O(log after the checkpoint).
    public convenience init(of path: String) throws { try self.init(SystemVolume(root: path)) }

    package init(_ volume: any Volume) throws {
        let begun = try Self.begin(LogReader(volume))
        (self.volume, position) = (volume, begun)
        newest = Guarded(begun.timeline)
    }

    private static func begin(_ reader: LogReader) throws -> Position {
        var stored = try StoredGraph(reader)
        while true {
            do {
                return try begin(reader, stored)
            } catch let error as CambiumError where error.code == .notFound {
                // What follows the checkpoint was retired meanwhile, and another one stands for it.
                let newer = try StoredGraph(reader)
                guard newer.transaction > stored.transaction else { throw error }
                stored = newer
            }
        }
    }

    private static func begin(_ reader: LogReader, _ stored: StoredGraph) throws -> Position {
        try stored.completePages()
        let log = try LogFollower(reader, after: stored.pages.map { LogReader.Prefix($0.root) })
        var position = Position(timeline: stored.timeline, checkpoint: stored.transaction, log: log)
        _ = try advance(&position)
        return position
    }

    /// The graph as it was when the log was read last. O(1).
    public var graph: Graph { newest.withLock { $0 }.head }

    /// Applies the transactions that have come since, and returns how many.
    ///
    /// Throws `.damaged` if a segment is damaged that another one follows, or a transaction cannot be applied; `.notFound` if what
    /// has come since was retired before it was read: another follower begins after it. The graph is as before then. What does not verify
    /// at the end of the log is waited for: it may be being written. One thread at a time; others wait.
    ///
    /// If two newer checkpoints have been read, the follower goes on from the newest one, so that the writer can drop its own: then the
    /// graph has the same content on other pages, and the old pages go with the last graph that has them.
    ///
    /// Complexity: O(bytes that have come).
    @discardableResult
    public func advance() throws -> Int {
        try advancing.hold {
            if hasAdvanced {
                let count = try move()
                hasAdvanced = count > 0
                if count > 0 { return count }
            }
            let count = try Self.advance(&position)
            if count > 0 { hasAdvanced = true }
            return count
        }
    }

    private static func advance(_ position: inout Position) throws -> Int {
        var draft = position.timeline.draft()
        var count = 0
        try position.log.advance { record in
            try draft.replay(record)
            count += 1
        }
        if count > 0 { try position.timeline.publish(draft) }
        return count
    }

    /// Goes on from a newer checkpoint, and returns how many transactions have come meanwhile. One that is gone or damaged is left alone:
    /// the pages that the follower has are sound.
    private func move() throws -> Int {
        let read = position.timeline.head.transaction
        let newer = try RootRecord.list(volume).filter { $0 > position.checkpoint && $0 <= read }
        guard newer.count >= Self.newerCountMin, let number = newer.first else { return 0 }
        do {
            let reader = try LogReader(volume)
            let moved = try Self.begin(reader, StoredGraph(reader, of: number))
            let transaction = moved.timeline.head.transaction
            guard transaction >= read else { return 0 }
            position = moved
            newest.withLock { $0 = moved.timeline }
            return Int(clamping: transaction.rawValue - read.rawValue)
        } catch let error as CambiumError where error.code == .notFound || error.code == .damaged {
            return 0
        }
    }

    // MARK: As they come

    /// The graph as it is, and then every newer one, as soon as it is seen. Ends when the task is cancelled.
    ///
    /// The log is read by a thread of the stream's own, which ends with the stream, so that no thread of a task waits for the disk.
    ///
    /// - Parameter interval: how long to wait before the log is looked at again.
    public func graphs(every interval: Duration = .milliseconds(50)) -> AsyncThrowingStream<Graph, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let ending = DispatchSemaphore(value: 0)
            continuation.onTermination = { _ in ending.signal() }
            let hasThread = OwnThread.run { self.send(to: continuation, every: interval, until: ending) }
            if !hasThread {
                continuation.finish(throwing: CambiumError(.ioFailure, "The system gave no thread that follows the store. Try again."))
            }
        }
    }

    private func send(
        to continuation: AsyncThrowingStream<Graph, any Error>.Continuation, every interval: Duration, until ending: DispatchSemaphore
    ) {
        let microseconds = Int(clamping: max(0, interval.microseconds))
        continuation.yield(graph)
        while ending.wait(timeout: .now() + .microseconds(microseconds)) == .timedOut {
            do {
                if try advance() > 0 { continuation.yield(graph) }
            } catch {
                return continuation.finish(throwing: error)
            }
        }
    }
}
