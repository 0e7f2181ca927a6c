import CambiumGraph
public import CambiumJSON
internal import CambiumLog
public import CambiumModel

/// How much there is in a store.
public struct Statistics: Sendable {
    public let objectCount: Int
    public let linkCount: Int
    public let transactionCount: Int
    /// Objects of each concrete entity, in declaration order.
    public let entities: [(name: String, count: Int)]
    public let segmentCount: Int
    public let logByteCount: Int
    /// Bytes of pages that the graph takes in memory.
    public let pageByteCount: Int
    /// The last transaction of each checkpoint, oldest first.
    public let checkpoints: [TransactionNumber]
    /// Bytes of pages on disk.
    public let storedByteCount: Int

    /// Throws `.notFound` where there is no store, `.damaged` where its log is corrupt. Complexity: O(log behind the checkpoint + objects).
    public init(of path: String) throws { try self.init(SystemVolume(root: path)) }

    init(_ volume: any Volume) throws {
        let reader = try LogReader(volume)
        let stored = try StoredGraph(reader)
        var replay = Replay(stored)
        _ = try replay.run(reader, makesDurable: true)
        let graph = stored.timeline.head
        objectCount = graph.objectCount
        linkCount = graph.linkCount
        transactionCount = Int(graph.transaction.rawValue)
        entities = graph.schema.entities.filter { !$0.isAbstract }.map { entity in
            let below = graph.schema.entities.filter { $0.parent == entity.number }
            return (entity.name, below.reduce(graph.count(of: entity)) { $0 - graph.count(of: $1) })
        }
        let files = try LogReader.files(volume)
        segmentCount = files.segmentCount
        logByteCount = files.byteCount
        pageByteCount = stored.timeline.pageByteCount
        checkpoints = try RootRecord.list(volume).reversed()
        storedByteCount = try PageFile.byteCount(volume)
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        for (key, value) in [("objects", objectCount), ("links", linkCount), ("transactions", transactionCount)] {
            writer.key(key)
            writer.number(value)
        }
        writer.key("entities")
        writer.beginObject()
        for (name, count) in entities {
            writer.key(name)
            writer.number(count)
        }
        writer.endObject()
        let counts = [
            ("segments", segmentCount), ("logBytes", logByteCount), ("pageBytes", pageByteCount), ("checkpoints", checkpoints.count),
            ("storedBytes", storedByteCount),
        ]
        for (key, value) in counts {
            writer.key(key)
            writer.number(value)
        }
        writer.endObject()
    }
}
