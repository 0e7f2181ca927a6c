internal import CambiumBytes
import CambiumGraph
package import CambiumLog
import CambiumModel

/// The graph at an earlier moment, which can advance to later moments.
package struct EarlierView {
    private var replay: Replay
    /// The end of the log; `nil` if the log was not read to its end.
    private(set) var end: LogReader.End?

    /// Begins with the nearest checkpoint that is not later than a moment, and replays the log up to the moment. If a writer retires
    /// (removes) that part of the log in the meantime, a nearer checkpoint replaces the retired part. The replay then starts again from
    /// that checkpoint.
    ///
    /// Throws `.notFound` if there is no such moment or the moment was retired, and `.corrupted` if the log that leads to it is corrupt.
    /// Complexity: O(bytes of the log between the checkpoint and the moment).
    ///
    /// - Parameter check: is called before each transaction, and throws if the caller no longer wants the view.
    package init(_ reader: LogReader, at moment: EarlierMoment, memory: MemoryBudget, _ check: () throws -> Void = {}) throws {
        self = try Replay.reading(reader, notAfter: moment, memory: memory) { replay in
            var view = EarlierView(replay: replay)
            try view.advance(reader, to: moment, check)
            return view
        }
    }

    /// Begins with the nearest checkpoint that is not later than a point, and replays the log up to the point.
    ///
    /// Throws as `init(_:at:memory:_:)` does. Also throws `.notFound` if the point is a label that does not exist.
    package init(_ volume: any Volume, at point: Point, memory: MemoryBudget) throws {
        let moment = try EarlierMoment(point) { try Self.labels(volume, memory: memory) }
        try self.init(LogReader(volume), at: moment, memory: memory)
    }

    /// Creates a view of the empty graph before the first transaction of a log.
    package init(beforeFirst reader: LogReader, memory: MemoryBudget = .standard) throws {
        replay = try Replay(try LoadedCheckpoint(before: reader, memory: memory))
    }

    /// Returns the labels of the newest moment.
    package static func labels(_ volume: any Volume, memory: MemoryBudget) throws -> [String: TransactionNumber] {
        try EarlierView(volume, at: .latest, memory: memory).graph.labels
    }

    private init(replay: Replay) { self.replay = replay }

    package var graph: Graph { timeline.head }
    package var timeline: Timeline { replay.timeline }
    /// The checkpoint with which the view began.
    package var origin: Replay.Origin { replay.origin }
    /// The time of the last transaction.
    package var time: Timestamp { replay.lastTime }
    /// The number of transactions that were replayed.
    var transactionCount: Int { replay.transactionCount }
    /// The number of bytes of memory that the pages take, not counting mapped pages.
    var byteCount: Int { timeline.reservedByteCount }

    /// Advances to a moment that is not earlier than the view's present moment. Throws as `init` does. After an error, the view can no
    /// longer be used.
    package mutating func advance(_ reader: LogReader, to moment: EarlierMoment, _ check: () throws -> Void = {}) throws {
        end = try replay.run(reader, to: moment, check)
        try end?.requireTransaction(in: reader.volume)
        try moment.check(graph.transaction, isLogRead: end != nil)
    }

    /// Advances transaction by transaction, at most to `last`. Throws as `Replay.run` does. After an error, the view can no longer be used.
    ///
    /// - Parameter body: receives each version and its transaction, and returns whether to continue.
    package mutating func advance(
        _ reader: LogReader, stepwiseTo last: TransactionNumber, _ body: (Graph, LogRecord) throws -> Bool
    ) throws { try replay.run(reader, stepwiseTo: last, body) }

    /// Advances to `last`, and reports the objects that each transaction may have changed. Throws as `Replay.run` does, which describes the
    /// closures. After an error, the view can no longer be used.
    package mutating func advance(
        _ reader: LogReader, notingObjectsThrough last: TransactionNumber, endsBatch: ([ObjectID]) -> Bool = { _ in false },
        _ note: (TransactionNumber, TransactionTouches, _ changesSchema: Bool) throws -> Void,
        published: (Graph) throws -> Bool = { _ in true }
    ) throws { try replay.run(reader, notingObjectsThrough: last, endsBatch: endsBatch, note, published: published) }
}

extension LogReader {
    /// Throws `.notFound` if the log belongs to another store, which has taken the place of a store.
    ///
    /// - Parameter store: the id of the store whose place the other store may have taken.
    func check(isOf store: [UInt8]) throws(CambiumError) {
        if settings.store == store { return }
        throw CambiumError(
            .notFound,
            "Another store has taken the place of the store '\(volume.name)', so its earlier moments cannot be shown. "
                + "Open the store again, or restore it from a backup.")
    }
}
