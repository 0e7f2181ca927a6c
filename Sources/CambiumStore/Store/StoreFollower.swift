internal import CambiumBytes
public import CambiumGraph
package import CambiumLog
import CambiumModel
import Dispatch

/// Follows a store while another process is writing to it.
///
/// ```swift
/// let follower = try StoreFollower(of: "notes")
/// for try await graph in follower.graphs() { print(graph.objectCount) }
/// ```
///
/// A follower takes no lock for which the writer waits. The graphs are durable, because the log is synced before it is read. A follower
/// maps the pages of a checkpoint, and the writer keeps that checkpoint as long as the follower is using it. As the store grows, the
/// follower moves to newer checkpoints.
///
/// SENDABLE: mutable state is accessed only while `advancing` is held, or is under a lock.
public final class StoreFollower: @unchecked Sendable {
    private let advancing = WriterLock()
    private let volume: any Volume
    private let tuning: LogTuning
    /// The id of the store, 16 bytes.
    private let store: [UInt8]
    @exclusivity(unchecked) private var position: Position
    /// Whether transactions were read since the follower last searched for newer checkpoints.
    @exclusivity(unchecked) private var hasAdvanced = true
    /// The newer checkpoints that were found to be corrupt. The follower does not open and check them again.
    @exclusivity(unchecked) private var corrupt: Set<TransactionNumber> = []
    /// The timeline that readers see.
    private let newest: Guarded<Timeline>

    /// The state of a follower: the graph that was read so far, and the position in the log at which reading continues.
    private struct Position {
        let timeline: Timeline
        /// The checkpoint whose pages the timeline uses; `.none` if the whole log was replayed.
        let checkpoint: TransactionNumber
        var log: LogFollower
    }

    /// A follower moves to a newer checkpoint if at least this number of checkpoints is newer than the checkpoint that the follower is
    /// using. The writer always keeps the newest two.
    private static let newerCountMin = 2

    /// Reads a store from its newest checkpoint, and from the log after that checkpoint. The log may end with bytes that do not pass
    /// verification. The next call to `advance` reads these bytes again, because the writer may be writing them.
    ///
    /// Throws `.notFound` if there is no store, and `.corrupted` if an earlier part of the log is corrupt. Throws `.ioFailure` if a file
    /// cannot be read, and `.unsupportedFormat` if a newer version wrote the store. Complexity: O(bytes of the log after the checkpoint).
    public convenience init(of path: String) throws { try self.init(SystemVolume(root: path)) }

    /// - Parameter tuning: determines the maximum size of a checkpoint that is checked completely before the follower moves to it.
    package init(_ volume: any Volume, tuning: LogTuning = .standard) throws {
        let reader = try LogReader(volume)
        let begun = try Replay.reading(reader) { replay in try Self.begin(reader, replay) }
        (self.volume, self.tuning, store, position) = (volume, tuning, reader.settings.store, begun)
        newest = Guarded(begun.timeline)
    }

    /// Starts to follow the log where a replay ended, and applies the transactions after that position.
    private static func begin(_ reader: LogReader, _ replay: Replay) throws -> Position {
        let log = try LogFollower(reader, after: replay.base)
        var position = Position(timeline: replay.timeline, checkpoint: replay.origin.transaction, log: log)
        _ = try advance(&position)
        return position
    }

    /// The graph after the last read of the log. O(1).
    public var graph: Graph { newest.withLock { $0 }.head }

    /// Applies the transactions that were committed since the last call, and returns their number.
    ///
    /// Throws `.corrupted` if a segment before the last segment is corrupt, or if a transaction cannot be applied. If a newer checkpoint
    /// contains the result of the corrupt part, the follower continues with that checkpoint instead. Throws `.notFound` if the store no
    /// longer exists, or if a store without later transactions has replaced it. After an error, the graph is unchanged. The log
    /// may end with bytes that do not verify. The next call reads these bytes again, because the writer may be writing them. If another
    /// thread is executing this method, the call waits for that thread.
    ///
    /// If the next transactions were retired before they were read, the follower continues with the checkpoint that replaces them.
    ///
    /// If the follower has read all transactions of at least two newer checkpoints, it moves to the newest of these checkpoints that is
    /// sound. The writer can then drop the follower's old checkpoint. The graph has the same content on other pages. The old pages are
    /// freed with the last graph that uses them.
    ///
    /// Complexity: O(bytes that were appended). A move to a newer checkpoint also takes O(chunks + bytes of the log after that checkpoint).
    @discardableResult
    public func advance() throws -> Int {
        try advancing.hold {
            if hasAdvanced {
                let count = try move()
                hasAdvanced = count > 0
                if count > 0 { return count }
            }
            let count = try read()
            if count > 0 { hasAdvanced = true }
            return count
        }
    }

    /// Applies the next transactions, and returns their number.
    private func read() throws -> Int {
        do {
            return try Self.advance(&position)
        } catch let error as CambiumError where error.code == .notFound || error.code == .corrupted {
            // If a copy has replaced the store, its segments do not continue the segment that the follower has open, and seem corrupt.
            return try restart(after: error)
        }
    }

    private static func advance(_ position: inout Position) throws -> Int {
        var draft = position.timeline.draft()
        var count = 0
        try position.log.advance { record in
            try Replay.replay(&draft, record)
            count += 1
        }
        if count > 0 { try position.timeline.publish(draft) }
        return count
    }

