internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel

/// A graph of the past that can go on to later moments.
struct PastView {
    private var replay: Replay
    let stored: StoredGraph
    /// How the log ends, where it was read so far.
    private(set) var end: LogReader.End?

    /// The nearest checkpoint that is not later than a moment, with what follows up to the moment. Where that is retired meanwhile, there
    /// is a nearer one, with which it is begun again.
    ///
    /// Throws `.notFound` where there is no such moment or it was retired, `.damaged` where what leads to it is corrupt.
    /// Complexity: O(log between the checkpoint and the moment).
    init(_ reader: LogReader, at moment: PastMoment, memory: MemoryBudget) throws {
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

    private init(_ stored: StoredGraph) throws(CambiumError) {
        self.stored = stored
        replay = try Replay(stored)
    }

    var graph: Graph { replay.timeline.head }
    /// Of the last transaction.
    var time: Timestamp { replay.lastTime }
    /// Those that were replayed.
    var transactionCount: Int { replay.transactionCount }
    /// Memory for pages beside those that are mapped.
    var byteCount: Int { replay.timeline.reservedByteCount }

    /// Goes on to a moment that is no earlier. Throws as `init`; then the view must not be used any more.
    mutating func advance(_ reader: LogReader, to moment: PastMoment) throws {
        end = try replay.run(reader, to: moment)
        try end?.requireTransaction(in: reader.volume)
        try moment.check(graph.transaction, isLogRead: end != nil)
    }
}
