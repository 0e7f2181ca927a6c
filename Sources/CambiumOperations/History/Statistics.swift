import CambiumGraph
package import CambiumJSON
internal import CambiumLog
package import CambiumModel

/// The size of a store and of its parts.
package struct Statistics: Sendable {
    package let objectCount: Int
    package let linkCount: Int
    package let transactionCount: Int
    /// The number of objects of each concrete entity, in declaration order.
    package let entities: [(name: String, count: Int)]
    /// The number of segments (files of the log).
    package private(set) var segmentCount = 0
    package private(set) var logByteCount = 0
    /// The number of bytes that the pages of the graph take in memory.
    package let pageByteCount: Int
    /// The last transaction of each checkpoint, oldest first.
    package private(set) var checkpoints: [TransactionNumber] = []
    /// The number of checkpoints that are in use by a reader in this process or in another process. The policy never drops such a
    /// checkpoint.
    package private(set) var readCheckpointCount = 0
    /// The number of bytes of pages on disk.
    package private(set) var storedByteCount = 0
    /// The old versions that readers of this process hold; `nil` if the statistics were read from the files of a store.
    package private(set) var pins: Pins?

    /// The versions of the graph that readers hold although there is a newer version.
    package struct Pins: Sendable, Hashable {
        package let versionCount: Int
        /// The number of bytes in pages that one of these old versions still uses, but the newest version does not.
        package let byteCount: Int
        package let leaseCount: Int
        /// The time at which the oldest lease began; `nil` if there is no lease, or if only waiting observers have leases.
        package let oldestLeaseTime: Timestamp?
    }

    /// Reads the statistics of a store from its files. Counts the objects in the graph at `point`, but counts the files as they are now.
    ///
    /// Throws `.notFound` if there is no store or no such moment, and `.corrupted` if the log of the store is corrupt. Complexity: O(bytes
    /// of the log after the checkpoint + objects).
    package init(of path: String, at point: Point = .latest) throws { try self.init(SystemVolume(root: path), at: point) }

    init(_ volume: any Volume, at point: Point = .latest) throws {
        let reader = try LogReader(volume)
        // Counts the readers of checkpoints first, because the view that is opened next reads a checkpoint, too.
        let files = try Files(volume)
        let moment = try EarlierMoment(point) { try EarlierView.labels(volume, memory: .standard) }
        let view = try EarlierView(reader, at: moment, memory: .standard)
        self.init(view.graph, pageByteCount: view.timeline.pageByteCount)
        add(files)
    }

    /// Collects the statistics of a store that this process has open: the newest graph, and the versions that readers of the store hold.
    ///
    /// Throws `.ioFailure` if a file cannot be read, and `.misuse` inside the closure of a write. Complexity: O(objects).
    package init(of store: Store) throws {
        try store.writer.checkOutsideOfWrites("Statistics(of:)")
        let memory = store.memory
        self.init(store.graph, pageByteCount: memory.pageByteCount)
        let leases = store.leases.summary
        pins = Pins(
            versionCount: memory.pinnedVersionCount, byteCount: memory.pinnedByteCount, leaseCount: leases.count,
            oldestLeaseTime: leases.oldestTime)
        if let volume = store.writer.volume { add(try Files(volume)) }
    }

    private init(_ graph: Graph, pageByteCount: Int) {
        objectCount = graph.objectCount
        linkCount = graph.linkCount
        transactionCount = Int(graph.transaction.rawValue)
        let children = Dictionary(grouping: graph.schema.entities, by: \.parent)
        entities = graph.schema.entities.filter { !$0.isAbstract }.map { entity in
            let below = children[entity.number] ?? []
            return (entity.name, below.reduce(graph.count(of: entity)) { $0 - graph.count(of: $1) })
        }
        self.pageByteCount = pageByteCount
    }

    private struct Files {
        let log: (segmentCount: Int, byteCount: Int)
        let checkpoints: [TransactionNumber]
        let readCheckpointCount: Int
        let storedByteCount: Int

        init(_ volume: any Volume) throws {
            log = try LogDirectory.files(volume)
            checkpoints = try CheckpointRecord.list(volume).reversed()
            readCheckpointCount = try checkpoints.count { try volume.isShared(CheckpointRecord.path($0)) }
            storedByteCount = try PageFile.byteCount(volume)
        }
    }

    private mutating func add(_ files: Files) {
        (segmentCount, logByteCount) = files.log
        (checkpoints, readCheckpointCount, storedByteCount) = (files.checkpoints, files.readCheckpointCount, files.storedByteCount)
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("objects", objectCount)
            writer.member("links", linkCount)
            writer.member("transactions", transactionCount)
            writer.object("entities") { writer in
                for (name, count) in entities { writer.member(name, count) }
            }
            writer.member("segments", segmentCount)
            writer.member("logBytes", logByteCount)
            writer.member("pageBytes", pageByteCount)
            writer.member("checkpoints", checkpoints.count)
            writer.member("checkpointsRead", readCheckpointCount)
            writer.member("storedBytes", storedByteCount)
            guard let pins else { return }
            writer.member("pinnedVersions", pins.versionCount)
            writer.member("pinnedBytes", pins.byteCount)
            writer.member("leases", pins.leaseCount)
        }
    }
}
