import CambiumGraph
public import CambiumJSON
internal import CambiumLog

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

    /// Throws `.notFound` where there is no store, `.damaged` where its log is corrupt. Complexity: O(log + objects).
    public init(of path: String) throws { try self.init(SystemVolume(root: path)) }

    init(_ volume: any Volume) throws {
        let timeline = Timeline()
        var replay = Replay(timeline: timeline)
        let end = try replay.run(try LogReader(volume), makesDurable: true)
        let graph = timeline.head
        objectCount = graph.objectCount
        linkCount = graph.linkCount
        transactionCount = replay.transactionCount
        entities = graph.schema.entities.filter { !$0.isAbstract }.map { entity in
            let below = graph.schema.entities.filter { $0.parent == entity.number }
            return (entity.name, below.reduce(graph.count(of: entity)) { $0 - graph.count(of: $1) })
        }
        segmentCount = end.segmentCount
        logByteCount = end.byteCount
        pageByteCount = timeline.pageByteCount
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
        for (key, value) in [("segments", segmentCount), ("logBytes", logByteCount), ("pageBytes", pageByteCount)] {
            writer.key(key)
            writer.number(value)
        }
        writer.endObject()
    }
}