    /// If at least `newerCountMin` newer checkpoints contain only transactions that were read, continues from the newest of these
    /// checkpoints that can be used. Returns the number of transactions that were committed in the meantime. Does nothing if none of these
    /// checkpoints can be used, because the follower's current pages are sound.
    private func move() throws -> Int {
        let read = position.timeline.head.transaction
        let newer = try CheckpointRecord.list(volume).filter { $0 > position.checkpoint && $0 <= read }
        corrupt.formIntersection(newer)
        let usable = newer.filter { !corrupt.contains($0) }
        guard newer.count >= Self.newerCountMin, !usable.isEmpty else { return 0 }
        do {
            let reader = try LogReader(volume)
            // If another store has replaced this one, the next read of the log notices that.
            guard reader.settings.store == store, let start = try replay(reader, fromFirstOf: usable) else { return 0 }
            let moved = try Self.begin(reader, start)
            let transaction = moved.timeline.head.transaction
            guard transaction >= read else { return 0 }
            return enter(moved, after: read)
        } catch let error as CambiumError where error.code == .notFound || error.code == .corrupted {
            return 0
        }
    }

    /// Continues with the newest checkpoint, because the next transactions cannot be read: they were retired, or a copy has replaced the
    /// store. Returns the number of transactions that were committed in the meantime. Throws `error` if another store has replaced this
    /// one, or if the store has no later transaction. Throws `.notFound` if the log now ends before the follower's last transaction.
    private func restart(after error: CambiumError) throws -> Int {
        let read = position.timeline.head.transaction
        let reader = try LogReader(volume)
        guard reader.settings.store == store else { throw error }
        let begun = try Replay.reading(reader) { replay in try Self.begin(reader, replay) }
        let found = begun.timeline.head.transaction
        guard found > read else { throw found < read ? LogFollower.displaced(volume) : error }
        return enter(begun, after: read)
    }

    /// Continues from another position, and returns the number of transactions from `read` to this position.
    private func enter(_ other: Position, after read: TransactionNumber) -> Int {
        position = other
        // The old timeline is released outside of the lock, because its release may free all pages of a store, and readers wait for the
        // lock.
        let old = newest.withLock { timeline in
            defer { timeline = other.timeline }
            return timeline
        }
        _ = consume old
        return Int(clamping: other.timeline.head.transaction.rawValue - read.rawValue)
    }

    /// Returns a replay that begins with the first of these checkpoints that still exists and is not corrupt. Returns `nil` if there is no
    /// such checkpoint.
    private func replay(_ reader: LogReader, fromFirstOf numbers: [TransactionNumber]) throws -> Replay? {
        // If some process has found corruption, the checkpoints are checked completely, as at the opening of a store.
        let isSuspect = try PageFile.corruptionNote(volume) != nil
        for number in numbers {
            do throws(CambiumError) {
                return try Replay(LoadedCheckpoint(reader, of: number, checksAll: isSuspect, tuning: tuning))
            } catch {
                guard error.code == .notFound || error.code == .corrupted else { throw error }
                if error.code == .corrupted { corrupt.insert(number) }
            }
        }
        return nil
    }

    // MARK: Streams

    /// Returns a stream of the current graph, and of each newer graph once the follower sees it. A slow consumer receives only the newest
    /// graph. The stream ends when the task is cancelled. A follower may have several streams, and each of them gets the newest graph.
    ///
    /// A dedicated thread reads the log, so that no thread of a task waits for the disk. The thread ends with the stream. If `advance`
    /// throws, the stream throws the same error and ends. The stream throws `.ioFailure` if the operating system has no thread left.
    ///
    /// - Parameter interval: the time between two reads of the log. A time below a millisecond counts as a millisecond.
    public func graphs(every interval: Duration = .milliseconds(50)) -> AsyncThrowingStream<Graph, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let ending = DispatchSemaphore(value: 0)
            continuation.onTermination = { _ in ending.signal() }
            let hasThread = DedicatedThread.run { self.send(to: continuation, every: interval, until: ending) }
            if !hasThread {
                let message = "The operating system has no thread left to follow the store. Repeat the call later."
                continuation.finish(throwing: CambiumError(.ioFailure, message))
            }
        }
    }

    private func send(
        to continuation: AsyncThrowingStream<Graph, any Error>.Continuation, every interval: Duration, until ending: DispatchSemaphore
    ) {
        let microseconds = Int(clamping: interval.microsecondsBetweenReads)
        var sent: TransactionNumber?
        sendNewest(to: continuation, after: &sent)
        while ending.wait(timeout: .now() + .microseconds(microseconds)) == .timedOut {
            do {
                try advance()
            } catch {
                return continuation.finish(throwing: error)
            }
            sendNewest(to: continuation, after: &sent)
        }
    }

    /// Sends the newest graph to a stream, unless `sent` shows that the stream already has it. The result of `advance` is not sufficient,
    /// because another stream or caller may have advanced the follower.
    private func sendNewest(
        to continuation: AsyncThrowingStream<Graph, any Error>.Continuation, after sent: inout TransactionNumber?
    ) {
        let newest = graph
        if newest.transaction == sent { return }
        sent = newest.transaction
        continuation.yield(newest)
    }
}
