internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel

/// The graph at an earlier moment, which can advance to later moments.
struct EarlierView {
    private var replay: Replay
    let stored: StoredGraph
    /// The end of the log; `nil` if the log was not read that far.
    private(set) var end: LogReader.End?

    /// Begins with the nearest checkpoint that is not later than a moment, and replays the log up to the moment. If that part of the log is
    /// retired at the same time, a nearer checkpoint stands for it. Then the replay begins again, from that checkpoint.
    ///
    /// Throws `.notFound` if there is no such moment or it was retired, and `.damaged` if the log that leads to it is corrupt.
    /// Complexity: O(log between the checkpoint and the moment).
    init(_ reader: LogReader, at moment: EarlierMoment, memory: MemoryBudget) throws {
        try self.init(StoredGraph(reader, notAfter: moment, memory: memory))
        while true {
            do {
                try advance(reader, to: moment)
                return
            } catch let error as CambiumError where error.code == .notFound {
                let nearer = try StoredGraph(reader, notAfter: moment, memory: memory)
                guard nearer.transaction > stored.transaction else { throw error }
                try self.init(nearer)
            }
        }
    }

    /// Begins with the nearest checkpoint that is not later than a point, and replays the log up to the point.
    ///
    /// Throws as `init(_:at:memory:)`, and `.notFound` if the point is a label that does not exist.
    init(_ volume: any Volume, at point: Point, memory: MemoryBudget) throws {
        let moment = try EarlierMoment(point) { try Self.labels(volume) }
        try self.init(LogReader(volume), at: moment, memory: memory)
    }

    /// Returns the labels of the newest moment.
    static func labels(_ volume: any Volume) throws -> [String: TransactionNumber] {
        try EarlierView(volume, at: .latest, memory: .standard).graph.labels
    }

    private init(_ stored: StoredGraph) throws(CambiumError) {
        self.stored = stored
        replay = try Replay(stored)
    }

    var graph: Graph { replay.timeline.head }
    /// The time of the last transaction.
    var time: Timestamp { replay.lastTime }
    /// The number of transactions that were replayed.
    var transactionCount: Int { replay.transactionCount }
    /// The number of bytes of memory for pages that no file backs.
    var byteCount: Int { replay.timeline.reservedByteCount }

    /// Advances to a moment that is not earlier. Throws as `init` does; after an error, the view must not be used any more.
    mutating func advance(_ reader: LogReader, to moment: EarlierMoment) throws {
        end = try replay.run(reader, to: moment)
        try end?.requireTransaction(in: reader.volume)
        try moment.check(graph.transaction, isLogRead: end != nil)
    }
}
